"""Tests of the ordinal severity."""

import pytest
import torch
from torch import nn

from ssplain.errors import SSplainError
from ssplain.models import severity, severity_of


def test_severity_is_the_mean_grade_on_a_scale_from_1_to_9() -> None:
    chances = torch.tensor([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [0.2, 0.5, 0.3]])
    torch.testing.assert_close(severity_of(chances), torch.tensor([1.0, 5.0, 9.0, 5.4]))


def test_severity_of_images_does_not_depend_on_the_batches() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Flatten(), nn.Linear(16, 3))
    images = torch.rand(7, 1, 4, 4)
    wanted = severity_of(model(images).softmax(1)).detach()
    for size in (1, 3, 32):
        torch.testing.assert_close(severity(model, images, size), wanted)


def test_other_models_are_refused() -> None:
    with pytest.raises(SSplainError, match=r"Normal, Pre-plus and Plus.*\(2, 10\)"):
        severity(nn.Sequential(nn.Flatten(), nn.Linear(16, 10)), torch.rand(2, 1, 4, 4))
