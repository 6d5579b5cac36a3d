import torch
from torch import nn

from ssplain.run.scene import bundled_scene
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
    first, again = scene.trees(range(1)), scene.trees(range(1))
    assert first is not None
    assert again is not None
    assert first[0] is again[0]
    assert len(first[0].branches) > 1
    assert bundled_scene("mnist", 1).trees(range(1)) is None


def test_what_is_explained_is_the_folded_network() -> None:
    """The same answers to 1e-4, without a batch normalisation; the network itself keeps its own."""
    scene = bundled_scene("rop", 1)

    def normalisations(model: object) -> int:
        assert isinstance(model, nn.Module)
        return sum(isinstance(module, nn.BatchNorm2d) for module in model.modules())

    assert (normalisations(scene.network), normalisations(scene.model)) == (57, 0)
    with torch.no_grad():
        given, folded = scene.network(scene.images), scene.model(scene.images)
    torch.testing.assert_close(folded, given, rtol=0, atol=1e-4)
    assert scene.model is scene.model
