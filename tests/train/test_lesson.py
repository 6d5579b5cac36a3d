"""Tests of what the network is taught."""

import pytest
import torch

from ssplain.data.simulated import SimulatedROP
from ssplain.errors import SSplainError
from ssplain.models.googlenet import GoogLeNet
from ssplain.simulate.disease import AMOUNTS
from ssplain.train.lesson import Known, Lesson, _places, soft_grades


def test_soft_grades_are_chances_that_follow_the_labels() -> None:
    amounts = torch.linspace(0, 2, 81)
    chances = soft_grades(amounts)
    assert torch.allclose(chances.sum(-1), torch.ones(81))
    mean = chances @ torch.tensor([0.0, 1.0, 2.0])
    assert (mean.diff() >= 0).all()
    for label, (low, high) in enumerate(AMOUNTS):
        inside = (amounts >= low) & (amounts <= high)
        assert (chances[inside].argmax(-1) == label).all()
    # at the edge of a grade the next one has a share
    assert soft_grades(torch.tensor(AMOUNTS[0][1]))[1] > 0.05


def test_places_are_graded_by_the_disease_there() -> None:
    images = torch.zeros(1, 1, 64, 64)
    images[..., 10:14, :] = images[..., 42:46, :] = 1
    planted = torch.zeros(1, 1, 64, 64)
    planted[..., 10:14, :32] = 1.2
    right = torch.full((1, 3, 2, 2), -9.0)
    right[0, 0] = 9
    right[0, :, 0, 0] = torch.tensor([-9.0, -9.0, 9.0])
    wrong = right.flip(3)
    # a healthy place keeps a chance of 1 % to be called ill, which logits of 18 apart pay for
    assert _places(right, images, planted) < 0.2
    assert _places(wrong, images, planted) > 5
    dark = images.clone()
    dark[..., :32, :] = 0  # a place without a vessel has no grade
    assert _places(wrong, dark, planted) < 0.2


def test_lessons_on_whole_images_and_on_parts_have_gradients() -> None:
    made = SimulatedROP("train", 3).examples()
    known = Known(made.amounts, made.relevance)
    batch, rows = made.images[:2, :, 56:168, 56:168].float() / 255, torch.arange(2)
    small = Known(known.amounts, known.relevance[:, :, 56:168, 56:168])
    for lesson in (
        Lesson(made.labels),
        Lesson(made.labels, small),
        Lesson(made.labels, small, size=64),
    ):
        model = GoogLeNet(3)
        loss = lesson(model, batch, rows, torch.Generator().manual_seed(0))
        torch.autograd.backward(loss)
        assert loss.isfinite()
        assert model.conv1.conv.weight.grad is not None
        assert model.conv1.conv.weight.grad.abs().sum() > 0


def test_parts_need_planted_disease() -> None:
    with pytest.raises(SSplainError, match="only where disease was planted"):
        Lesson(torch.zeros(1), size=64)
