"""Simulated fundus images as a data set: training, validation and test series that never meet."""

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from ssplain.data.images import read_image, resize
from ssplain.errors import SSplainError
from ssplain.files import npz_bytes, write_whole
from ssplain.simulate.courses import simulate_on_mask
from ssplain.simulate.eye import SimulatedFundus, simulate
from ssplain.simulate.tree import SIZE

# Each split is a series of its own: no tree of one ever occurs in another.
SERIES = {"train": 101, "validation": 102, "test": 103}
MASKS = (".png", ".tif", ".tiff", ".bmp")
_CUT = 0.3  # how much of a shrunk pixel must be vessel


@dataclass(frozen=True)
class SimulatedROP:
    """The first images of a series of simulated fundus images, balanced over the classes.

    Images are made when they are asked for; `tensors` makes all of them and can keep them.

    Attributes:
        split: "train", "validation" or "test".
        count: how many images.
        trees: a folder of vessel masks whose courses to use, instead of simulated ones. Every
            fifth mask is for testing and every fifth for validation, so no tree is in two splits.

    Example:
        >>> images = SimulatedROP("test", 3)
        >>> image, label = images[2]
        >>> image.shape, label
        (torch.Size([1, 224, 224]), 2)
    """

    split: str
    count: int
    trees: Path | None = None

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
        if self.trees is None:
            return simulate(SERIES[self.split], index)
        # All three classes are planted on a tree in turn, so that a tree tells nothing.
        mask = self._masks[index // 3 % len(self._masks)]
        return simulate_on_mask(mask, SERIES[self.split], index)

    @property
    def _name(self) -> list[str]:
        return [self.split, str(self.count), *([str(self.trees)] if self.trees else [])]

    @cached_property
    def _masks(self) -> list[NDArray[np.float32]]:
        if self.trees is None or not self.trees.is_dir():
            raise SSplainError(f"There is no folder {self.trees}; give one of vessel masks.")
        files = sorted(path for path in self.trees.iterdir() if path.suffix.lower() in MASKS)
        fifths = {"test": (0,), "validation": (1,), "train": (2, 3, 4)}[self.split]
        chosen = [path for i, path in enumerate(files) if i % 5 in fifths]
        if not chosen:
            raise SSplainError(
                f"{self.trees} holds {len(files)} masks ({', '.join(MASKS)}), of which none is for "
                f"the {self.split} split; give at least 5."
            )
        return [read_mask(path) for path in chosen]

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
                if stored["of"].tolist() == self._name:
                    return torch.from_numpy(stored["images"]), torch.from_numpy(stored["labels"])
        images = np.empty((self.count, 1, SIZE, SIZE), np.uint8)
        labels = np.empty(self.count, np.int64)
        one = partial(_bytes, self)
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
            of = np.array(self._name)
            write_whole(keep, npz_bytes(dict(images=images, labels=labels, of=of)))  # noqa: C408
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


def read_mask(path: Path) -> NDArray[np.float32]:
    """Reads a vessel mask, shrunk to fit a square of 224 pixels without changing its shape.

    Raises:
        SSplainError: If the file is not a grey image.

    Example:
        >>> import tempfile
        >>> from PIL import Image
        >>> path = Path(tempfile.mkdtemp()) / "mask.png"
        >>> Image.new("1", (640, 480), 1).save(path)
        >>> read_mask(path).shape, float(read_mask(path).mean())
        ((224, 224), 0.75)
    """
    mask = read_image(path)
    if len(mask) != 1:
        raise SSplainError(f"{path} has colours; give a mask, white vessels on black.")
    height, width = mask.shape[1:]
    scale = SIZE / max(height, width)
    size = max(1, round(scale * height)), max(1, round(scale * width))
    small = resize(mask, size)[0].numpy()
    before = [(SIZE - side) // 2 for side in size]
    square = np.pad(small, [(b, SIZE - side - b) for b, side in zip(before, size, strict=True)])
    return np.where(square > _CUT, square, 0).astype(np.float32)


def _bytes(images: SimulatedROP, index: int) -> tuple[NDArray[np.uint8], int]:
    fundus = images.truth(index)
    return np.rint(255 * fundus.image).astype(np.uint8), fundus.label
