"""From a mask to its skeleton: cleaning, thinning, and which skeleton pixels are neighbours."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from skimage.morphology import skeletonize

from ssplain.vessels.plane import Plane

HOLE = 20  # px: a hole of at most this size is noise, not the eye of a vessel loop
SPECK = 30  # px: a component of at most this size is noise, not a vessel
_EIGHT = ndimage.generate_binary_structure(2, 2)  # vessel pixels touch at corners too,
_FOUR = ndimage.generate_binary_structure(2, 1)  # so the background around them does not


@dataclass(frozen=True)
class Centreline:
    """Samples on the middle of the vessels and what surrounds them.

    Attributes:
        vessel: (H, W) pixels of the vessels, specks left out.
        distance: (H, W) distance to the nearest pixel outside the smoothed vessels.
        points: (n, 2) samples (row, column).
        pairs: (m, 2) which of them are neighbours.
    """

    vessel: NDArray[np.bool_]
    distance: Plane
    points: Plane
    pairs: NDArray[np.intp]

    @property
    def radii(self) -> Plane:
        """(n,) distance to the background at the samples."""
        row, column = np.rint(self.points).astype(np.intp).T
        radii: Plane = self.distance[row, column]
        return radii

    @property
    def radius(self) -> float:
        """The typical half-width of a vessel: the median of the radii, 0 without vessels."""
        return float(np.median(self.radii)) if len(self.points) else 0.0


def skeletonise(mask: NDArray[np.bool_]) -> Centreline:
    """Thin a vessel mask to its centreline.

    The mask is smoothed before it is thinned: noise on the boundary grows a forest of spurs that
    no later pruning can tell from capillaries.

    Args:
        mask: (H, W) vessel pixels.

    Returns:
        The centreline pixels, in scan order, with their neighbours.

    Example:
        >>> mask = np.zeros((9, 40), dtype=bool)
        >>> mask[2:7, 2:38] = True
        >>> found = skeletonise(mask)
        >>> np.unique(found.points[:, 0]), found.radius
        (array([4.]), 3.0)
    """
    smooth = smooth_mask(mask)
    # a ring of background, so that a vessel that fills the image has a distance too
    distance = ndimage.distance_transform_edt(np.pad(smooth, 1))[1:-1, 1:-1]
    # not the default method (Zhang): it eats whole diagonal vessels of even width
    thin: NDArray[np.bool_] = skeletonize(smooth, method="lee")  # type: ignore[no-untyped-call]
    return Centreline(
        vessel=mask & _touching(mask, smooth),
        distance=distance,
        points=np.argwhere(thin).astype(np.float64),
        pairs=neighbours(thin),
    )


def smooth_mask(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Round the boundary off by a 1 px blur, fill small holes, and drop specks.

    A line one pixel wide does not survive the blur; what the blur takes away comes back where it
    is larger than a speck.
    """
    blurred = ndimage.gaussian_filter(mask.astype(np.float64), 1.0, mode="nearest") > 0.5
    smooth = blurred | _larger_than(mask & ~blurred, SPECK, _EIGHT)
    filled = ~_larger_than(~smooth, HOLE, _FOUR)
    return _larger_than(filled, SPECK, _EIGHT)


def neighbours(thin: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Pair the 8-neighbours of a skeleton, without the false triangles at its corners.

    A diagonal is left out where its two pixels share a 4-neighbour: the way through that
    neighbour already joins them, and the short cut would make a junction of every corner.

    Returns:
        (m, 2) indices into the pixels of `thin` in scan order.

    Example:
        >>> neighbours(np.array([[1, 0, 0], [1, 1, 0], [0, 0, 1]], dtype=bool))
        array([[1, 2],
               [0, 1],
               [2, 3]])
    """
    padded = np.pad(thin, 1)
    index = np.cumsum(padded).reshape(padded.shape) - 1
    here = padded[1:-1, 1:-1]
    below, right = padded[2:, 1:-1], padded[1:-1, 2:]
    left = padded[1:-1, :-2]
    steps = (
        (right, (1, 2)),
        (below, (2, 1)),
        (padded[2:, 2:] & ~below & ~right, (2, 2)),
        (padded[2:, :-2] & ~below & ~left, (2, 0)),
    )
    rows, columns = thin.shape
    pairs = []
    for there, (row, column) in steps:
        both = here & there
        target = index[row : row + rows, column : column + columns]
        pairs.append(np.stack([index[1:-1, 1:-1][both], target[both]], axis=1))
    return np.concatenate(pairs)


def _larger_than(
    mask: NDArray[np.bool_], size: int, structure: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Keep the connected components of more than `size` pixels."""
    labels, _ = ndimage.label(mask, structure=structure)
    large = np.bincount(labels.ravel()) > size
    large[0] = False
    return large[labels]


def _touching(mask: NDArray[np.bool_], seeds: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Keep the 8-connected components of `mask` that hold a seed."""
    labels, count = ndimage.label(mask, structure=_EIGHT)
    seen = np.zeros(count + 1, dtype=bool)
    seen[labels[seeds]] = True
    seen[0] = False
    return seen[labels]
