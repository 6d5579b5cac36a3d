"""Whether a picture is a photograph or shows vessels."""

import numpy as np
import pytest
import torch
from tests.fundus.eyes import blank_eye
from torch.nn import functional

from ssplain.data import bundled
from ssplain.data.kind import is_photograph


def photo() -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(blank_eye().transpose(2, 0, 1)))


@pytest.mark.parametrize("border", [0, 200, 480])
def test_a_black_border_does_not_make_vessels_of_an_eye(border: int) -> None:
    assert is_photograph(functional.pad(photo(), (border,) * 4))


@pytest.mark.parametrize("light", [1.0, 0.3, 0.08, 0.03])
def test_a_dark_photograph_is_one(light: float) -> None:
    assert is_photograph((255 * light * photo()).round() / 255)


def test_arteries_and_veins_in_colour_are_vessels() -> None:
    for vessels in bundled("rop")[0][:12, 0]:
        half = torch.arange(vessels.shape[1]) < vessels.shape[1] // 2
        image = torch.stack([vessels * half, torch.zeros_like(vessels), vessels * ~half])
        assert not is_photograph(image)
        assert not is_photograph(image / 255)
        disc = image.clone()
        disc[1, 100:125, 100:125] = 1  # a disc drawn in
        assert not is_photograph(disc)
