"""The centreline as a principal curve: the ridge of the blurred image, joined by a spanning tree.

This is how the references of the paper trace vessels. A point is on the ridge of a density L where
its gradient has no part along n, the eigenvector of the most negative eigenvalue of the Hessian.

Reference: U. Ozertem and D. Erdogmus, Locally defined principal curves and surfaces, JMLR 12,
2011, for the definition. How far samples are merged and joined are choices of this package.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, map_coordinates, spline_filter
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial import KDTree

from ssplain.vessels.pose import Plane
from ssplain.vessels.skeleton import Centreline

FINEST = 1.5  # px: a finer density has ridges along the pixel grid
MERGE = 0.5  # px: samples in one cell of this size are one
GAP = 3.0  # px: samples further apart than this are not joined


def principal_curve(plane: Plane, line: Centreline) -> Centreline:
    """Project every vessel pixel on the ridge and join the projections.

    The samples are joined by their Euclidean minimum spanning tree, so every loop is cut open.

    Args:
        plane: (H, W) image.
        line: the skeleton of the image, which says where vessels are and how wide.

    Returns:
        The centreline with samples between the pixels.

    Example:
        >>> from ssplain.vessels.skeleton import skeletonise
        >>> plane = np.zeros((20, 60))
        >>> plane[8:12, 5:55] = 1
        >>> found = principal_curve(plane, skeletonise(plane > 0))
        >>> bool(np.median(np.abs(found.points[:, 0] - 9.5)) < 0.01)
        True
    """
    start = np.argwhere(line.vessel).astype(np.float64)
    if len(start) == 0:
        return line
    samples = _merge(project(plane, start, sigma=max(FINEST, line.radius)))
    return replace(line, points=samples, pairs=_spanning_tree(samples))


def project(plane: Plane, points: Plane, sigma: float, steps: int = 50) -> Plane:
    """Move points across the vessel to its ridge by clipped Newton steps -(grad . n) / lam_n.

    Returns:
        The points that arrived, to a thousandth of a pixel; those where the density is not
        concave across the vessel, and those that left the image, are left out.
    """
    fields = [
        spline_filter(
            gaussian_filter(plane, sigma, order=order, mode="nearest", truncate=6.0),
            mode="nearest",
        )
        for order in ((1, 0), (0, 1), (2, 0), (1, 1), (0, 2))
    ]
    arrived = []
    for _ in range(steps):
        y, x, yy, xy, xx = (
            map_coordinates(field, points.T, mode="nearest", prefilter=False) for field in fields
        )
        angle = np.arctan2(2 * xy, xx - yy) / 2  # of the larger eigenvalue, along the vessel
        across = np.stack([np.cos(angle), -np.sin(angle)], axis=1)  # n = (row, column)
        bend = (xx + yy - np.hypot(xx - yy, 2 * xy)) / 2
        slope = y * across[:, 0] + x * across[:, 1]
        concave = bend < -1e-6  # less than this is rounding, in a plane that reaches up to 1
        step = -np.divide(slope, bend, out=np.zeros_like(bend), where=concave)
        there = concave & (np.abs(step) < 1e-3)
        arrived.append(points[there])
        moving = concave & ~there
        points = points[moving] + np.clip(step[moving], -1, 1)[:, None] * across[moving]
        points = points[((points >= 0) & (points <= np.array(plane.shape) - 1)).all(axis=1)]
        if len(points) == 0:
            break
    return np.concatenate(arrived)


def _merge(points: Plane) -> Plane:
    """Replace the points in each cell of a fine grid by their mean."""
    _, cell = np.unique(np.floor(points / MERGE), axis=0, return_inverse=True)
    counts = np.bincount(cell)
    return np.stack([np.bincount(cell, axis) / counts for axis in points.T], axis=1)


def _spanning_tree(points: Plane) -> NDArray[np.intp]:
    """Pair the samples along the Euclidean minimum spanning tree of each group without a gap."""
    tree = KDTree(points)
    near = tree.sparse_distance_matrix(tree, GAP, output_type="coo_matrix")
    return np.stack(minimum_spanning_tree(near).nonzero(), axis=1).astype(np.intp)
