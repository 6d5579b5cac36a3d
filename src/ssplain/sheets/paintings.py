"""Painted photographs as the grading network gets to see them: segmented, with known disease.

They go the way of a photograph that is read (`ssplain.read`): the vessel network finds what it
finds, and the square around the field of view is brought to the size of the grading network. So
what it learns from, or is tested on, has the gaps, the widths and the softness of what users give.
"""

from functools import cache, cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from ssplain.data.hvdropdb import CAMERAS
from ssplain.data.simulated import Example
from ssplain.fundus.frame import Frame
from ssplain.fundus.segment import DIAMETER
from ssplain.sheets.series import PhotoSeries, photographs
from ssplain.sheets.shot import Shot
from ssplain.sheets.strokes import ground_of
from ssplain.simulate.anatomy import SIZE
from ssplain.simulate.disease import draw_disease
from ssplain.simulate.ground import Ground
from ssplain.simulate.paint import Painted, Place, grown, paint

_NEAR = 2.0  # pixels over which planted disease reaches, for what is found lies beside the truth


class PaintedROP(PhotoSeries):
    """Trees painted into photographs and segmented; no tree is in two splits.

    Example:
        >>> PaintedROP("test", 6).examples().images.shape  # doctest: +SKIP
        torch.Size([6, 1, 224, 224])
    """

    kind, doing, seed = "painted", "painting", 301

    @cached_property
    def grounds(self) -> list[Ground]:
        """The photographs of the split without their vessels."""
        return list(_grounds(self.home, self.split))

    def make(self, number: int, label: int, rng: np.random.Generator) -> Example:
        """Paint a tree into a photograph and segment it."""
        painted, amount = painted_eye(self.grounds[number % len(self.grounds)], rng, label)
        image, relevance = as_graded(painted)
        return image, label, amount, relevance


def painted_eye(ground: Ground, rng: np.random.Generator, label: int) -> tuple[Painted, float]:
    """Paint a tree of a grade into a photograph; returns it with the amount of disease."""
    height, width = ground.inside.shape
    disc = float(rng.uniform(0.35, 0.65) * height), float(rng.uniform(0.2, 0.8) * width)
    side = 1 if disc[1] < width / 2 else -1
    disease = draw_disease(rng, label)
    strands = grown(rng, disease, Place(disc, DIAMETER / SIZE, side))
    return paint(ground, strands, rng), disease.amount


def as_graded(painted: Painted) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return a painted photograph as `ssplain.read` gives it to the network, and its disease.

    Returns:
        (224, 224) segmented vessels in [0, 1], and the strength of disease on them.
    """
    shot = Shot.of(painted.photo)
    frame = Frame.of_field(shot.view, SIZE)
    lit = (painted.vessels > 0).astype(np.float32)
    ill, near = (gaussian_filter(plane, _NEAR) for plane in (lit * painted.relevance, lit))
    ill, near = (frame.to_network(plane)[0].numpy() for plane in (ill, near))
    relevance = np.where((shot.image > 0) & (near > 1e-3), ill / np.maximum(near, 1e-3), 0)
    return shot.image, relevance.astype(np.float32)


@cache
def _grounds(home: Path | None, split: str) -> tuple[Ground, ...]:
    return tuple(ground_of(eye) for camera in CAMERAS for eye in photographs(home, camera, split))
