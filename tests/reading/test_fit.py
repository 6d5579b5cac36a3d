"""What `python -m ssplain.reading.fit` writes."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from ssplain.data.simulated import Examples
from ssplain.models.calibrated import Kind
from ssplain.models.card import folder_of
from ssplain.reading import fit
from ssplain.reading.opinion import _FORMULA


@pytest.mark.parametrize(
    ("kind", "field", "other"),
    [("segmented", "segmented", "photographs"), ("photograph", "photographs", "segmented")],
)
def test_fitting_one_kind_of_eyes_leaves_the_other_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: Kind, field: str, other: str
) -> None:
    model, formula = tmp_path / "model", tmp_path / "formula.json"
    shutil.copytree(folder_of("googlenet-rop"), model)
    shutil.copy(_FORMULA, formula)
    before, known = (json.loads(p.read_text()) for p in (model / "card.json", formula))
    asked = []

    def few(of: Kind, count: int, seed: int) -> tuple[dict[str, Examples], dict[str, Examples]]:
        asked.append((of, count, seed))
        return {"some": fit.simulated(1, 6), "more": fit.simulated(2, 3)}, {
            "others": fit.simulated(3, 3)
        }

    monkeypatch.setattr(fit, "material", few)
    words = f"fit --kind {kind} --count 6 --model {model} --out {formula}".split()
    monkeypatch.setattr(sys, "argv", words)
    fit.main()
    assert asked == [(kind, 6, 1601)]
    after, written = (json.loads(p.read_text()) for p in (model / "card.json", formula))
    assert after.pop(field) != before.pop(field)
    assert after == before
    assert after[other] is not None
    record = written.pop(kind)
    del known[kind]
    assert written == known
    assert record["fitted_on"] == {"some": 6, "more": 3}
    assert set(record["tested_on"]) == {"others"}
    assert record["tested_on"]["others"]["eyes"] == 3
