"""Whether what was given as segmented vessels can be vessels at all.

The network grades whatever it is shown: to it, stars and a chessboard were healthy eyes. Vessels
are slender. A branch's length over its calibre, in the mean over the length, is 7.5 or more in 140
segmented eyes (simulated, and drawn by hand with strokes wider than vessels are), 3.7 in a picture
of stars, 4.8 on a chessboard, 5.9 for coins. The mean calibre of those eyes is at most 1.5 % of
the picture's side; a written digit has 7 %.
"""

from ssplain.errors import SSplainError
from ssplain.vessels import VesselTree

_SLENDER = 7.0  # times as long as wide; below, a reader should look again
_STOUT = 5.0  # below, it shows something else
_WIDEST = 0.05  # sides of the picture


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
