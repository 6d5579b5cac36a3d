"""Tests of the network as it is while it learns."""

import math

import pytest
import torch

from ssplain.models.googlenet import GoogLeNet
from ssplain.train.lesson import Known, Lesson
from ssplain.train.pupil import Pupil, line_filters


def line(angle: float, size: int = 7) -> torch.Tensor:
    """A thin line through the middle, drawn without the filters' own code."""
    image = torch.zeros(size, size)
    for step in torch.linspace(-3, 3, 61).tolist():
        row = round(3 + step * math.sin(angle))
        column = round(3 + step * math.cos(angle))
        image[row, column] = 1
    return image


@pytest.mark.parametrize("number", [0, 4, 8, 12])
def test_a_filter_answers_most_to_a_line_in_its_direction(number: int) -> None:
    middle = line_filters(64)[:16]
    answers = (middle * line(math.pi * number / 16)).sum((1, 2))
    assert answers.argmax() == number


def test_filters_ignore_a_plain_ground_and_weigh_the_same() -> None:
    filters = line_filters(64)
    assert torch.allclose((filters * 3).sum((1, 2)), torch.zeros(64), atol=1e-5)
    # three equal channels: the weight of He et al., whose square sums to 2 over the fan-in
    assert torch.allclose(3 * filters.square().sum((1, 2)), torch.full((64,), 2.0))


def test_a_graduate_answers_as_the_pupil_does_and_has_no_heads() -> None:
    torch.manual_seed(0)
    pupil = Pupil(3)
    torch.nn.init.normal_(pupil.fc.weight)
    pupil.eval()
    images = torch.rand(2, 1, 64, 64)
    graduate = pupil.graduate()
    assert type(graduate) is GoogLeNet
    assert not any(name.startswith("aux") for name in graduate.state_dict())
    assert torch.equal(graduate(images), pupil(images))


def test_the_depths_end_in_the_evidence() -> None:
    pupil = Pupil(3).eval()
    torch.nn.init.normal_(pupil.fc.weight)
    images = torch.rand(1, 1, 64, 64)
    assert torch.equal(pupil.depths(images)[0], pupil.evidence(images))


def test_heads_teach_the_layers_below_them_only() -> None:
    torch.manual_seed(0)
    pupil = Pupil(3)
    torch.nn.init.normal_(pupil.aux1.weight)
    final, low, _ = pupil.depths(torch.rand(2, 1, 64, 64))
    torch.autograd.backward(low.sum())
    assert pupil.conv1.conv.weight.grad is not None
    assert pupil.inception3b.branch1.conv.weight.grad is not None
    assert pupil.inception4a.branch1.conv.weight.grad is None
    assert final.shape == low.shape


def test_a_lesson_uses_the_heads() -> None:
    torch.manual_seed(0)
    pupil = Pupil(3)
    images = torch.zeros(2, 1, 64, 64)
    images[:, :, 20:24] = 1
    known = Known(torch.tensor([0.0, 1.3]), (100 * images).to(torch.uint8))
    loss = Lesson(torch.tensor([0, 2]), known)(pupil, images, torch.arange(2), torch.Generator())
    torch.autograd.backward(loss)
    for head in (pupil.aux1, pupil.aux2):
        assert head.weight.grad is not None
        assert head.weight.grad.abs().sum() > 0
