"""Photographs as arrays: taken in, brought to one scale, and freed of their lighting."""

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import ndimage
from torch.nn import functional

from ssplain.errors import SSplainError

if TYPE_CHECKING:
    from ssplain.fundus.field import Field

Photo = NDArray[Any] | torch.Tensor
Pixels = NDArray[np.float32]

_COARSE = 8  # lighting is so smooth that it is computed on every eighth pixel


def as_photo(photo: Photo) -> Pixels:
    """Take a photograph as (H, W, 3) floats in [0, 1].

    Args:
        photo: array or tensor, (H, W, 3), (3, H, W), (1, H, W) or (H, W); bytes, or floats in
            [0, 1]. A grey one gets three equal channels, an alpha channel is dropped.

    Raises:
        SSplainError: If it has another shape, is smaller than 32 px, or is not finite in [0, 1].

    Example:
        >>> as_photo(np.full((40, 50), 255, np.uint8)).shape
        (40, 50, 3)
    """
    values = np.asarray(photo.detach().cpu() if isinstance(photo, torch.Tensor) else photo)
    if values.ndim == 2:
        values = values[..., None]
    elif values.ndim == 3 and values.shape[0] in {1, 3, 4} and values.shape[2] not in {1, 3, 4}:
        values = values.transpose(1, 2, 0)
    if values.ndim != 3 or values.shape[2] not in {1, 3, 4}:
        raise SSplainError(
            f"A photograph of shape {tuple(values.shape)} cannot be read; give (H, W, 3) or "
            "(3, H, W)."
        )
    if min(values.shape[:2]) < 32:
        raise SSplainError(
            f"The photograph has {values.shape[1]} x {values.shape[0]} pixels; give one of at "
            "least 32 x 32."
        )
    scale = np.iinfo(values.dtype).max if np.issubdtype(values.dtype, np.integer) else 1
    pixels = values[..., :3].astype(np.float32, copy=False)
    if scale != 1:
        pixels = pixels / np.float32(scale)
    if not (pixels.min() >= 0 and pixels.max() <= 1):  # nor is NaN
        raise SSplainError("The photograph has values outside [0, 1]; give bytes, or scale it.")
    return np.ascontiguousarray(np.broadcast_to(pixels, (*pixels.shape[:2], 3)))


def resized(pixels: Pixels, size: tuple[int, int]) -> Pixels:
    """Bring (H, W, C) pixels to another size, averaging where they shrink.

    Means lie between the values that they are of, and so do these: rounding alone would put
    white at 1.0000001, which is no pixel any more.

    Example:
        >>> resized(np.ones((8, 8, 3), np.float32), (4, 6)).shape
        (4, 6, 3)
    """
    if pixels.shape[:2] == size:
        return pixels
    planes = torch.from_numpy(np.ascontiguousarray(pixels.transpose(2, 0, 1)))[None]
    scaled = functional.interpolate(planes, size=size, mode="bilinear", antialias=True)
    within = scaled[0].clamp_(planes.min(), planes.max())
    return np.ascontiguousarray(within.numpy().transpose(1, 2, 0))


def canonical_size(shape: tuple[int, int], field: "Field", diameter: float) -> tuple[int, int]:
    """Height and width at which the field of view has a diameter.

    Example:
        >>> from ssplain.fundus.field import Field
        >>> canonical_size((90, 120), Field(np.ones((90, 120), bool), 45, 60, 50, True), 200)
        (180, 240)
    """
    scale = diameter / (2 * field.radius)
    return max(16, round(shape[0] * scale)), max(16, round(shape[1] * scale))


def flat(pixels: Pixels, inside: NDArray[np.bool_], reach: float) -> Pixels:
    """Take the lighting and the tint out of a photograph, and even out its contrast.

    Per channel `log(x) - mean(log x)` with a Gaussian mean over `reach` pixels inside the field,
    over the green channel's mean deviation in a neighbourhood three times as wide: one scale
    for all channels, so that colours keep their proportion. Gain and tint cancel out.

    Args:
        pixels: (H, W, 3) in [0, 1].
        inside: (H, W) the field of view.
        reach: deviation of the Gaussian in px.

    Returns:
        (H, W, 3), 0 outside the field.
    """
    log = np.log(pixels + 0.02)
    weight = inside.astype(np.float32)
    rest = log - _mean(log, weight, reach)
    green = np.abs(rest[..., 1:2])  # its mean, not its square's: reflections are few but strong
    spread = _mean(green, weight, 3 * reach)
    typical = float(green[..., 0][inside].mean()) if inside.any() else 1.0
    even = rest / np.maximum(spread, max(0.5 * typical, 0.004))
    return np.where(inside[..., None], np.clip(even, -8, 8), 0).astype(np.float32)


def _mean(values: Pixels, weight: Pixels, sigma: float) -> Pixels:
    """Gaussian mean of (H, W, C) values, counting each pixel by its weight."""
    height, width = weight.shape
    stack = np.concatenate([values * weight[..., None], weight[..., None]], axis=2)
    step = max(1, min(_COARSE, int(sigma / 3)))
    size = -(-height // step), -(-width // step)
    coarse = functional.adaptive_avg_pool2d(torch.from_numpy(stack.transpose(2, 0, 1))[None], size)
    blurred = ndimage.gaussian_filter(
        coarse[0].numpy(), (0, sigma / step, sigma / step), mode="constant", truncate=3
    )
    fine = functional.interpolate(
        torch.from_numpy(blurred)[None], size=(height, width), mode="bilinear", align_corners=False
    )[0].numpy()
    mean: Pixels = (fine[:-1] / np.maximum(fine[-1:], 1e-4)).transpose(1, 2, 0)
    return mean
