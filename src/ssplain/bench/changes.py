"""Changes of a segmented eye that no grader would mind, to measure what they do to a network."""

from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, rotate
from scipy.ndimage import zoom as resample
from torch import Tensor

from ssplain.vessels import trace

Plane = NDArray[np.float32]

_GROUND = 0.02  # what a blur or a turn leaves below this is ground
_THIN = 0.5  # the thinner half of the branches
_MISSING = 0.1  # of those


def gain(images: Tensor, factor: float) -> Tensor:
    """Make images brighter or dimmer.

    Example:
        >>> gain(torch.tensor([0.5, 0.9]), 1.6)
        tensor([0.8000, 1.0000])
    """
    return (factor * images).clamp(0, 1)


def gamma(images: Tensor, exponent: float) -> Tensor:
    """Raise values to a power."""
    return images**exponent


def binary(images: Tensor, threshold: float) -> Tensor:
    """Set what is above a threshold to 1 and the rest to 0."""
    return (images > threshold).to(images.dtype)


def cut_off(images: Tensor, threshold: float) -> Tensor:
    """Set what is below a threshold to 0."""
    return torch.where(images >= threshold, images, 0)


def blurred(images: Tensor, sigma: float) -> Tensor:
    """Blur with a Gaussian."""
    return _each(images, lambda image: gaussian_filter(image, sigma))


def turned(images: Tensor, degrees: float) -> Tensor:
    """Turn about the middle."""
    return _each(images, lambda image: rotate(image, degrees, reshape=False, order=1))


def scaled(images: Tensor, factor: float) -> Tensor:
    """Magnify about the middle, or shrink onto a black ground.

    Example:
        >>> float(scaled(torch.ones(1, 1, 20, 20), 0.5).sum())
        100.0
    """

    def one(image: Plane) -> Plane:
        size = image.shape[0]
        new = resample(image, factor, order=1, grid_mode=True, mode="grid-constant")
        if len(new) >= size:
            start = (len(new) - size) // 2
            return new[start : start + size, start : start + size]
        before = (size - len(new)) // 2
        after = size - len(new) - before
        return np.pad(new, ((before, after), (before, after)))

    return _each(images, one)


def thinned(images: Tensor, share: float = _MISSING) -> Tensor:
    """Take a share of the thinner branches away, drawn at random but alike for every call."""

    def one(image: Plane) -> Plane:
        tree = trace(image)
        if not tree.branches:
            return image
        widths = np.array([branch.calibre for branch in tree.branches])
        thin = np.flatnonzero(widths <= np.quantile(widths, _THIN))
        rng = np.random.default_rng(len(widths))
        gone = rng.choice(thin, round(share * len(thin)), replace=False) + 1
        return np.where(np.isin(tree.labels, gone), 0, image)

    return _each(images, one)


def _each(
    images: Tensor,
    change: Callable[[Plane], Plane],
) -> Tensor:
    """Change images (N, 1, H, W) one by one, and keep the ground black."""
    changed = np.stack([change(image) for image in images[:, 0].numpy()])
    kept = np.where(changed > _GROUND, changed, 0).clip(0, 1).astype(np.float32)
    return torch.from_numpy(kept).unsqueeze(1)


CHANGES: dict[str, Callable[[Tensor], Tensor]] = {
    "gain 0.6": partial(gain, factor=0.6),
    "gain 0.8": partial(gain, factor=0.8),
    "gain 1.2": partial(gain, factor=1.2),
    "gain 1.6": partial(gain, factor=1.6),
    "gamma 0.6": partial(gamma, exponent=0.6),
    "gamma 1.6": partial(gamma, exponent=1.6),
    "binary at 0.3": partial(binary, threshold=0.3),
    "cut off below 0.3": partial(cut_off, threshold=0.3),
    "blur of one pixel": partial(blurred, sigma=1.0),
    "turned by 15 degrees": partial(turned, degrees=15.0),
    "scaled by 0.85": partial(scaled, factor=0.85),
    "scaled by 1.15": partial(scaled, factor=1.15),
    "a tenth of the thin branches missing": thinned,
}
