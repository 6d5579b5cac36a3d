"""Photographs without their vessels, as a ground to paint known ones on.

What was drawn by hand says where the vessels are; they are filled in from beside, and before they
go it is noted how strongly each region's vessels stood out, so that painted ones can do the same.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

Pixels = NDArray[np.float32]
Mask = NDArray[np.bool_]

_RIM = 3  # pixels beyond a stroke that its vessel may take
_ASTRAY = 6  # pixels by which a stroke may miss its vessel
_DISC = np.hypot(*np.mgrid[-6:7, -6:7]) <= 6  # wider than a vessel
_TYPICAL = np.array([0.03, 0.12, 0.08])  # contrast where no vessel was drawn
_NEAR = 45.0  # pixels over which the vessels' contrast is averaged


@dataclass(frozen=True)
class Ground:
    """A photograph whose drawn vessels were removed.

    Attributes:
        photo: (H, W, 3) in [0, 1].
        inside: (H, W) the field of view.
        contrast: (H, W, 3), `log(ground / vessel)` of the vessels that were nearby, positive.
        doubtful: (H, W), dark lines that nobody drew: fine vessels, or the choroid's.
    """

    photo: Pixels
    inside: Mask
    contrast: Pixels
    doubtful: Mask


def clear(photo: Pixels, strokes: Mask, inside: Mask) -> Ground:
    """Remove the drawn vessels of a photograph.

    Args:
        photo: (H, W, 3) in [0, 1], with a field of view of about 640 px.
        strokes: (H, W) vessels drawn by hand.
        inside: (H, W) the field of view.

    Example:
        >>> photo = np.full((64, 64, 3), 0.6, np.float32)
        >>> photo[30:33] = 0.3
        >>> strokes = np.zeros((64, 64), bool)
        >>> strokes[29:34] = True
        >>> ground = clear(photo, strokes, np.ones((64, 64), bool))
        >>> bool(np.abs(ground.photo - 0.6).max() < 0.01), bool(ground.contrast[8, 8, 1] > 0.5)
        (True, True)
    """
    dark = dark_lines(photo, inside)
    line = dark > threshold(dark, inside)
    hole = ndimage.binary_dilation(strokes, iterations=_RIM)
    beside = ndimage.binary_dilation(strokes, iterations=_ASTRAY)
    hole |= ndimage.binary_dilation(line & beside, iterations=2)
    hole &= inside
    filled = _fill(photo, hole, inside)
    contrast = _contrast(photo, filled, strokes & inside, inside)
    return Ground(filled, inside, contrast, line & ~hole & inside)


def dark_lines(photo: Pixels, inside: Mask) -> Pixels:
    """How much darker than both sides a pixel is, in the logarithm of green, up to 11 px wide.

    Example:
        >>> photo = np.full((40, 40, 3), 0.5, np.float32)
        >>> photo[20] = 0.4
        >>> lines = dark_lines(photo, np.ones((40, 40), bool))
        >>> bool(lines[20, 20] > 0.05), bool(lines[10, 20] < 0.001)
        (True, True)
    """
    green = ndimage.gaussian_filter(np.log(photo[..., 1] + 0.02), 1.0)
    closed = ndimage.grey_closing(green, footprint=_DISC)
    rim = ~ndimage.binary_erosion(inside, iterations=8)
    return np.where(rim, 0, closed - green).astype(np.float32)


def threshold(dark: Pixels, inside: Mask) -> float:
    """Above how much a dark line is no noise: twice the median in the field."""
    return max(0.012, 2.5 * float(np.median(dark[inside]))) if inside.any() else 1.0


def _fill(photo: Pixels, hole: Mask, inside: Mask) -> Pixels:
    """Fill a hole smoothly, and grain it as the surface mirrored at its rim is grained."""
    known = inside & ~hole
    smooth = np.zeros_like(photo)
    left = np.ones(hole.shape, np.float32)
    for sigma in (3, 8, 24, 72):  # as near as there is something known
        weight = _blur(known.astype(np.float32), sigma)
        trust = left * np.clip(weight / 0.2, 0, 1)
        for channel in range(3):
            blurred = _blur(photo[..., channel] * known, sigma)
            smooth[..., channel] += trust * blurred / np.maximum(weight, 1e-6)
        left -= trust
    smooth += left[..., None] * (photo[known].mean(axis=0) if known.any() else 0)
    places = ndimage.distance_transform_edt(~known, return_distances=False, return_indices=True)
    here = np.indices(hole.shape)
    mirror = np.stack(
        [np.clip(2 * p - h, 0, n - 1) for p, h, n in zip(places, here, hole.shape, strict=True)]
    )
    row, column = mirror
    grain = np.where(known[row, column, None], (photo - smooth)[row, column], 0)
    soft = ndimage.gaussian_filter(hole.astype(np.float32), 1.0)[..., None]
    share = np.where(hole[..., None], 1.0, soft)
    filled = photo * (1 - share) + np.clip(smooth + grain, 0, 1) * share
    return np.where(inside[..., None], filled, photo).astype(np.float32)


def _contrast(photo: Pixels, filled: Pixels, strokes: Mask, inside: Mask) -> Pixels:
    """Smooth map of how much darker, per channel, the drawn vessels were than their ground."""
    ratio = np.log((filled + 0.02) / (photo + 0.02))
    blurred = ndimage.gaussian_filter(ratio, (0.7, 0.7, 0))
    green = np.where(strokes, blurred[..., 1], 0)
    # strokes are wider than vessels and stray from them: what stands out most counts most
    ridge = np.where(green >= ndimage.maximum_filter(green, 7), green.clip(0) ** 2, 0)
    weight = _blur(ridge.astype(np.float32), _NEAR)
    total = np.stack([_blur(blurred[..., c] * ridge, _NEAR) for c in range(3)], axis=-1)
    mass = float(ridge.sum())
    typical = (blurred * ridge[..., None]).sum(axis=(0, 1)) / mass if mass else _TYPICAL
    prior = 0.1 * float(weight[inside].mean()) + 1e-9
    contrast = (total + prior * typical) / (weight + prior)[..., None]
    clipped: Pixels = np.clip(contrast, (0.0, 0.03, 0.0), 0.9).astype(np.float32)
    return clipped


def _blur(plane: Pixels, sigma: float) -> Pixels:
    """Gaussian blur; a wide one on blocks of pixels, which costs little and looks the same."""
    step = max(1, int(sigma / 4))
    if step == 1:
        blurred: Pixels = ndimage.gaussian_filter(plane, sigma)
        return blurred
    height, width = plane.shape
    padded = np.pad(plane, ((0, -height % step), (0, -width % step)), mode="edge")
    rows, columns = padded.shape[0] // step, padded.shape[1] // step
    blocks = padded.reshape(rows, step, columns, step).mean(axis=(1, 3))
    coarse = ndimage.gaussian_filter(blocks, sigma / step)
    at = [(np.arange(n) + 0.5) / step - 0.5 for n in (height, width)]
    places = np.meshgrid(*at, indexing="ij")
    fine: Pixels = ndimage.map_coordinates(coarse, places, order=1, mode="nearest")
    return fine
