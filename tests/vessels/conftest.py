"""Phantoms: drawn vessels of which length, width and curvature are known."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial import KDTree

Mask = NDArray[np.bool_]
Plane = NDArray[np.float64]

SHAPE = (224, 224)
ROW: Plane
COLUMN: Plane
ROW, COLUMN = np.mgrid[: SHAPE[0], : SHAPE[1]].astype(np.float64)


def bar(width: float, degrees: float, length: float = 150) -> Mask:
    along, across = axes(degrees)
    return (np.abs(across) <= width / 2) & (np.abs(along) <= length / 2)


def axes(degrees: float) -> tuple[Plane, Plane]:
    sine, cosine = np.sin(np.radians(degrees)), np.cos(np.radians(degrees))
    row, column = ROW - 112.3, COLUMN - 111.8
    return row * sine + column * cosine, column * sine - row * cosine


def radius() -> Plane:
    away: Plane = np.hypot(ROW - 112.3, COLUMN - 111.8)
    return away


def ring(middle: float, half: float) -> Mask:
    return np.abs(radius() - middle) <= half


def stroke(start: tuple[float, float], end: tuple[float, float], width: float) -> Mask:
    way = np.subtract(end, start)
    along = (ROW - start[0]) * way[0] + (COLUMN - start[1]) * way[1]
    share = np.clip(along / (way @ way), 0, 1)
    gap: Plane = np.hypot(ROW - start[0] - share * way[0], COLUMN - start[1] - share * way[1])
    inside: Mask = gap <= width / 2
    return inside


def fork(turn: float = 0.0, widths: tuple[float, float, float] = (8, 4, 4)) -> Mask:
    """A Y of three arms of about 80 px, turned by an angle in degrees."""
    sine, cosine = np.sin(np.radians(turn)), np.cos(np.radians(turn))
    middle = np.array([112.2, 111.6])
    arms = np.zeros(SHAPE, dtype=bool)
    for (down, right), width in zip(((80, 0), (-70, -45), (-70, 45)), widths, strict=True):
        end = middle + np.array([cosine * down - sine * right, sine * down + cosine * right])
        arms |= stroke((middle[0], middle[1]), (end[0], end[1]), width)
    return arms


def wave(height: float, wavelength: float) -> SimpleNamespace:
    """A sine wave: distance to it, its length, the curvature nearest to each pixel, its points."""
    x = np.linspace(20, 204, 20000)
    k = 2 * np.pi / wavelength
    y = 112 + height * np.sin(k * (x - 20))
    bend = np.abs(height * k**2 * np.sin(k * (x - 20)))
    bend /= (1 + (height * k * np.cos(k * (x - 20))) ** 2) ** 1.5
    points = np.column_stack([y, x])
    found = KDTree(points).query(np.argwhere(np.ones(SHAPE)))
    distance, nearest = np.asarray(found[0]), np.asarray(found[1])
    length = float(np.hypot(np.diff(x), np.diff(y)).sum())
    return SimpleNamespace(
        distance=distance.reshape(SHAPE),
        length=length,
        curvature=bend[nearest].reshape(SHAPE),
        points=points,
    )


def crooked() -> Plane:
    """A soft tree without any symmetry, with a loop, a crossing and a thin side branch."""
    mask = fork(17, (7, 5, 3))
    mask |= np.abs(np.hypot(ROW - 70, COLUMN - 150) - 25) <= 2
    mask |= stroke((20, 30), (190, 60), 4)
    mask |= stroke((150, 40), (120, 10), 2)
    soft: Plane = mask * (0.5 + 0.5 * np.sin(0.13 * ROW + 0.07 * COLUMN) ** 2)
    return soft


@pytest.fixture(scope="session")
def phantoms() -> SimpleNamespace:
    """All of them; tests need no import from here."""
    drawn = (bar, axes, radius, ring, stroke, fork, wave, crooked)
    return SimpleNamespace(**{draw.__name__: draw for draw in drawn})
