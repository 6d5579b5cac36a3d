"""Photographs of HVDROPDB that were made into graded examples: what all kinds have in common."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from ssplain.data.hvdropdb import Camera, Eye, Part, eyes
from ssplain.data.simulated import Example, Examples, gathered
from ssplain.errors import SSplainError
from ssplain.progress import Progress
from ssplain.simulate.disease import CLASSES

SPLITS = ("train", "validation", "test")


@dataclass(frozen=True)
class PhotoSeries(ABC):
    """Examples made of photographs, balanced over the classes.

    Attributes:
        split: "train", "validation" or "test"; no photograph is in two of them.
        count: how many.
        home: the folder of HVDROPDB; by default `hvdropdb` in the folder SSPLAIN_DATA names.
        kind: of example, in a word.
        doing: how they are made, in words.
        seed: of what is drawn; each split adds its place.
    """

    split: str
    count: int
    home: Path | None = None
    kind: ClassVar[str]
    doing: ClassVar[str]
    seed: ClassVar[int]

    def __post_init__(self) -> None:
        if self.split not in SPLITS:
            raise SSplainError(
                f"There is no split {self.split!r}; choose one of: {', '.join(SPLITS)}."
            )
        if self.count < 1:
            raise SSplainError(f"{self.count} examples ({self.kind}) are none; give 1 or more.")

    @abstractmethod
    def make(self, number: int, label: int, rng: np.random.Generator) -> Example:
        """Return an example of a class, made of photograph `number`, counted round and round."""

    def __getitem__(self, index: int) -> Example:
        """Return segmented image `index`, label, amount of disease and where it is, at 224 px."""
        if not 0 <= index < self.count:
            raise IndexError(f"photograph {index} of {self.count}")
        rng = np.random.default_rng([self.seed + SPLITS.index(self.split), index])
        return self.make(index // len(CLASSES), index % len(CLASSES), rng)

    def examples(
        self, keep: Path | None = None, workers: int = 1, progress: Progress | None = None
    ) -> Examples:
        """All of them, made now or read from a file (see `ssplain.data.simulated.gathered`)."""
        name = [self.kind, self.split, str(self.count)]

        def tell(done: int) -> None:
            if progress is not None:
                progress(done, self.count, self.doing)

        return gathered(self.__getitem__, self.count, name, keep, workers=workers, progress=tell)


def photographs(home: Path | None, camera: Camera, split: str) -> list[Eye]:
    """Return the photographs of a camera that belong to a split.

    Of those that the vessel network was trained on, every eighth is for validation; those left out
    of its training are for testing.
    """
    part: Part = "test" if split == "test" else "train"
    found = eyes(home, "vessels", camera, part)
    if split == "test":
        return found
    return [eye for i, eye in enumerate(found) if (i % 8 == 0) == (split == "validation")]
