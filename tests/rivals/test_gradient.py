import captum.attr
import pytest
import torch
from torch import Tensor

from ssplain import SSplainError
from ssplain.question.protocol import over_channels
from ssplain.rivals.gradient import (
    CompleteIntegratedGradients,
    InputXGradient,
    IntegratedGradients,
    Saliency,
)
from tests.explain.small import pictures, small


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (Saliency, captum.attr.Saliency),
        (InputXGradient, captum.attr.InputXGradient),
        (IntegratedGradients, captum.attr.IntegratedGradients),
    ],
)
@pytest.mark.parametrize("rule", ["max", "mean"])
def test_equals_captum_one_image_at_a_time(ours: type, theirs: type, rule: str) -> None:
    model, images, classes = small(channels=3), pictures(3, 3), [0, 2, 1]
    maps = ours(model).attribute(images, classes, over=rule)
    for image, target, found in zip(images, classes, maps, strict=True):
        leaf = image[None].clone().requires_grad_()
        expected = theirs(model).attribute(leaf, target=target).detach()
        joined = over_channels(expected, rule)  # type: ignore[arg-type]
        torch.testing.assert_close(found[None], joined.float(), atol=1e-6, rtol=1e-5)


def test_a_grey_image_is_explained_channel_by_channel_of_a_colour_model() -> None:
    model, images = small(channels=3), pictures()
    shown = Saliency(model).attribute(images, 1, over="max")
    assert torch.equal(shown, Saliency(model).attribute(images.repeat(1, 3, 1, 1), 1, over="max"))
    assert bool((shown >= Saliency(model).attribute(images, 1, over="mean")).all())


def test_integrated_gradients_add_up() -> None:
    model, images = small(), pictures()
    maps = IntegratedGradients(model, steps=200).attribute(images, 1, over="mean")
    difference = (model(images) - model(torch.zeros_like(images)))[:, 1].detach()
    torch.testing.assert_close(maps.sum((1, 2, 3)), difference, atol=2e-3, rtol=2e-3)


def test_integrated_gradients_warn_when_they_do_not_add_up() -> None:
    def cliff(x: Tensor) -> Tensor:
        return torch.sigmoid(500 * (x.flatten(1) - 0.73)) * 3 + x.flatten(1)

    with pytest.warns(RuntimeWarning, match="Integrated Gradients do not add up for 1 of 2 images"):
        IntegratedGradients(cliff, steps=3).attribute(torch.tensor([[[[0.9]]], [[[0.1]]]]), 0)


def test_one_logit_speaks_for_two_classes() -> None:
    def one(x: Tensor) -> Tensor:
        return (5 * x).sum((1, 2, 3))

    image = torch.ones(1, 1, 1, 2)
    assert InputXGradient(one).attribute(image, 1).flatten().tolist() == [5, 5]
    assert InputXGradient(one).attribute(image, 0).flatten().tolist() == [-5, -5]


def test_mistakes_are_named() -> None:
    with pytest.raises(SSplainError, match="steps=0 does not work"):
        IntegratedGradients(small(), steps=0)
    with pytest.raises(SSplainError, match="batch_size=0 does not work"):
        Saliency(small(), batch_size=0)
    with pytest.raises(SSplainError, match=r"over='sum'.*'max' or 'mean'"):
        Saliency(small()).attribute(pictures(), over="sum")  # type: ignore[arg-type]


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    Saliency(small(), batch_size=2).attribute(pictures(), progress=lambda *at: told.append(at))
    assert told == [(2, 3), (3, 3)]


class TestComplete:
    def test_steps_grow_until_the_scores_add_up(self) -> None:
        """A steep step half way: few points miss it, and only the image that has it needs more."""

        def steep(x: Tensor) -> Tensor:
            return torch.tanh(400 * (x.flatten(1) - 0.613))

        images = torch.tensor([[[[1.0]]], [[[0.5]]]])
        few = IntegratedGradients(steep, steps=10, output_kind="logits", batch_size=1)
        with pytest.warns(RuntimeWarning, match="do not add up"):
            off = few.attribute(images, 0).flatten()
        explainer = CompleteIntegratedGradients(steep, first=10, output_kind="logits")
        found = explainer.attribute(images, 1).flatten()
        assert float(found[0]) == pytest.approx(2.0, rel=0.02)
        assert abs(float(found[1])) < 1e-6
        assert abs(abs(float(off[0])) - 2.0) > 0.1

    def test_enough_steps_are_left_alone(self) -> None:
        model, images = small(), pictures()
        plain = IntegratedGradients(model, steps=50).attribute(images, 1)
        torch.testing.assert_close(
            CompleteIntegratedGradients(model, tolerance=0.5).attribute(images, 1), plain
        )
