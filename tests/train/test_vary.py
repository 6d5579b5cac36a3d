"""Tests of changes that say nothing about disease."""

import numpy as np
import pytest
import torch
from scipy.ndimage import gaussian_filter

from ssplain.simulate.eye import simulate
from ssplain.train.vary import blur, crop, leave_out, relight, turn_and_flip, warp

EYES = torch.stack([torch.from_numpy(simulate(8, i).image)[None] for i in range(3)])


def test_turning_and_flipping_gives_all_eight_symmetries_and_nothing_else() -> None:
    image = torch.arange(9.0).reshape(1, 1, 3, 3)
    turned = turn_and_flip(image.repeat(200, 1, 1, 1), torch.Generator().manual_seed(0))
    plane = image[0, 0].numpy()
    expected = {np.rot90(side, turns).tobytes() for side in (plane, plane.T) for turns in range(4)}
    assert {one[0].numpy().tobytes() for one in turned} == expected


def test_turning_and_flipping_repeats_with_its_generator_and_keeps_the_input() -> None:
    images = torch.rand(6, 1, 5, 5)
    before = images.clone()
    one, two = (turn_and_flip(images, torch.Generator().manual_seed(3)) for _ in range(2))
    assert torch.equal(one, two)
    assert torch.equal(images, before)


def test_a_blur_is_that_of_scipy_where_it_is_cut_off_alike() -> None:
    image = torch.rand(2, 1, 20, 20)
    blurred = blur(image, torch.tensor([0.5, 1.0]))
    for one, soft, sigma in zip(image, blurred, (0.5, 1.0), strict=True):
        wanted = gaussian_filter(one[0].numpy(), sigma, mode="constant", radius=3)
        np.testing.assert_allclose(soft[0].numpy(), wanted, atol=1e-6)


def test_new_light_keeps_the_vessels_and_the_black_ground() -> None:
    shown = EYES.repeat(20, 1, 1, 1)
    changed = relight(shown, torch.Generator().manual_seed(0))
    assert changed.min() == 0
    assert changed.max() <= 1
    lit = (changed > 0).flatten(1).float().mean(1) / (shown > 0).flatten(1).float().mean(1)
    assert 0.05 < lit.min() < 0.9  # some are cut off
    assert 1.1 < lit.max() < 3  # some are blurred, none is flooded
    means = torch.stack([image[image > 0].mean() for image in changed])
    assert means.min() < 0.3
    assert means.max() > 0.8
    far = torch.nn.functional.max_pool2d(shown, 9, stride=1, padding=4) == 0
    assert (changed[far] == 0).all()


def test_warping_moves_image_and_truth_together() -> None:
    both = torch.cat([EYES, EYES], 1)
    moved = warp(both, torch.Generator().manual_seed(0), share=1.0)
    assert torch.equal(moved[:, 0], moved[:, 1])
    assert not torch.allclose(moved, both)
    assert torch.equal(warp(both, torch.Generator(), share=0.0), both)


def test_crops_are_parts_and_leaving_out_only_blackens() -> None:
    image = torch.arange(100.0).reshape(1, 1, 10, 10)
    (part,) = crop(image, 4, torch.Generator().manual_seed(1))
    first = part.flatten()[0]
    assert torch.equal(part[0], first + 10 * torch.arange(4)[:, None] + torch.arange(4))
    holes = leave_out(EYES, torch.Generator().manual_seed(0), share=1.0)
    assert ((holes == EYES) | (holes == 0)).all()
    assert not torch.equal(holes, EYES)
    assert torch.equal(leave_out(EYES, torch.Generator(), share=0.0), EYES)


@pytest.mark.parametrize("change", [turn_and_flip, warp, relight, leave_out])
def test_the_same_generator_gives_the_same_change(change: object) -> None:
    assert callable(change)
    one, two = (change(EYES, torch.Generator().manual_seed(5)) for _ in range(2))
    assert torch.equal(one, two)
