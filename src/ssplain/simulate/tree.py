"""Grows the vessel tree of one simulated infant eye: courses first, calibres after.

Everything here lives in the eye's own frame (see `anatomy`). Vessels follow a flow that leaves the
disc, fans out radially on the nasal side and arches around the macula on the temporal side.
"""

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.ndimage import gaussian_filter1d

from ssplain.simulate.anatomy import SIZE, Array, Eye

Kind = Literal["artery", "vein"]
KINDS: tuple[Kind, Kind] = ("artery", "vein")

_STEP = 2.0  # pixels between two samples of a growing course


@dataclass(frozen=True)
class Course:
    """The way of one vessel from its origin to its end.

    Attributes:
        points: samples (n, 2) of the centreline.
        kind: artery or vein.
        parent: index of the vessel it leaves, -1 at the disc.
        attach: index of the parent's sample it leaves from.
        generation: 0 at the disc, one more at each branching.
        share: its first width as a fraction of the parent's width there; in pixels at the disc.
    """

    points: Array
    kind: Kind
    parent: int
    attach: int
    generation: int
    share: float


def grow_tree(rng: np.random.Generator, eye: Eye, known: Sequence[Course] = ()) -> list[Course]:
    """Grow all vessels of an eye, breadth first, so that large vessels take their place first.

    Args:
        rng: draws everything.
        eye: where to grow.
        known: courses that are there already, which get side branches; by default, none.

    Example:
        >>> from ssplain.simulate.anatomy import draw_eye
        >>> rng = np.random.default_rng(0)
        >>> courses = grow_tree(rng, draw_eye(rng))
        >>> all(course.parent < i for i, course in enumerate(courses))
        True
    """
    ground = _Ground(eye)
    courses = list(known)
    for i, course in enumerate(courses):
        ground.take(course.points, course.kind, i)
    waiting: deque[_Bud] = deque(() if courses else _trunks(rng, eye))
    for i, course in enumerate(known):
        if course.generation < 2:
            waiting.extend(_buds(rng, eye, course, i))
    while waiting:
        bud = waiting.popleft()
        points = _grow(rng, eye, ground, bud)
        if len(points) * _STEP < (20.0, 10.0, 8.0)[bud.generation]:
            continue
        points = _dense(points)
        ground.take(points, bud.kind, len(courses))
        courses.append(Course(points, bud.kind, bud.parent, bud.attach, bud.generation, bud.share))
        if bud.generation < 2:
            waiting.extend(_buds(rng, eye, courses[-1], len(courses) - 1))
    return courses


def calibre(courses: Sequence[Course], zoom: float = 1.0) -> list[Array]:
    """Width along each course by Murray's law: cubes of widths add up at every branching.

    A branch that takes the share r of its parent's width w leaves `w (1 - r^3)^(1/3)` to it.

    Reference: C. D. Murray, PNAS 12(3), 1926.

    Example:
        >>> line = np.stack([np.arange(40.0), np.zeros(40)], axis=1)
        >>> trunk, side = Course(line, "vein", -1, 0, 0, 3.0), Course(line, "vein", 0, 20, 1, 0.7)
        >>> parent, child = calibre([trunk, side])
        >>> round(float(parent[0]), 2), round(float(child[0]), 2), round(float(parent[-1]), 2)
        (3.0, 1.73, 2.07)
    """
    children: dict[int, list[Course]] = {}
    for course in courses:
        children.setdefault(course.parent, []).append(course)
    widths: list[Array] = []
    for i, course in enumerate(courses):
        left = np.ones(len(course.points))
        for child in children.get(i, ()):
            left[child.attach :] *= (1 - child.share**3) ** (1 / 3)
        first = zoom if course.parent < 0 else widths[course.parent][course.attach]
        taper = np.exp(-np.arange(len(left)) / 170)
        widths.append(course.share * first * taper * gaussian_filter1d(left, 3, mode="nearest"))
    return widths


@dataclass(frozen=True)
class _Bud:
    """A vessel about to grow; by default, one that leaves the disc."""

    start: tuple[float, float]
    heading: float
    length: float
    kind: Kind
    share: float
    lean: float = 0.0  # angle by which it keeps away from the flow
    height: float = 0.0  # of the arcade it forms above the fovea; 0 for all other vessels
    parent: int = -1
    attach: int = 0
    generation: int = 0
    crosses: bool = True  # whether it may pass a vessel of the other kind


class _Ground:
    """Who has taken which pixel: like vessels keep their distance, unlike ones may cross."""

    def __init__(self, eye: Eye) -> None:
        self._shift = 2 * SIZE
        self._reach = 3.2 * eye.zoom
        self._grid = {kind: np.full((4 * SIZE, 4 * SIZE), -1, np.int16) for kind in KINDS}
        span = np.arange(-4, 5)
        dx, dy = np.meshgrid(span, span)
        near = np.hypot(dx, dy) <= self._reach
        self._disc = np.stack([dx[near], dy[near]], axis=1)

    def take(self, points: Array, kind: Kind, owner: int) -> None:
        """Mark the pixels around a course, except on the disc, where all vessels meet."""
        far = points[np.hypot(*points.T) > 12]
        cells = np.rint(far[::2, None] + self._disc).astype(np.intp).reshape(-1, 2) + self._shift
        grid = self._grid[kind]
        column, row = cells.T
        free = grid[row, column] < 0
        grid[row[free], column[free]] = owner

    def owner(self, x: float, y: float, kind: Kind) -> int:
        """Return the vessel of this kind that has taken a point, or -1."""
        return int(self._grid[kind][round(y) + self._shift, round(x) + self._shift])


