"""What vessel measures cost: tracing, calibre and curvature of a 224 x 224 image on one core."""

from collections.abc import Iterator
from statistics import median

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter
from skimage.morphology import skeletonize

from ssplain.bench.timing import in_turn, ratio
from ssplain.vessels import trace

SIZE = 224
ROUNDS = 15


def cases() -> Iterator[dict[str, object]]:
    """Yield one case per method: milliseconds, and how many thinnings of the image that is."""
    image = fan()

    def thin() -> object:
        return skeletonize(image > 0, method="lee")  # type: ignore[no-untyped-call]

    for name, task in (
        ("trace, ASD and curvature", lambda: trace(image)),
        ("the same with raw curvature", lambda: trace(image, variant="raw")),
        ("the same with principal curves", lambda: trace(image, method="principal-curve")),
        ("eigenvectors by an eigensolver", lambda: eigenvectors(image)),
    ):
        spent, base = in_turn(task, thin, repeats=ROUNDS)
        yield {
            "case": name,
            "size": SIZE,
            "branches": len(trace(image).branches),
            "vessel_pixels": int((image > 0).sum()),
            "ms": round(1e3 * median(spent), 2),
            "thinning_ms": round(1e3 * median(base), 2),
            "ratio_to_thinning": round(ratio(spent, base), 1),
        }


def fan(size: int = SIZE, vessels: int = 10) -> NDArray[np.float64]:
    """Draw a soft tree: wavy vessels from one disc, each with side branches.

    Example:
        >>> 30 < len(trace(fan()).branches) < 200
        True
    """
    along = np.linspace(0, 1, 4 * size)
    tree = np.zeros((size, size))
    for index in range(vessels):
        angle = 2 * np.pi * index / vessels + 0.3
        for side, first in ((0.0, 0.05), (0.5, 0.35), (-0.5, 0.5)):
            way = along[along >= first]
            spread = side * (way - first) / (1 - first) + 0.05 * np.sin(30 * way + index)
            radius = 0.46 * size * way
            row = size / 2 + radius * np.sin(angle + spread)
            column = size / 2 + radius * np.cos(angle + spread)
            tree[np.rint(row).astype(int), np.rint(column).astype(int)] = 1
    soft = gaussian_filter(tree, 1.0)
    return np.where(soft > 0.2, soft, 0.0)


def eigenvectors(image: NDArray[np.float64], sigma: float = 2.0) -> object:
    """Find the curvature as a closed form replaces it: by eigenvectors of every Hessian."""
    xx, xy, yy = (gaussian_filter(image, sigma, order=order) for order in ((0, 2), (1, 1), (2, 0)))
    return np.linalg.eigh(np.stack([xx, xy, xy, yy], axis=-1).reshape(-1, 2, 2))
