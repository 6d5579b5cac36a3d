"""Painted photographs as the grading network gets to see them: segmented, with known disease.

They go the way of a photograph that is read (`ssplain.read`): the vessel network finds what it
finds, and the square around the field of view is brought to the size of the grading network. So
what it learns from, or is tested on, has the gaps, the widths and the softness of what users give.
"""

from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from ssplain.data.hvdropdb import CAMERAS, Part, eyes
from ssplain.data.simulated import Example, Examples, gathered
from ssplain.errors import SSplainError
from ssplain.fundus.frame import Frame
from ssplain.fundus.segment import DIAMETER
from ssplain.progress import Progress
from ssplain.sheets.shot import Shot
from ssplain.sheets.strokes import ground_of
from ssplain.simulate.anatomy import SIZE
from ssplain.simulate.disease import CLASSES, draw_disease
from ssplain.simulate.ground import Ground
from ssplain.simulate.paint import Painted, Place, grown, paint

# Photographs and trees of each split are its own. Of those that the vessel network was trained on,
# every eighth is for validation; those left out of its training are for testing.
_SERIES = {"train": 301, "validation": 302, "test": 303}
_NEAR = 2.0  # pixels over which planted disease reaches, for what is found lies beside the truth


@dataclass(frozen=True)
class PaintedROP:
    """Trees painted into photographs and segmented, balanced over the classes.

    Attributes:
        split: "train", "validation" or "test"; no photograph and no tree is in two of them.
        count: how many.
        home: the folder of HVDROPDB; by default `hvdropdb` in the folder SSPLAIN_DATA names.

    Example:
        >>> PaintedROP("test", 6).examples().images.shape  # doctest: +SKIP
        torch.Size([6, 1, 224, 224])
    """

    split: str
    count: int
    home: Path | None = None

    def __post_init__(self) -> None:
        if self.split not in _SERIES:
            raise SSplainError(
                f"There is no split {self.split!r}; choose one of: {', '.join(_SERIES)}."
            )
        if self.count < 1:
            raise SSplainError(f"Cannot paint {self.count} photographs; give 1 or more.")

    @cached_property
    def grounds(self) -> list[Ground]:
        """The photographs of the split without their vessels."""
        return list(_grounds(self.home, self.split))

    def __getitem__(self, index: int) -> Example:
        """Return segmented image `index`, label, amount of disease and where it is, at 224 px."""
        if not 0 <= index < self.count:
            raise IndexError(f"photograph {index} of {self.count}")
        rng = np.random.default_rng([_SERIES[self.split], index])
        ground = self.grounds[index // len(CLASSES) % len(self.grounds)]
        painted, amount = painted_eye(ground, rng, index % len(CLASSES))
        image, relevance = as_graded(painted)
        return image, index % len(CLASSES), amount, relevance

    def examples(
        self, keep: Path | None = None, workers: int = 1, progress: Progress | None = None
    ) -> Examples:
        """All of them, made now or read from a file (see `ssplain.data.simulated.gathered`)."""
        name = ["painted", self.split, str(self.count)]

        def tell(done: int) -> None:
            if progress is not None:
                progress(done, self.count, "painting")

        return gathered(self.__getitem__, self.count, name, keep, workers=workers, progress=tell)


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
    part: Part = "test" if split == "test" else "train"
    found = [eye for camera in CAMERAS for eye in eyes(home, "vessels", camera, part)]
    if split != "test":
        found = [eye for i, eye in enumerate(found) if (i % 8 == 0) == (split == "validation")]
    return tuple(map(ground_of, found))
