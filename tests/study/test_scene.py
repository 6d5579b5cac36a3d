import torch

from ssplain.study import bundled_scene
from tests.study.tiny import vessels


def test_the_first_images_of_each_class_are_the_examples() -> None:
    scene = bundled_scene("mnist", 80)
    rows = scene.examples(10)
    assert scene.labels[rows].tolist() == list(range(10))
    assert all(int(scene.labels[row]) not in scene.labels[:row].tolist() for row in rows)
    assert scene.examples(3) == rows[:3]


def test_no_more_images_than_there_are() -> None:
    assert len(bundled_scene("fmnist", 9999).images) == 500


def test_predictions_are_the_models() -> None:
    scene = bundled_scene("mnist", 5)
    with torch.no_grad():
        assert torch.equal(scene.predicted(), scene.model(scene.images).argmax(1))
    assert scene.piece == 50


def test_vessels_are_traced_once() -> None:
    scene = vessels(1)
    assert scene.tree(0) is scene.tree(0)
    assert len(scene.tree(0).branches) > 1
