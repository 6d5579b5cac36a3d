"""Slow, obviously right counterparts: every subset tried, or a general solver."""

from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

Vector = NDArray[np.float64]


def nearest_l0(x: Vector, support: NDArray[np.bool_], k: int, *, box: bool) -> float:
    """Squared distance from x to the nearest feasible point, over all subsets of the support."""
    free = np.flatnonzero(support)
    best = np.inf
    for size in range(min(k, len(free)) + 1):
        for subset in combinations(free, size):
            point = np.zeros_like(x)
            chosen = list(subset)
            point[chosen] = np.clip(x[chosen], 0, 1) if box else x[chosen]
            best = min(best, float(((x - point) ** 2).sum()))
    return best


def nearest_l1(x: Vector, support: NDArray[np.bool_], radius: float) -> Vector:
    """The l1-ball projection by root finding on the shrinkage, not by sorting."""
    inside = np.where(support, x, 0.0)
    if np.abs(inside).sum() <= radius:
        return inside

    def excess(theta: float) -> float:
        return float(np.maximum(np.abs(inside) - theta, 0).sum()) - radius

    theta = brentq(excess, 0.0, float(np.abs(inside).max()), xtol=1e-14)
    return np.asarray(np.sign(inside) * np.maximum(np.abs(inside) - theta, 0))


def nearest_l1_box(x: Vector, support: NDArray[np.bool_], radius: float) -> Vector:
    """The projection on ball and box together by root finding."""
    inside = np.where(support, x, 0.0)

    def at(theta: float) -> Vector:
        return np.asarray(np.clip(inside - theta, 0, 1)) * support

    if at(0.0).sum() <= radius:
        return at(0.0)
    theta = brentq(
        lambda t: float(at(t).sum()) - radius, 0.0, float(np.abs(inside).max()), xtol=1e-14
    )
    return at(theta)
