import math

import numpy as np
import pytest
import torch
from scipy import ndimage

from ssplain import SSplainError
from ssplain.rivals.smooth_masks import SmoothMasks, gaussian_blur, perturb, pyramid
from tests.explain.small import pictures


@pytest.mark.parametrize("sigma", [0.6, 2.0, 20.0])
def test_blur_is_scipys_with_black_borders(sigma: float) -> None:
    images = pictures(2, 3, (33, 20)).double()
    radius = math.ceil(4 * sigma)
    expected = ndimage.gaussian_filter(
        images.numpy(), sigma, mode="constant", radius=radius, axes=(2, 3)
    )
    np.testing.assert_allclose(gaussian_blur(images, sigma), expected, atol=1e-12)


def test_the_pyramid_runs_from_perturbed_to_untouched() -> None:
    images = pictures()
    for kind in ("blur", "fade"):
        levels = pyramid(images, kind)
        assert levels.shape == (8, *images.shape)
        assert torch.equal(levels[7], images)
    torch.testing.assert_close(pyramid(images, "blur")[3], gaussian_blur(images, 20 * 4 / 7))
    torch.testing.assert_close(pyramid(images, "fade")[3], images * 3 / 7)
    with pytest.raises(SSplainError, match="perturbation='noise'"):
        pyramid(images, "noise")  # type: ignore[arg-type]


def test_masks_choose_between_levels() -> None:
    levels = torch.tensor([0.0, 1, 4, 9, 16, 25, 36, 49]).view(8, 1, 1, 1, 1)
    for strength in (0.0, 0.1, 3 / 7, 0.5, 0.99, 1.0):
        mask = torch.full((1, 1, 1, 1), strength)
        expected = np.interp(7 * strength, range(8), levels.flatten())
        assert float(perturb(levels, mask)) == pytest.approx(expected, abs=1e-4)


def test_the_gradient_of_a_mask_is_the_slope_of_its_level() -> None:
    levels = torch.tensor([0.0, 1, 4, 9, 16, 25, 36, 49]).view(8, 1, 1, 1, 1)
    mask = torch.full((1, 1, 1, 1), 0.5, requires_grad=True)
    (slope,) = torch.autograd.grad(perturb(levels, mask).sum(), mask)
    assert float(slope) == 7 * (16 - 9)


@pytest.mark.parametrize(("step", "sigma"), [(1, 1.0), (3, 4.0), (4, 2.5)])
def test_smooth_masks_are_the_textbooks(step: int, sigma: float) -> None:
    make = SmoothMasks((9, 11), step, sigma)
    generator = torch.Generator().manual_seed(3)
    parameters = torch.rand(2, 1, *make.grid, generator=generator, dtype=torch.float64)
    masks = make(parameters)
    reach = 1 + math.ceil(sigma / step)
    assert masks.shape == (2, 1, make.grid[0] * step, make.grid[1] * step)
    last = (masks.shape[2] - 1, masks.shape[3] - 1)
    for y, x in ((0, 0), (4, 5), (8, 10), last):
        z = []
        for row in range(y // step - reach, y // step + reach + 1):
            for column in range(x // step - reach, x // step + reach + 1):
                inside = 0 <= row < make.grid[0] and 0 <= column < make.grid[1]
                value = float(parameters[1, 0, row, column]) if inside else 0.0
                centre = (step - 1) / 2
                apart = math.hypot(row * step + centre - y, column * step + centre - x)
                z.append(value * math.exp(-2 * max(apart / sigma - 0.5, 0) ** 2))
        weights = [math.exp(20 * value) for value in z]
        expected = sum(a * b for a, b in zip(z, weights, strict=True)) / sum(weights)
        assert float(masks[1, 0, y, x]) == pytest.approx(expected, abs=1e-12)


def test_the_image_lies_in_the_middle_of_the_canvas() -> None:
    make = SmoothMasks((9, 11), 1, 1.0)
    parameters = torch.zeros(1, 1, *make.grid)
    parameters[0, 0, make.reach + 3, make.reach + 7] = 1.0
    mask = make.crop(make(parameters))[0, 0]
    assert mask.shape == (9, 11)
    assert int(mask.argmax()) == 3 * 11 + 7


def test_an_even_mask_is_even_up_to_the_border() -> None:
    make = SmoothMasks((9, 11), 1, 1.0)
    parameters = torch.full((1, 1, *make.grid), 0.3).requires_grad_()
    mask = make.crop(make(parameters))
    assert float((mask - mask[0, 0, 4, 5]).abs().max().detach()) < 1e-6


def test_the_gradient_of_smooth_masks_is_right() -> None:
    make = SmoothMasks((5, 4), 2, 1.5)
    generator = torch.Generator().manual_seed(4)
    parameters = torch.rand(2, 1, *make.grid, generator=generator, dtype=torch.float64)
    assert torch.autograd.gradcheck(make, parameters.requires_grad_())
