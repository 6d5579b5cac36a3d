"""What cameras and files do to photographs, so that a network learns to see through it."""

import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy.ndimage import gaussian_filter, zoom

Pixels = NDArray[np.float32]


def worn(photo: Pixels, rng: np.random.Generator) -> Pixels:
    """Change light, tint, haze, sharpness, grain and compression of a photograph at random.

    Example:
        >>> photo = np.full((40, 40, 3), 0.5, np.float32)
        >>> other = worn(photo, np.random.default_rng(0))
        >>> other.shape == photo.shape and not np.allclose(other, photo)
        True
    """
    height, width = photo.shape[:2]
    ground = photo.max(axis=2, keepdims=True) > 0.06  # the black surround stays black
    out = photo ** rng.uniform(0.75, 1.4)
    out = out * rng.uniform(0.55, 1.3) * rng.uniform(0.88, 1.12, size=3)
    if rng.random() < 0.4:
        light = zoom(rng.standard_normal((3, 3)), (height / 3, width / 3), order=1)
        out = out * np.exp(0.25 * light)[:height, :width, None]
    if rng.random() < 0.3:
        veil = 1 / (
            1 + np.exp(-2 * zoom(rng.standard_normal((3, 3)), (height / 3, width / 3), order=1))
        )
        veil = rng.uniform(0.1, 0.5) * veil[..., None]
        out = out * (1 - veil) + veil * photo[ground[..., 0]].mean(axis=0)
    out = np.where(ground, out, photo)
    if rng.random() < 0.4:
        sigma = rng.uniform(0.3, 1.1)
        out = gaussian_filter(out, (sigma, sigma, 0))
    if rng.random() < 0.6:
        grain = gaussian_filter(rng.standard_normal(out.shape), (*[rng.uniform(0, 0.8)] * 2, 0))
        out = out + rng.uniform(0.001, 0.008) * grain / max(float(grain.std()), 1e-9)
    out = np.clip(out, 0, 1)
    if rng.random() < 0.4:
        out = _compressed(out, int(rng.integers(65, 96)))
    return out.astype(np.float32)


def _compressed(photo: NDArray[np.floating], quality: int) -> Pixels:
    file = io.BytesIO()
    Image.fromarray(np.rint(255 * photo).astype(np.uint8)).save(file, "JPEG", quality=quality)
    return np.asarray(Image.open(file), np.float32) / np.float32(255)
