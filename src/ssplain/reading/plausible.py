"""Whether what was given as segmented vessels can be vessels at all.

The network grades whatever it is shown: to it, stars and a chessboard were healthy eyes. Vessels
are slender. A branch's length over its calibre, in the mean over the length, is 7.5 or more in 140
segmented eyes (simulated, and drawn by hand with strokes wider than vessels are), 3.7 in a picture
of stars, 4.8 on a chessboard, 5.9 for coins. The mean calibre of those eyes is at most 1.5 % of
the picture's side; a written digit has 7 %.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from skimage.morphology import convex_hull_image

from ssplain.errors import SSplainError
from ssplain.vessels import VesselTree
from ssplain.vessels.ground import MOST

_SLENDER = 7.0  # times as long as wide; below, a reader should look again
_STOUT = 5.0  # below, it shows something else
_WIDEST = 0.05  # sides of the picture
_SHADE = 0.2  # of the brightest: in a grey fundus photograph most pixels are lighter
_UNEVEN = 0.08  # deviation of the ground; grey photographs have 0.12 and more, noisy maps 0.04
_CLOSED = 0.9  # share of their hull that vessels enclose; those of 190 eyes enclose 0.54 at most
_FILLED = 0.5  # share of the longer side; vessels of 190 eyes take 0.56 and more


def slenderness(tree: VesselTree) -> float:
    """Return how many times as long as wide branches are, in the mean over the length.

    >>> import numpy as np
    >>> from ssplain.vessels import trace
    >>> image = np.zeros((64, 64))
    >>> image[30:33, 4:60] = 1
    >>> round(slenderness(trace(image)))
    19
    """
    total = sum(branch.length for branch in tree.branches)
    return sum(b.length**2 / max(b.calibre, 0.5) for b in tree.branches) / max(total, 1e-9)


def check_vessels(tree: VesselTree) -> list[str]:
    """Return what is doubtful about vessels that were given.

    Raises:
        SSplainError: If they cannot be vessels.

    >>> import numpy as np
    >>> from ssplain.vessels import trace
    >>> row, column = np.mgrid[:64, :64] // 16
    >>> check_vessels(trace(((row + column) % 2).astype(float)))
    Traceback (most recent call last):
    ...
    ssplain.errors.SSplainError: This shows no vessels: ...
    """
    times, side = slenderness(tree), max(tree.labels.shape)
    total = sum(branch.length for branch in tree.branches)
    calibre = sum(branch.calibre * branch.length for branch in tree.branches) / max(total, 1e-9)
    shown = (
        f"what is lit is {times:.1f} times as long as wide, {calibre / side:.1%} of the side wide"
    )
    if times < _STOUT or calibre > _WIDEST * side:
        raise SSplainError(
            f"This shows no vessels: {shown}. Give a colour photograph of the fundus, or segmented "
            "vessels, bright on black."
        )
    if times < _SLENDER:
        return [f"These are stout for vessels: {shown}. Is it a segmented eye?"]
    return []


def is_grey_picture(plane: NDArray[np.float64], threshold: float) -> bool:
    """Say whether the ground is light and shade; that of segmentations is black, or flat."""
    light = float((plane > _SHADE).mean()) > MOST
    return light and threshold > 0 and float(plane[plane <= threshold].std()) > _UNEVEN


def odd_layout(vessels: NDArray[np.bool_]) -> list[str]:
    """Say what a segmentation has that the network never saw: a rim, or a broad border."""
    found = []
    within = ndimage.binary_fill_holes(vessels)
    # a rim encloses more than it covers, and hardly less than the hull of all
    if within.sum() > 2 * vessels.sum() and within.sum() > _CLOSED * _hull(vessels).sum():
        found.append(
            "A line runs round all vessels, such as the rim of the field; it was graded as a "
            "vessel, so do not rely on the grade: take it out and read the image again."
        )
    extent = max(np.ptp(at) + 1 for at in np.nonzero(vessels)) / max(vessels.shape)
    if extent < _FILLED:
        found.append(
            f"The vessels take {extent:.0%} of the picture's longer side, and the network knows "
            "eyes that fill it; cut the border off and read the image again."
        )
    return found


def _hull(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    hull: NDArray[np.bool_] = convex_hull_image(mask)  # type: ignore[no-untyped-call]
    return hull
