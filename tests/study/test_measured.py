from pathlib import Path

import pytest
import torch

from ssplain.metrics import evaluate
from ssplain.metrics.evaluation import BALANCED
from ssplain.run import Store
from ssplain.study import Scene
from ssplain.study.measured import look_at, measure_in_pieces, settled, with_settled
from tests.study.tiny import digits, vessels


def noise(images: torch.Tensor) -> torch.Tensor:
    return torch.rand(images[:, :1].shape, generator=torch.Generator().manual_seed(3))


@pytest.mark.parametrize("scene", [digits(), vessels()], ids=["digits", "vessels"])
def test_image_by_image_gives_the_numbers_of_the_whole_set(scene: Scene, tmp_path: Path) -> None:
    maps = noise(scene.images)
    parts = measure_in_pieces(Store(tmp_path), scene, maps, name="n", axis="support", points=7)
    found = parts.evaluation(scene.labels)
    trees = None if scene.truth is None else [scene.tree(i) for i in range(len(maps))]
    whole = evaluate(
        scene.model,
        scene.images,
        scene.labels,
        maps,
        axis="support",
        points=7,
        truth=scene.truth,
        trees=trees,
    )
    assert list(found.values) == list(whole.values)
    for name, values in whole.values.items():
        torch.testing.assert_close(found.values[name], values, equal_nan=True)
    for name, curve in whole.curves.items():
        torch.testing.assert_close(found.curves[name], curve)
    assert {"insertion", "deletion"} == BALANCED


def test_finished_pieces_are_not_measured_again(tmp_path: Path) -> None:
    scene, store = vessels(3), Store(tmp_path)
    maps = noise(scene.images)
    told: list[int] = []
    assert scene.piece == 50
    measure_in_pieces(store, scene, maps, name="n", axis="all", points=3, progress=told.append)
    files = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert (len(files), told) == (1, [3])
    measure_in_pieces(store, scene, maps, name="n", axis="all", points=3)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == files
    maps[0, 0, 0, 0] += 1
    measure_in_pieces(store, scene, maps, name="n", axis="all", points=3)
    assert len(list(tmp_path.iterdir())) == 2


def test_settled_is_the_last_change_of_the_verdict() -> None:
    right = torch.tensor([[0, 1, 1, 1], [1, 0, 0, 0], [0, 1, 0, 1], [0, 0, 0, 0]]).double()
    grid = torch.linspace(0, 1, 4)
    assert settled(right, grid).tolist() == pytest.approx([1 / 3, 1 / 3, 1, 0])


def test_settled_is_added_to_the_values(tmp_path: Path) -> None:
    scene = digits(3)
    store = Store(tmp_path)
    found = measure_in_pieces(store, scene, scene.images, name="n", axis="all", points=5)
    added = with_settled(found).values
    torch.testing.assert_close(added["settled"], settled(found.courses["insertion"], found.grid))
    assert set(added) == {*found.values, "settled"}


def test_the_background_among_the_first_pixels_is_counted() -> None:
    image = torch.zeros(1, 1, 10, 10)
    image[..., :4] = 1.0  # the support has 40 pixels, of which 5 are looked at
    score = torch.zeros(1, 1, 10, 10)
    score[0, 0, 0, [0, 1, 2, 8, 9]] = torch.tensor([5.0, 4.0, 3.0, 2.0, 1.0])
    found = look_at(image, score, image + score)
    assert found["background"].item() == pytest.approx(2 / 5)
    assert found["sparsity"].item() > 0.9
    below = look_at(image, torch.where(image > 0, score, -9.0), score)
    assert below["agreement"].item() == pytest.approx(1)
    assert below["sparsity"].item() > 0.9  # what lies below zero says nothing for the class


def test_a_small_support_bounds_the_pixels_that_are_looked_at() -> None:
    image = torch.zeros(1, 1, 10, 10)
    image[0, 0, 0, :2] = 1.0
    assert look_at(image, image, image)["background"].item() == 0
