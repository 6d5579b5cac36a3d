"""Where the ground of a vessel image begins: exactly 0, or what a lossy file has made of it.

A mask that went through JPEG is surrounded by faint ripples, and the output of a network is rarely
exactly 0 anywhere. Traced as they are, the ripples become thousands of branches. They show in the
topology: above a threshold that parts vessels from ground, the number of pieces and holes hardly
changes; below it, it explodes.
"""

from scipy import ndimage

from ssplain.vessels.pose import Plane

LEVELS = (0.02, 0.04, 0.06, 0.08, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)  # of the brightest pixel
MOST = 0.5  # of the pixels: vessels cover less than this
_EIGHT = ndimage.generate_binary_structure(2, 2)


def find_threshold(plane: Plane) -> float:
    """Choose the threshold up to which values are ground.

    The ground is black, and the threshold 0, if less than half of the pixels are above 0 and they
    have at most twice (and 20) as many pieces and holes as those above 0.25. Otherwise it is the
    lowest of `LEVELS` at which pieces and holes are hardly more than at the best of them.

    Args:
        plane: (H, W) image whose largest value is 1.

    Returns:
        The threshold as a share of the brightest pixel; 0 where no level parts the two.

    Example:
        >>> import numpy as np
        >>> plane = np.zeros((64, 64))
        >>> plane[30:34, 4:60] = 1
        >>> find_threshold(plane), find_threshold(np.maximum(plane, 0.03))
        (0.0, 0.04)
    """
    if (plane > 0).mean() <= MOST and _pieces(plane, 0) <= 2 * _pieces(plane, 0.25) + 20:
        return 0.0
    found = {level: _pieces(plane, level) for level in LEVELS if (plane > level).mean() <= MOST}
    best = min(found.values(), default=0)
    return next((level for level, pieces in found.items() if pieces <= 1.2 * best + 2), 0.0)


def _pieces(plane: Plane, level: float) -> int:
    """Count the connected pieces above a level and the holes between them."""
    above = plane > level
    _, pieces = ndimage.label(above, structure=_EIGHT)
    _, holes = ndimage.label(~above)
    return pieces + holes
