from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from ssplain.vessels.skeleton import neighbours, skeletonise, smooth_mask


@given(arrays(np.bool_, (6, 7), elements=st.booleans()))
def test_neighbours_are_those_of_the_definition(thin: NDArray[np.bool_]) -> None:
    pixels = [tuple(pixel) for pixel in np.argwhere(thin).tolist()]
    expected = set()
    for (a, (ya, xa)), (b, (yb, xb)) in combinations(enumerate(pixels), 2):
        if max(abs(ya - yb), abs(xa - xb)) != 1:
            continue
        corner_is_filled = (ya, xb) in pixels or (yb, xa) in pixels
        if ya == yb or xa == xb or not corner_is_filled:
            expected.add((a, b))
    assert {tuple(sorted(pair)) for pair in neighbours(thin).tolist()} == expected


@pytest.mark.parametrize("width", [2, 3, 4, 5, 6, 8])
@pytest.mark.parametrize("degrees", [45, 135])
def test_diagonal_vessels_are_not_eaten(
    phantoms: SimpleNamespace, width: int, degrees: int
) -> None:
    points = skeletonise(phantoms.bar(width, degrees)).points
    assert np.ptp(points[:, 0]) > 0.9 * 150 / np.sqrt(2) - width


def test_a_line_of_one_pixel_survives_and_a_speck_does_not() -> None:
    mask = np.zeros((60, 60), dtype=bool)
    mask[30, 5:55] = True
    mask[5:10, 5:10] = True  # 25 px
    smooth = smooth_mask(mask)
    assert smooth[30, 5:55].all()
    assert not smooth[:15].any()
    assert not skeletonise(mask).vessel[:15].any()


@pytest.mark.parametrize(("side", "filled"), [(4, True), (6, False)])
def test_small_holes_are_filled_and_large_ones_kept(side: int, *, filled: bool) -> None:
    mask = np.ones((40, 40), dtype=bool)
    mask[:3] = mask[-3:] = mask[:, :3] = mask[:, -3:] = False
    mask[18 : 18 + side, 18 : 18 + side] = False
    assert smooth_mask(mask)[18 + side // 2, 18 + side // 2] == filled


def test_the_radius_is_the_distance_to_the_background() -> None:
    mask = np.zeros((31, 90), dtype=bool)
    mask[10:19, 5:85] = True  # 9 px wide: the middle is 5 px from the background
    line = skeletonise(mask)
    assert line.radius == 5
    assert len(line.radii) == len(line.points)


def test_an_image_full_of_vessel_has_a_finite_distance() -> None:
    assert skeletonise(np.ones((20, 30), dtype=bool)).distance.max() == 10


def test_nothing_comes_of_nothing() -> None:
    line = skeletonise(np.zeros((8, 9), dtype=bool))
    assert (len(line.points), len(line.pairs), line.radius) == (0, 0, 0)