def _trunks(rng: np.random.Generator, eye: Eye) -> list[_Bud]:
    """Return the vessels that leave the disc: an artery and a vein per quadrant, and some twigs."""
    buds = []
    for up in (1, -1):
        height = eye.zoom * rng.uniform(32, 48)  # of the arcade, above or below the macula
        order = rng.choice((-1, 1))
        for kind, (low, high), place in (
            (KINDS[1], (2.7, 3.5), -order),
            (KINDS[0], (2.0, 2.6), order),
        ):
            x = rng.uniform(0.05, 0.3)
            h = up * (height + place * rng.uniform(2.5, 6.0))
            start = x, eye.arcade(h, x)
            buds.append(_Bud(start, up * 1.45, 260, kind, rng.uniform(low, high), height=h))
            angle = up * math.radians(rng.uniform(112, 128) + 9 * place)
            share = rng.uniform(0.6 * low, 0.75 * high)
            buds.append(_Bud(_at(angle, 2), angle, 220, kind, share))
    for count, middle, spread, lengths, widths in (
        (5, 180, 50, (40, 130), (1.3, 1.8)),  # nasal twigs
        (2, 0, 40, (20, 40), (1.0, 1.4)),  # temporal twigs, towards the macula
    ):
        for _ in range(rng.integers(count + 1)):
            angle = math.radians(middle + rng.uniform(-spread, spread))
            kind = KINDS[1 - rng.integers(2)]
            length = rng.uniform(*lengths)
            buds.append(_Bud(_at(angle, 2), angle, length, kind, rng.uniform(*widths)))
    return buds


def _at(angle: float, radius: float) -> tuple[float, float]:
    return radius * math.cos(angle), radius * math.sin(angle)


def _buds(rng: np.random.Generator, eye: Eye, course: Course, index: int) -> list[_Bud]:
    """Side branches of a course, mostly on alternating sides."""
    generation = course.generation + 1
    buds = []
    side = rng.choice((-1, 1))
    at = rng.uniform(8, 20)
    spacing = eye.spacing * (1.0, 1.4)[course.generation]
    last = len(course.points) - 6
    while at < last:
        i = int(at)
        turn = side * math.radians(rng.uniform(30, 75))
        length = eye.zoom * rng.uniform(*((25, 100), (12, 50))[generation - 1])
        x, y = course.points[i]
        dx, dy = course.points[i + 3] - course.points[max(i - 3, 0)]
        buds.append(
            _Bud(
                start=(x, y),
                heading=math.atan2(dy, dx) + turn,
                lean=side * rng.uniform(0.15, 0.8),
                length=length,
                kind=course.kind,
                share=rng.uniform(0.5, 0.8),
                parent=index,
                attach=i,
                generation=generation,
                crosses=rng.random() < 0.35,
            )
        )
        at += spacing * rng.uniform(0.5, 1.5)
        side = -side if rng.random() < 0.75 else side
    return buds


def _grow(rng: np.random.Generator, eye: Eye, ground: _Ground, bud: _Bud) -> Array:
    """Follow the flow step by step until the vessel is long enough or meets an end."""
    count = int(bud.length / _STEP)
    sway = gaussian_filter1d(rng.standard_normal(count + 20), 4)[10:-10] * 0.17
    other = KINDS[bud.kind == "artery"]
    (x, y), angle = bud.start, bud.heading
    points = [(x, y)]
    for i in range(count):
        wish = eye.flow(x, y) + bud.lean
        if bud.height:
            wish += max(-0.7, min(0.7, 0.06 * (eye.arcade(bud.height, x) - y)))
        angle += 0.09 * math.remainder(wish - angle, math.tau) + sway[i]
        x += _STEP * math.cos(angle)
        y += _STEP * math.sin(angle)
        if not eye.grows(x, y) or eye.is_macula(x, y):
            break
        met = ground.owner(x, y, bud.kind)
        if met >= 0 and not (met == bud.parent and i < 6):
            break
        if not bud.crosses and ground.owner(x, y, other) >= 0:
            break
        points.append((x, y))
    return np.array(points)


def _dense(points: Array) -> Array:
    """Resample a course to about one sample per pixel, smoothly."""
    steps = np.arange(len(points))
    fine = np.linspace(0, steps[-1], int(steps[-1] * _STEP) + 1)
    smooth = gaussian_filter1d(points, 1, axis=0, mode="nearest")
    smooth[0], smooth[-1] = points[0], points[-1]
    return np.stack([np.interp(fine, steps, axis) for axis in smooth.T], axis=1)
