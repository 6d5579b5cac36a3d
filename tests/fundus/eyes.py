"""Made-up photographs with known vessels and disc, for tests that run without any data set."""

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from ssplain.simulate.disease import draw_disease
from ssplain.simulate.ground import Ground
from ssplain.simulate.paint import Painted, Place, grown, paint

Pixels = NDArray[np.float32]
DISC = (240.0, 200.0, 24.0)  # row, column, radius


def blank_eye(size: tuple[int, int] = (480, 640), seed: int = 0, disc: bool = True) -> Pixels:
    """An orange fundus on black: vignetted, mottled, grainy, with a yellow disc."""
    rng = np.random.default_rng(seed)
    row, column = np.mgrid[: size[0], : size[1]]
    away = np.hypot(row - size[0] / 2, column - size[1] / 2)
    light = 1.05 - 0.5 * (away / 310) ** 2
    light = light + 0.03 * _unit(gaussian_filter(rng.standard_normal(size), 25))
    photo = np.array([0.8, 0.42, 0.2]) * light[..., None]
    if disc:
        spot = 1 / (
            1 + np.exp((np.hypot(row - DISC[0], (column - DISC[1]) / 0.85) - DISC[2]) / 1.5)
        )
        photo = photo + spot[..., None] * (0.12, 0.3, 0.15)
    photo = photo + 0.008 * rng.standard_normal(photo.shape)
    return np.where((away < 310)[..., None], photo.clip(0, 1), 0).astype(np.float32)


def painted_eye(label: int = 0, seed: int = 0, *, disc: bool = True) -> Painted:
    """A made-up fundus with painted vessels of known width."""
    photo = blank_eye(seed=seed, disc=disc)
    inside = photo.max(axis=2) > 0.1
    contrast = np.broadcast_to(np.array([0.06, 0.25, 0.2], np.float32), photo.shape)
    ground = Ground(photo, inside, contrast, np.zeros(inside.shape, bool))
    rng = np.random.default_rng(seed)
    strands = grown(rng, draw_disease(rng, label), Place(DISC[:2], 2.7, 1))
    return paint(ground, strands, rng)


def _unit(noise: NDArray[np.float64]) -> NDArray[np.float64]:
    unit: NDArray[np.float64] = noise / noise.std()
    return unit
