"""A small folder of studies, written by the real writers, for tests of the page."""

from functools import cache
from io import BytesIO
from pathlib import Path

import numpy as np

import ssplain
from ssplain.explain import make
from ssplain.metrics import Evaluation, evaluate
from ssplain.report.evaluation import evaluation_csv, evaluation_figure
from ssplain.report.record import Exhibit, Judgement, Record, write_ledger, write_record

NAMES = ("input-x-gradient", "saliency", "random")
HOSTILE = "</script></title>\"'><script>alert(1)</script><img src=x onerror=alert(2)>&amp;"


def judgement(number: int = 1, **changes: object) -> Judgement:
    """Return an entry of the ledger."""
    values: dict[str, object] = {
        "number": number,
        "claim": f"Claim {number}",
        "where": "section 4",
        "rule": "A > B",
        "measured": "0.9 against 0.8",
        "verdict": "holds",
        "why": "",
        "study": "mnist",
        "images": 4,
    }
    return Judgement(**(values | changes))  # type: ignore[arg-type]


def record(**changes: object) -> Record:
    """Return the record of the study in `write_studies`."""
    values: dict[str, object] = {
        "name": "mnist",
        "title": "Explainers on digits",
        "where": "Figure 5",
        "dataset": "mnist",
        "images": 4,
        "settings": {"axis": "all", "saliency": {"absolute": True}},
        "manifest": {"seed": 0},
        "seconds": 75.0,
        "figures": (Exhibit("curves.png", "Mean curves"),),
        "tables": (Exhibit("measures.csv", "All measures"),),
        "examples": "examples.npz",
    }
    return Record(**(values | changes))  # type: ignore[arg-type]


def write_studies(home: Path, **changes: object) -> Path:
    """Write one study with a figure, a table and example maps, and a ledger of three claims."""
    folder = home / "mnist"
    folder.mkdir(parents=True)
    table, figure, examples = _content()
    (folder / "measures.csv").write_text(table)
    (folder / "curves.png").write_bytes(figure)
    (folder / "examples.npz").write_bytes(examples)
    write_record(folder, record(**changes))
    verdicts = ("holds", "does not hold", "undecided", "holds")
    write_ledger(home, [judgement(i, verdict=v) for i, v in enumerate(verdicts, start=1)])
    return home


@cache
def _content() -> tuple[str, bytes, bytes]:
    model = ssplain.models.load("lenet5-mnist")
    images, labels = (part[:4] for part in ssplain.data.bundled("mnist"))
    maps = {name: make(name, model).attribute(images, labels) for name in NAMES}
    found: dict[str, Evaluation] = {
        name: evaluate(model, images, labels, one, points=3) for name, one in maps.items()
    }
    figure, examples = BytesIO(), BytesIO()
    evaluation_figure(found).savefig(figure, format="png", dpi=40)
    np.savez_compressed(
        examples,
        images=(images[:2, 0] * 255).round().byte().numpy(),
        titles=np.array(["seven", "two"]),
        names=np.array(NAMES),
        scores=np.stack([one[:2, 0].float().numpy() for one in maps.values()], axis=1),
    )
    return evaluation_csv(found), figure.getvalue(), examples.getvalue()
