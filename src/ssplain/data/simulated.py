"""Simulated fundus images as a data set: training, validation and test series that never meet."""

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from ssplain.errors import SSplainError
from ssplain.vessels.simulate import SimulatedFundus, simulate

# Each split is a series of its own: no tree of one ever occurs in another.
SERIES = {"train": 101, "validation": 102, "test": 103}


@dataclass(frozen=True)
class SimulatedROP:
    """The first images of a series of simulated fundus images, balanced over the classes.

    Images are made when they are asked for; `tensors` makes all of them and can keep them.

    Attributes:
        split: "train", "validation" or "test".
        count: how many images.

    Example:
        >>> images = SimulatedROP("test", 3)
        >>> image, label = images[2]
        >>> image.shape, label
        (torch.Size([1, 224, 224]), 2)
    """

    split: str
    count: int

    def __post_init__(self) -> None:
        if self.split not in SERIES:
            raise SSplainError(
                f"There is no split {self.split!r}; choose one of: {', '.join(SERIES)}."
            )
        if self.count < 1:
            raise SSplainError(f"Cannot simulate {self.count} images; give 1 or more.")

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        fundus = self.truth(index)
        return torch.from_numpy(fundus.image).unsqueeze(0), fundus.label

    def truth(self, index: int) -> SimulatedFundus:
        """Image number `index` with everything that is known about it."""
        if not 0 <= index < self.count:
            raise IndexError(f"image {index} of {self.count}")
        return simulate(SERIES[self.split], index)

    def tensors(
        self,
        keep: Path | None = None,
        workers: int = 1,
        progress: Callable[[int], None] | None = None,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """All images as bytes (N, 1, H, W), of which 255 is 1.0, and their labels (N,).

        Args:
            keep: an .npz file: read if it holds exactly these images, else written.
            workers: processes to share the work.
            progress: called with the number of images made so far.

        Example:
            >>> images, labels = SimulatedROP("test", 3).tensors()
            >>> images.shape, images.dtype, labels
            (torch.Size([3, 1, 224, 224]), torch.uint8, tensor([0, 1, 2]))
        """
        if keep is not None and keep.exists():
            with np.load(keep, allow_pickle=False) as stored:
                if stored["of"].tolist() == [self.split, str(self.count)]:
                    return torch.from_numpy(stored["images"]), torch.from_numpy(stored["labels"])
        images = np.empty((self.count, 1, 224, 224), np.uint8)
        labels = np.empty(self.count, np.int64)
        one = partial(_bytes, SERIES[self.split])
        with ProcessPoolExecutor(workers) as pool:
            made = (
                pool.map(one, range(self.count), chunksize=16)
                if workers > 1
                else map(one, range(self.count))
            )
            for i, (image, label) in enumerate(made):
                images[i, 0], labels[i] = image, label
                if progress is not None:
                    progress(i + 1)
        if keep is not None:
            partial_file = keep.with_name(f"{keep.name}.partial")
            with partial_file.open("wb") as file:
                np.savez_compressed(
                    file, images=images, labels=labels, of=np.array([self.split, str(self.count)])
                )
            partial_file.replace(keep)
        return torch.from_numpy(images), torch.from_numpy(labels)


def turn_and_flip(images: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Give every image of a batch (N, C, H, H) one of the eight symmetries of the square.

    Quarter turns and mirror images move pixels without mixing them, so edges stay as soft as they
    were and the background stays exactly zero. A mirror image turns a left eye into a right eye.

    Example:
        >>> batch = turn_and_flip(torch.arange(4.0).reshape(1, 1, 2, 2), torch.Generator())
        >>> batch.flatten().sort().values
        tensor([0., 1., 2., 3.])
    """
    symmetry = torch.randint(8, (len(images),), generator=generator)
    turned = torch.empty_like(images)
    for number in range(8):
        chosen = symmetry == number
        batch = torch.rot90(images[chosen], number % 4, (2, 3))
        turned[chosen] = batch.flip(3) if number >= 4 else batch
    return turned


def _bytes(seed: int, index: int) -> tuple[NDArray[np.uint8], int]:
    fundus = simulate(seed, index)
    return np.rint(255 * fundus.image).astype(np.uint8), fundus.label
