"""Vessels as unions of discs: how deep each pixel lies, and in which disc."""

import numpy as np
from numpy.typing import NDArray

from ssplain.simulate.anatomy import Array

_OUTSIDE = -20.0  # as deep as nothing ever is


def depths(
    points: Array, radii: Array, shape: tuple[int, int], margin: float
) -> tuple[Array, NDArray[np.intp]]:
    """Depth `r - d` of every pixel inside the union of discs, and the disc that is deepest there.

    Args:
        points: `(n, 2)` centres as (column, row).
        radii: `(n,)`, in pixels.
        shape: of the image.
        margin: pixels up to this far from a disc are measured; those far away are -20 deep.

    Example:
        >>> depth, nearest = depths(np.array([[5.0, 3.0]]), np.array([2.0]), (8, 10), 1.0)
        >>> float(depth[3, 5]), float(depth[3, 6]), float(depth[7, 0])
        (2.0, 1.0, -20.0)
    """
    height, width = shape
    depth = np.full(height * width, _OUTSIDE)
    nearest = np.zeros(height * width, np.intp)
    reach = np.ceil(radii + margin).astype(int)
    parts = []
    for r in np.unique(reach):  # discs of like size share one window
        index = np.flatnonzero(reach == r)
        span = np.arange(-r, r + 1)
        offsets = np.stack(np.meshgrid(span, span), axis=-1).reshape(-1, 2)
        cells = np.rint(points[index]).astype(int)[:, None] + offsets
        value = radii[index, None] - np.hypot(*np.moveaxis(cells - points[index, None], -1, 0))
        inside = ((cells >= 0) & (cells < (width, height))).all(axis=-1)
        pixel = (cells[..., 1] * width + cells[..., 0])[inside]
        parts.append((pixel, value[inside], np.broadcast_to(index[:, None], inside.shape)[inside]))
        np.maximum.at(depth, *parts[-1][:2])
    for pixel, value, disc in parts:
        deepest = value == depth[pixel]
        nearest[pixel[deepest]] = disc[deepest]
    return depth.reshape(shape), nearest.reshape(shape)
