from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from ssplain.metrics import evaluate
from ssplain.models import load
from ssplain.run import evaluations
from ssplain.run.evaluations import evaluate_once
from ssplain.run.scene import Scene, bundled_scene
from ssplain.run.store import Store
from tests.study.tiny import digits, vessels

SCENE = bundled_scene("mnist", 6)


def noise(images: torch.Tensor) -> torch.Tensor:
    return torch.rand(images[:, :1].shape, generator=torch.Generator().manual_seed(3))


@pytest.mark.parametrize("scene", [digits(), vessels()], ids=["digits", "vessels"])
def test_pieces_give_the_numbers_of_the_whole_set(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Scene, "piece", 2)
    maps, store = noise(scene.images), Store(tmp_path)
    found = evaluate_once(store, scene, maps, name="n", points=7)
    again = evaluate_once(store, scene, maps, name="n", points=7)
    whole = evaluate(
        scene.model,
        scene.images,
        scene.labels,
        maps,
        points=7,
        truth=scene.truth,
        trees=scene.trees(range(len(maps))),
    )
    assert len(list(tmp_path.iterdir())) == -(-len(maps) // 2)
    for one in (found, again):
        assert list(one.values) == list(whole.values)
        for name, values in whole.values.items():
            torch.testing.assert_close(one.values[name], values, equal_nan=True)
        for name, curve in whole.curves.items():
            torch.testing.assert_close(one.curves[name], curve)
            torch.testing.assert_close(one.mean_curve(name), whole.mean_curve(name))
        assert str(one.summary("insertion")) == str(whole.summary("insertion"))
        assert one.seconds > 0


def test_finished_pieces_are_not_measured_again(tmp_path: Path) -> None:
    scene, store = vessels(3), Store(tmp_path)
    maps = noise(scene.images)
    told: list[float] = []
    evaluate_once(store, scene, maps, name="n", points=3, progress=lambda at, *_: told.append(at))
    files = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert (len(files), told) == (1, [3])
    evaluate_once(store, scene, maps, name="n", points=3)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == files


def test_whatever_differs_is_measured_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path)

    def measure(scene: Scene = SCENE, maps: torch.Tensor = SCENE.images, **more: Any) -> int:  # noqa: ANN401
        evaluate_once(store, scene, maps, name="X", **{"points": 3, **more})
        return len(list(tmp_path.iterdir()))

    told = measure()
    assert measure() == told
    for changed in (
        {"scene": replace(SCENE, network=load("lenet5-fmnist"))},
        {"scene": replace(SCENE, images=SCENE.images / 2)},
        {"scene": replace(SCENE, labels=SCENE.labels.flip(0))},
        {"scene": replace(SCENE, options={"output_kind": "logits"})},
        {"scene": replace(SCENE, truth=SCENE.images > 0.5)},
        {"scene": replace(SCENE, vessels=True)},
        {"maps": -SCENE.images},
        {"axis": "all"},
        {"points": 4},
        {"baseline": "mean"},
        {"seed": 1},
        {"measures": ["gini"]},
        {"reference": SCENE.images},
    ):
        assert measure(**changed) == told + 1, changed
        told += 1
    monkeypatch.setattr(evaluations, "revision", lambda _: "another day")
    assert measure() == told + 1
