"""How alike two maps of the same image are, on the pixels that may carry an explanation.

Outside the support all maps of a sparse image agree for free, so every measure here is taken
inside it alone.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from skimage.feature import hog
from skimage.metrics import structural_similarity
from torch import Tensor

from ssplain.errors import SSplainError
from ssplain.explain.stability import Numbers, rank_correlation


def spearman(first: Tensor, second: Tensor, inside: Tensor, *, absolute: bool = False) -> Tensor:
    """Return Spearman's rank correlation of two maps on the support, `(N,)`.

    Args:
        first: `(N, 1, H, W)`.
        second: `(N, 1, H, W)`.
        inside: `(N, 1, H, W)` boolean.
        absolute: compare the maps' magnitudes, so that a change of sign is no change.

    >>> maps = torch.tensor([[[[1.0, -2.0, 3.0, 9.0]]]])
    >>> inside = torch.tensor([[[[True, True, True, False]]]])
    >>> spearman(maps, -maps, inside).item(), spearman(maps, -maps, inside, absolute=True).item()
    (-1.0, 1.0)
    """
    a, b, within = _planes(first, second, inside)
    if absolute:
        a, b = np.abs(a), np.abs(b)
    rows = [np.where(within, side, np.nan).reshape(len(side), -1) for side in (a, b)]
    return torch.from_numpy(rank_correlation(*rows))


def ssim(first: Tensor, second: Tensor, inside: Tensor) -> Tensor:
    """Return the structural similarity of two maps, mean over the support, `(N,)`.

    Maps are stretched to [0, 1] on the support and flat outside. Windows of 7 pixels, 5 for images
    below 64 (Wang et al., IEEE Trans. Image Processing 13, 2004).

    >>> maps = torch.rand(1, 1, 16, 16, generator=torch.Generator().manual_seed(0))
    >>> round(ssim(maps, 5 * maps, maps > 0).item(), 6)
    1.0
    """
    window = 7 if min(first.shape[-2:]) >= 64 else 5

    def alike(a: Numbers, b: Numbers, within: NDArray[np.bool_]) -> float:
        _, local = structural_similarity(a, b, data_range=1, win_size=window, full=True)  # type: ignore[no-untyped-call]
        return float(local[within].mean())

    return _one_by_one(alike, first, second, inside)


def hog_correlation(first: Tensor, second: Tensor, inside: Tensor) -> Tensor:
    """Return the correlation of the maps' histograms of oriented gradients, `(N,)`.

    Nine directions in cells of 8 x 8 pixels (Dalal and Triggs, CVPR 2005), Pearson's correlation of
    the two descriptors; 0 if one of them is constant. Its chance level is high on sparse images,
    whose empty cells always agree: 0.68 for two maps of noise on 50 digits.

    >>> maps = torch.rand(1, 1, 32, 32, generator=torch.Generator().manual_seed(0))
    >>> round(hog_correlation(maps, maps, maps > 0).item(), 6)
    1.0
    """

    def alike(a: Numbers, b: Numbers, _: NDArray[np.bool_]) -> float:
        sides = [hog(side, orientations=9, pixels_per_cell=(8, 8)) for side in (a, b)]
        if min(np.ptp(side) for side in sides) == 0:
            return 0.0
        return float(np.corrcoef(*sides)[0, 1])

    if min(first.shape[-2:]) < 24:
        raise SSplainError(
            f"The maps have {first.shape[-2]} x {first.shape[-1]} pixels and a HOG needs 24 x 24; "
            "use spearman or ssim."
        )
    return _one_by_one(alike, first, second, inside)


def _one_by_one(
    alike: Callable[[Any, Any, Any], float], first: Tensor, second: Tensor, inside: Tensor
) -> Tensor:
    a, b, within = _planes(first, second, inside)
    found = [alike(*row) for row in zip(_unit(a, within), _unit(b, within), within, strict=True)]
    return torch.tensor(found, dtype=torch.float64)


def _planes(
    first: Tensor, second: Tensor, inside: Tensor
) -> tuple[Numbers, Numbers, NDArray[np.bool_]]:
    """Check two sets of maps and return them as `(N, H, W)` arrays."""
    if first.shape != second.shape or first.shape != inside.shape or first.dim() != 4:
        raise SSplainError(
            f"The maps have shapes {tuple(first.shape)} and {tuple(second.shape)}, the support "
            f"{tuple(inside.shape)}; give three of the same (N, 1, H, W)."
        )
    if not bool(torch.isfinite(first).all() and torch.isfinite(second).all()):
        raise SSplainError(
            "A map holds NaN or infinite values; compute it again, or leave that image out."
        )
    a, b, within = (t.detach().cpu()[:, 0].numpy() for t in (first, second, inside))
    return a.astype(np.float64), b.astype(np.float64), within.astype(bool)


def _unit(maps: Numbers, within: NDArray[np.bool_]) -> Numbers:
    """Stretch each map to [0, 1] on the support; a flat one becomes ones.

    Outside it gets its own mean: zeros there would draw the outline of the support, which all maps
    share (two maps of noise on 50 digits: SSIM 0.47 with zeros, 0.00 with the mean).
    """
    low = np.where(within, maps, np.inf).min(axis=(1, 2), keepdims=True)
    high = np.where(within, maps, -np.inf).max(axis=(1, 2), keepdims=True)
    flat = high <= low
    unit = np.where(flat, 1.0, (maps - low) / np.where(flat, 1, high - low))
    mean = np.mean(unit, axis=(1, 2), keepdims=True, where=within)
    filled: Numbers = np.where(within, unit, mean)
    return filled
