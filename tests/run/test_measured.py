from pathlib import Path

import torch

from ssplain.data import bundled
from ssplain.metrics import evaluate
from ssplain.models import load
from ssplain.run import Store, evaluate_once
from ssplain.vessels import trace

MODEL = load("lenet5-mnist")
IMAGES, LABELS = (part[:6] for part in bundled("mnist"))


def test_what_is_found_again_is_what_was_measured(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for _ in range(2):
        found = evaluate_once(store, MODEL, IMAGES, LABELS, IMAGES, name="X", points=5)
    measured = evaluate(MODEL, IMAGES, LABELS, IMAGES, points=5)
    assert len(list(tmp_path.iterdir())) == 1
    assert list(found.values) == list(measured.values)
    for name, values in measured.values.items():
        torch.testing.assert_close(found.values[name], values, rtol=0, atol=0)
    assert str(found.summary("insertion")) == str(measured.summary("insertion"))


def test_whatever_differs_is_measured_anew(tmp_path: Path) -> None:
    store = Store(tmp_path)
    trees = [trace(image) for image in IMAGES]
    other_model = load("lenet5-fmnist")

    def measure(  # each argument has a default, so that one at a time can differ
        model: torch.nn.Module = MODEL,
        images: torch.Tensor = IMAGES,
        labels: torch.Tensor | None = LABELS,
        maps: torch.Tensor = IMAGES,
        **more: object,
    ) -> int:
        options = {"points": 3, **more}
        evaluate_once(store, model, images, labels, maps, name="X", **options)  # type: ignore[arg-type]
        return len(list(tmp_path.iterdir()))

    told = measure()
    assert measure() == told
    for changed in (
        {"model": other_model},
        {"images": IMAGES / 2},
        {"labels": None},
        {"labels": LABELS.flip(0)},
        {"maps": -IMAGES},
        {"axis": "all"},
        {"points": 4},
        {"baseline": "mean"},
        {"seed": 1},
        {"truth": IMAGES > 0.5},
        {"trees": trees},
    ):
        assert measure(**changed) == told + 1, changed
        told += 1
