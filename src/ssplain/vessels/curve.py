"""The smooth centreline of a branch: how long it is, and how much it winds.

Two measures of winding are offered. `arc_over_chord` is the length over the distance of the ends:
one large arc has as much of it as a corkscrew. `tortuosity` counts windings. The curve is cut where
it changes from bending to the left to bending to the right, and with n pieces of lengths arc_i

    tortuosity = (n - 1) / (n L) * sum_i (arc_i / chord_i - 1),    L = sum_i arc_i,

in 1/px: 0 for an arc that bends to one side only, and more for more and for deeper windings in the
same length. A piece that turns by less than 0.2 rad is no winding and belongs to its neighbours.

Reference: E. Grisan, M. Foracchia and A. Ruggeri, A novel method for the automatic grading of
retinal vessel tortuosity, IEEE TMI 27(3), 2008. How the staircase of pixels is smoothed, and at
which angle a piece counts, are choices of this package.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from ssplain.vessels.network import Network, polyline_length
from ssplain.vessels.pose import Plane

LEAST_TURN = 0.2  # rad: a piece that turns by less is no winding
STAIRCASE = 2.0  # px: the smoothing after which no straight line of pixels turns by as much


@dataclass(frozen=True)
class Curve:
    """The smooth centreline of one branch between two nodes."""

    start: int
    end: int
    points: Plane
    length: float  # up to the tips of free ends


def smooth_curves(network: Network, vessel: NDArray[np.bool_]) -> list[Curve]:
    """Smooth the centrelines and measure them; the longest first."""
    curves = []
    for a, b, data in network.edges.data():
        start, end = (a, b) if data["start"] == a else (b, a)
        # a wider Gaussian would shorten the bends of tortuous vessels
        closed = a == b and network.degree[a] == 2
        points = _smooth_points(data["points"], 1.0, closed=closed)
        tips = sum(
            _tip(vessel, outwards, network.nodes[node]["radius"])
            for node, outwards in ((start, points[::-1]), (end, points))
            if network.degree[node] == 1
        )
        # a lone sample at the rim of a vessel has no length, but it has a pixel
        curves.append(Curve(start, end, points, max(1.0, polyline_length(points) + tips)))
    return sorted(curves, key=lambda curve: -curve.length)


def _tip(vessel: NDArray[np.bool_], points: Plane, radius: float) -> float:
    """How far the vessel goes on straight ahead where its centreline ends."""
    ahead = points[-1] - points[-min(len(points), 2 + int(radius))]
    distance = float(np.hypot(*ahead))
    if distance == 0:
        return radius
    ray = np.arange(0, 2 * radius + 2, 0.25)
    cells = np.rint(points[-1] + ray[:, None] * ahead / distance).astype(np.intp)
    inside = ((cells >= 0) & (cells < vessel.shape)).all(axis=1)
    inside[inside] = vessel[tuple(cells[inside].T)]
    return float(ray[np.argmin(inside)]) if not inside.all() else radius


def _smooth_points(points: Plane, sigma: float, *, closed: bool = False) -> Plane:
    """Smooth a curve by a Gaussian of sigma px; its ends stay in place."""
    if closed:
        ring = ndimage.gaussian_filter1d(points[:-1], sigma, axis=0, mode="wrap")
        return np.concatenate([ring, ring[:1]])
    # continued by its point reflection in each end, a curve keeps that end under any even filter
    reach = min(math.ceil(4 * sigma), len(points) - 1)
    before = 2 * points[0] - points[reach:0:-1]
    after = 2 * points[-1] - points[-2 : -2 - reach : -1]
    longer = np.concatenate([before, points, after])
    return ndimage.gaussian_filter1d(longer, sigma, axis=0, mode="nearest")[reach:-reach]


def arc_over_chord(points: Plane) -> float:
    """Length of a curve over the distance of its ends; NaN if it is closed.

    Example:
        >>> arc_over_chord(np.array([[0.0, 0.0], [3.0, 0.0], [3.0, 4.0]]))
        1.4
    """
    chord = math.dist(points[0], points[-1])
    return polyline_length(points) / chord if chord else math.nan


def tortuosity(points: Plane, staircase: float = STAIRCASE) -> float:
    """Index of winding between inflections in 1/px, see above; NaN if the curve is closed.

    Args:
        points: (n, 2) curve, about one point per pixel.
        staircase: width in px of the Gaussian that takes the pixels' staircase out; 0 for a curve
            that has none.

    Example:
        >>> along = np.linspace(0, 120, 400)
        >>> arc = np.stack([40 * np.sin(np.pi * along / 120), along], axis=1)
        >>> wave = np.stack([8 * np.sin(np.pi * along / 20), along], axis=1)
        >>> round(tortuosity(arc), 4), round(tortuosity(wave), 3)
        (0.0, 0.01)
    """
    if len(points) < 3 or math.dist(points[0], points[-1]) == 0:
        return 0.0 if math.dist(points[0], points[-1]) else math.nan
    curve = _evenly(points, staircase)
    steps = np.diff(curve, axis=0)
    turns = np.diff(np.unwrap(np.arctan2(steps[:, 0], steps[:, 1])))
    cuts = np.array([0, *_inflections(turns), len(curve) - 1])
    arcs = np.diff(np.concatenate([[0.0], np.hypot(*steps.T).cumsum()])[cuts])
    chords = np.hypot(*np.diff(curve[cuts], axis=0).T)
    # a piece that returns to where it began is a loop of about its own length
    winding = float((arcs / np.maximum(chords, 1.0) - 1).clip(min=0).sum())
    pieces = len(arcs)
    return (pieces - 1) / pieces * winding / float(arcs.sum())


def _evenly(points: Plane, staircase: float) -> Plane:
    """Return the curve at even steps of about 1 px, smoothed, with its ends in place."""
    away = np.concatenate([[0.0], np.hypot(*np.diff(points, axis=0).T).cumsum()])
    places = np.linspace(0, away[-1], max(3, round(away[-1]) + 1))
    even = np.stack([np.interp(places, away, axis) for axis in points.T], axis=1)
    return _smooth_points(even, staircase) if staircase else even


def _inflections(turns: Plane) -> list[int]:
    """Return the indices of points between pieces that bend to one side by `LEAST_TURN` or more.

    The piece that turns least goes to its neighbours, which bend to the same side, until none turns
    by too little; so no order in which the pieces stand is preferred.
    """
    side = np.sign(turns)
    starts = [0, *(np.flatnonzero(np.diff(side)) + 1).tolist()]
    turned = np.add.reduceat(turns, starts).tolist() if len(turns) else []
    while len(turned) > 1:
        least = min(range(len(turned)), key=lambda i: abs(turned[i]))
        if abs(turned[least]) >= LEAST_TURN:
            break
        first, last = max(least - 1, 0), min(least + 2, len(turned))
        inner = first < least < last - 1
        # at an end there is one neighbour, and what it turns is not undone by a piece cut short
        kept = sum(turned[first:last]) if inner else sum(turned[first:last]) - turned[least]
        turned[first:last] = [kept]
        del starts[first + 1 : last]
    # of the two points between which the side changes, the one that turns less
    return [at + int(abs(turns[at]) < abs(turns[at - 1])) for at in starts[1:]]
