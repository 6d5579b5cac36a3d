"""From a mask to its skeleton: cleaning, thinning, and which skeleton pixels are neighbours."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from skimage.morphology import skeletonize

from ssplain.vessels.pose import Plane

HOLE = 20  # px: a hole of at most this size in a wide vessel is noise, not the eye of a loop;
PINHOLE = 2  # px: between thin vessels, one of at most this size
SPECK = 30  # px: a component of at most this size is noise, not a vessel,
LINE = 12  # px: unless it is as long as this
ROUGH = 2  # px: what stands out from a wide vessel by no more is its rough edge
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

    Vessels less than 3 px wide do not survive the blur, or in pieces only; they come back as they
    are where they are more than the rough edge of a wide vessel.

    Example:
        >>> mask = np.zeros((20, 40), dtype=bool)
        >>> mask[4:10] = mask[10:, 20] = mask[3, 30] = True  # wide vessel, capillary, rough edge
        >>> smooth = smooth_mask(mask)
        >>> bool(smooth[10:, 20].all()), bool(smooth[3, 30])
        (True, False)
    """
    wide = ndimage.binary_opening(np.pad(mask, 1, mode="edge"), _EIGHT)[1:-1, 1:-1]
    blurred = ndimage.gaussian_filter(mask.astype(np.float64), 1.0, mode="nearest") > 0.5
    return _without_specks(_filled(blurred | _thin(mask, wide), wide))


def _thin(mask: NDArray[np.bool_], wide: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the vessels that are nowhere wide, up to where they join one that is."""
    edge = ndimage.binary_dilation(wide, _EIGHT, iterations=ROUGH)
    thin = _larger_than(mask & ~edge, ROUGH, _EIGHT)
    return mask & ndimage.binary_dilation(thin, _EIGHT, iterations=ROUGH)


def _filled(mask: NDArray[np.bool_], wide: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Fill pinholes, and small holes in wide vessels; between thin ones they are a loop's eye."""
    holes, count = ndimage.label(~mask, structure=_FOUR)
    sizes = np.bincount(holes.ravel(), minlength=count + 1)
    small = sizes <= HOLE
    rim = ndimage.maximum_filter(np.where(small[holes], holes, 0), footprint=_EIGHT)
    rim[~mask] = 0
    walls = np.bincount(rim.ravel(), minlength=count + 1)
    firm = np.bincount(rim.ravel(), wide.ravel(), minlength=count + 1)
    filled = small & ((sizes <= PINHOLE) | (2 * firm > walls))
    filled[0] = False
    return mask | filled[holes]


def _without_specks(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Drop what has few pixels, unless they lie in a line."""
    labels, _ = ndimage.label(mask, structure=_EIGHT)
    large = np.bincount(labels.ravel()) > SPECK
    large[0] = False
    for label, box in enumerate(ndimage.find_objects(labels), start=1):
        large[label] |= max(side.stop - side.start for side in box) >= LINE
    return large[labels]


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
