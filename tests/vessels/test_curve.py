"""Windings: where the order is beyond doubt, the index has it, whatever the pixels do."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.ndimage import binary_dilation, binary_erosion
from scipy.spatial import KDTree

from ssplain.vessels import Branch, trace
from ssplain.vessels.curve import arc_over_chord, tortuosity

Plane = NDArray[np.float64]
SIDE = 224


def wave(height: float, wavelength: float, scale: float = 1.0) -> Plane:
    along = np.linspace(20, 204, 4000)
    return scale * np.stack([112 + height * np.sin(2 * np.pi * along / wavelength), along], axis=1)


def arc(radius: float) -> Plane:
    turn = np.linspace(0.6, 2.5, 2000)
    return np.stack([200 - radius * np.sin(turn), 112 + radius * np.cos(turn)], axis=1)


def away(points: Plane, side: int = SIDE) -> Plane:
    found = KDTree(points).query(np.argwhere(np.ones((side, side))))[0]
    return np.asarray(found).reshape(side, side)


def longest(image: NDArray[np.generic]) -> Branch:
    return trace(image).branches[0]


# each winds more than the one before it: in depth, or in how many there are
LADDER = [
    wave(0, 60),
    wave(3, 60),
    wave(6, 60),
    wave(6, 40),
    wave(9, 40),
    wave(9, 30),
]


def test_the_formula_on_a_zigzag_of_arcs() -> None:
    """Half circles of radius r to both sides: arc over chord is pi / 2 in each of n pieces."""
    radius, count = 20.0, 6
    turn = np.linspace(0, np.pi, 400)[:-1]
    parts = [
        np.stack(
            [(-1) ** k * radius * np.sin(turn), (2 * k + 1) * radius - radius * np.cos(turn)],
            axis=1,
        )
        for k in range(count)
    ]
    points = np.concatenate(parts)
    expected = (count - 1) / count * count * (math.pi / 2 - 1) / (count * math.pi * radius)
    assert tortuosity(points, 0) == pytest.approx(expected, rel=0.03)


def test_what_bends_to_one_side_does_not_wind() -> None:
    assert tortuosity(arc(80), 0) == 0
    assert longest(away(arc(80)) <= 2).tortuosity == 0
    assert arc_over_chord(arc(80)) > 1.15


def test_turns_of_less_than_a_fifth_radian_are_no_windings() -> None:
    """A sine of slope s turns by 2 atan(s) between its inflections."""
    shallow, deep = (wave(math.tan(turn / 2) * 60 / (2 * np.pi), 60) for turn in (0.17, 0.23))
    assert tortuosity(shallow, 0) == 0 < tortuosity(deep, 0)


@pytest.mark.parametrize("width", [1.5, 3, 5])
@pytest.mark.parametrize("kind", ["mask", "soft", "noisy"])
def test_more_windings_give_a_larger_index(width: float, kind: str) -> None:
    rng = np.random.default_rng(1)
    found = []
    for points in LADDER:
        distance = away(points)
        image = (distance <= width / 2).astype(float)
        if kind == "soft":
            image = np.clip(width / 2 + 0.5 - distance, 0, 1)
        elif kind == "noisy" and width > 2:
            rim = binary_dilation(image) & ~binary_erosion(image)
            image = np.abs(image - (rim & (rng.random(image.shape) < 0.2)))
        found.append(longest(image).tortuosity)
    assert all(before < after for before, after in pairwise(found))
    exact = [tortuosity(points[::10], 0) for points in LADDER]
    np.testing.assert_allclose(found[2:], exact[2:], rtol=0.25)


@pytest.mark.parametrize("degrees", [0, 3, 8, 17, 30, 45, 77])
def test_the_staircase_of_a_straight_line_does_not_wind(degrees: float) -> None:
    angle, along = np.radians(degrees), np.linspace(-85, 85, 3000)
    line = np.stack([112.3 + along * np.sin(angle), 111.8 + along * np.cos(angle)], axis=1)
    for width in (1.5, 4):
        assert longest(away(line) <= width / 2).tortuosity < 5e-5  # 1/40 of the faintest wave


def test_the_index_is_per_length() -> None:
    """Twice the resolution, half of it per px; the order stays."""
    for points in LADDER[2:5]:
        small = longest(away(points) <= 1.5).tortuosity
        large = longest(away(2 * points, 2 * SIDE) <= 3).tortuosity
        assert 2 * large == pytest.approx(small, rel=0.15)


@given(
    st.floats(2, 12),
    st.floats(25, 70),
    st.floats(0, 2 * math.pi),
    st.floats(-50, 50),
    st.booleans(),
)
def test_where_a_curve_lies_does_not_matter(
    height: float, wavelength: float, turn: float, shift: float, backwards: bool
) -> None:
    points = wave(height, wavelength)[::20]
    sine, cosine = math.sin(turn), math.cos(turn)
    moved = points @ np.array([[cosine, sine], [-sine, cosine]]) + shift
    moved = moved[::-1] if backwards else moved
    assert tortuosity(moved) == pytest.approx(tortuosity(points), rel=1e-3, abs=1e-7)


def test_short_and_closed_curves() -> None:
    assert tortuosity(np.array([[0.0, 0.0], [0.0, 1.0]])) == 0
    assert math.isnan(tortuosity(np.array([[3.0, 3.0], [3.0, 3.0]])))
    ring = np.stack([np.sin(np.linspace(0, 2 * np.pi, 99)), np.cos(np.linspace(0, 2 * np.pi, 99))])
    ring[:, -1] = ring[:, 0]
    assert math.isnan(tortuosity(20 * ring.T))
    assert math.isnan(arc_over_chord(20 * ring.T))
