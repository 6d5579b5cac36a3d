"""The edge of the optic disc, where it was taken for a vessel.

A dark or bright edge looks like a vessel that runs around the disc. Vessels of the retina come out
of the disc and cross its edge, so a line along the edge over much of the circle is none.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

_NEAR, _FAR = 0.7, 1.4  # radii of the disc between which its edge is looked for
_ALONG = 0.75  # share of the gradient that points to the centre, for a line along the edge
_CLOSED = 0.4  # share of the circle that such lines must cover; one vessel beside the disc does not
_SECTORS = 36


def without_ring(
    vessels: NDArray[np.float32], disc: tuple[float, float, float]
) -> NDArray[np.float32]:
    """Take away lines that run along the edge of the disc, if they go around much of it.

    Args:
        vessels: (H, W) in [0, 1].
        disc: row, column and radius in px.

    Returns:
        The vessels without the ring; the same array if there is none.

    Example:
        >>> row, column = np.ogrid[:90, :90]
        >>> away = np.hypot(row - 45, column - 45)
        >>> ring = (np.abs(away - 20) < 2).astype(np.float32)
        >>> float(without_ring(ring, (45.0, 45.0, 20.0)).sum())
        0.0
        >>> line = (np.abs(row - 45) + 0 * column < 2).astype(np.float32)
        >>> without_ring(line, (45.0, 45.0, 20.0)) is line
        True
    """
    along = _along(vessels, disc)
    row, column = np.nonzero(along)
    sector = (np.arctan2(row - disc[0], column - disc[1]) / (2 * np.pi) * _SECTORS).astype(int)
    if len(np.unique(sector % _SECTORS)) < _CLOSED * _SECTORS:
        return vessels
    kept = np.where(along, 0, vessels)
    labels, count = ndimage.label(kept > 0, structure=np.ones((3, 3)))
    if not count:
        return kept
    # crumbs of the ring: what is left of it between vessels
    numbers = np.arange(1, count + 1)
    farthest = ndimage.maximum(_away(vessels.shape, disc), labels, numbers)
    crumbs = numbers[np.asarray(farthest) <= _FAR * disc[2]]
    return np.where(np.isin(labels, crumbs), 0, kept)


def _along(vessels: NDArray[np.float32], disc: tuple[float, float, float]) -> NDArray[np.bool_]:
    """Vessel pixels near the edge of the disc whose line runs along it (structure tensor)."""
    away = _away(vessels.shape, disc)
    near = (vessels > 0) & (away > _NEAR * disc[2]) & (away < _FAR * disc[2])
    if not near.any():
        return near
    fine, coarse = max(1.0, 0.06 * disc[2]), max(1.5, 0.12 * disc[2])
    down, right = (ndimage.gaussian_filter(vessels, fine, order=o) for o in ((1, 0), (0, 1)))
    row, column = np.ogrid[: vessels.shape[0], : vessels.shape[1]]
    outward = (down * (row - disc[0]) + right * (column - disc[1])) / np.maximum(away, 1)
    radial = ndimage.gaussian_filter(outward**2, coarse)
    whole = ndimage.gaussian_filter(down**2 + right**2, coarse)
    lines: NDArray[np.bool_] = near & (radial > _ALONG * whole)
    return lines


def _away(shape: tuple[int, ...], disc: tuple[float, float, float]) -> NDArray[np.float64]:
    row, column = np.ogrid[: shape[0], : shape[1]]
    away: NDArray[np.float64] = np.hypot(row - disc[0], column - disc[1])
    return away
