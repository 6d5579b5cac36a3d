"""The four quadrants around the optic disc, and the vessels in each.

They are parted by the row and the column of the disc's centre. Which side is nasal depends on the
eye: in a photograph of a right eye the nose is to the right, of a left eye to the left. Where the
eye is not known they are called by their place in the picture.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ssplain.errors import SSplainError
from ssplain.reading.opinion import Opinion
from ssplain.vessels import VesselTree

Side = Literal["left", "right"]
SIDES: tuple[Side, ...] = get_args(Side)
PLACES = ("upper left", "upper right", "lower left", "lower right")


@dataclass(frozen=True)
class Measures:
    """The vessels of a quadrant; what cannot be measured is None.

    Attributes:
        length_px: of all centrelines.
        tortuosity: mean index of winding in 1/px, weighted by length.
        curvature: mean curvature in 1/px, weighted by length.
        calibre_px: mean calibre, weighted by length.
        calibre_dd: the same in disc diameters; None without a disc.
    """

    length_px: float
    tortuosity: float | None
    curvature: float | None
    calibre_px: float | None
    calibre_dd: float | None


@dataclass(frozen=True)
class Quadrant:
    """One quadrant of an eye.

    Attributes:
        name: such as "superior nasal" if the eye is known, else its place in the picture.
        place: in the picture, such as "upper left".
        vessels: what was measured.
        vessel_share: part of all vessel brightness that lies in it.
        explanation_share: part of the explanation that lies in it.
        removed: what the network says when the quadrant is taken away.
        alone: what it says when nothing but the quadrant is kept.
    """

    name: str
    place: str
    vessels: Measures
    vessel_share: float
    explanation_share: float
    removed: Opinion
    alone: Opinion


def quadrant_map(shape: tuple[int, int], centre: tuple[float, float]) -> NDArray[np.intp]:
    """Give each pixel (H, W) its quadrant, an index into `PLACES`.

    >>> quadrant_map((2, 2), (0.5, 0.5)).tolist()
    [[0, 1], [2, 3]]
    """
    row, column = np.ogrid[: shape[0], : shape[1]]
    return 2 * (row > centre[0]).astype(np.intp) + (column > centre[1])


def quadrant_name(place: str, eye: Side | None) -> str:
    """Return the anatomical name of a place in the picture, or the place itself.

    >>> quadrant_name("upper right", "right"), quadrant_name("lower right", "left")
    ('superior nasal', 'inferior temporal')
    >>> quadrant_name("upper left", None)
    'upper left'
    """
    if eye is None:
        return place
    height, side = place.split()
    level = "superior" if height == "upper" else "inferior"
    return f"{level} {'nasal' if side == eye else 'temporal'}"


def check_eye(eye: str | None) -> Side | None:
    """Return the side of the eye, if it is one.

    >>> check_eye("left"), check_eye(None)
    ('left', None)
    """
    for side in SIDES:
        if eye == side:
            return side
    if eye is None:
        return None
    raise SSplainError(f"An eye is left or right, not {eye!r}; leave it out if it is not known.")


def settle_eye(given: str | None, told: str | None) -> Side | None:
    """Return which eye it is by what the user gives and what the file tells.

    >>> settle_eye(None, "right"), settle_eye("left", None)
    ('right', 'left')
    """
    side = check_eye(given)
    if side is not None and told is not None and side != told:
        raise SSplainError(
            f"The file says that it is a {told} eye, and {side} was given; find out which is true, "
            "and leave the other out or correct the file."
        )
    return side or check_eye(told)


def measure(
    tree: VesselTree, quadrants: NDArray[np.intp], disc: tuple[float, float, float] | None
) -> list[Measures]:
    """Measure the vessels of each quadrant; a branch counts in each by its length there.

    Example:
        >>> from ssplain.vessels import trace
        >>> image = np.zeros((64, 64))
        >>> image[10:14, 4:60] = 1
        >>> found = measure(trace(image), quadrant_map((64, 64), (31.5, 31.5)), None)
        >>> [round(one.length_px) for one in found], found[0].calibre_dd
        ([28, 28, 0, 0], None)
    """
    shape = quadrants.shape
    lengths = np.zeros((len(tree.branches), len(PLACES)))
    for row, branch in enumerate(tree.branches):
        y, x = np.rint(branch.points).astype(np.intp).T
        there = quadrants[y.clip(0, shape[0] - 1), x.clip(0, shape[1] - 1)]
        share = np.bincount(there, minlength=len(PLACES)) / len(there)
        lengths[row] = branch.length * share
    found = []
    for weights in lengths.T:
        calibre = _mean([b.calibre for b in tree.branches], weights)
        found.append(
            Measures(
                length_px=float(weights.sum()),
                tortuosity=_mean([b.tortuosity for b in tree.branches], weights),
                curvature=_mean([b.mean_curvature for b in tree.branches], weights),
                calibre_px=calibre,
                calibre_dd=None if disc is None or calibre is None else calibre / (2 * disc[2]),
            )
        )
    return found


def shares(plane: NDArray[np.floating], quadrants: NDArray[np.intp]) -> list[float]:
    """Which part of the sum of a plane lies in each quadrant; 0 where there is nothing at all.

    >>> shares(np.array([[1.0, 0.0], [0.0, 3.0]]), quadrant_map((2, 2), (0.5, 0.5)))
    [0.25, 0.0, 0.0, 0.75]
    """
    sums = np.bincount(quadrants.ravel(), plane.ravel(), minlength=len(PLACES))
    total = float(sums.sum())
    return [float(value) / total if total > 0 else 0.0 for value in sums]


def _mean(values: Sequence[float], weights: NDArray[np.float64]) -> float | None:
    pairs = [(v, w) for v, w in zip(values, weights, strict=True) if w > 0 and math.isfinite(v)]
    total = sum(weight for _, weight in pairs)
    return float(sum(v * w for v, w in pairs) / total) if total else None
