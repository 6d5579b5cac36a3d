"""Simulated fundus images as a data set: training, validation and test series that never meet."""

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from ssplain.data.images import read_image, resize
from ssplain.errors import SSplainError
from ssplain.files import npz_bytes, write_whole
from ssplain.simulate.anatomy import SIZE
from ssplain.simulate.courses import simulate_on_mask
from ssplain.simulate.eye import SimulatedFundus, simulate

# Each split is a series of its own: no tree of one ever occurs in another.
SERIES = {"train": 101, "validation": 102, "test": 103}
MASKS = (".png", ".tif", ".tiff", ".bmp")
STEPS = 128  # planted disease is stored in steps of 1 / 128
Plane = NDArray[np.float32]
Example = tuple[Plane, int, float, Plane]  # image, label, amount of disease, where it is
_CUT = 0.3  # how much of a shrunk pixel must be vessel


class Examples(NamedTuple):
    """Simulated images with what is needed to learn from them.

    Attributes:
        images: (N, 1, H, W) bytes, of which 255 is 1.0.
        labels: (N,) 0 Normal, 1 Pre-plus, 2 Plus.
        amounts: (N,) of disease in the eye.
        relevance: (N, 1, H, W) bytes, strength of the disease at each pixel in steps of 1/128.
    """

    images: torch.Tensor
    labels: torch.Tensor
    amounts: torch.Tensor
    relevance: torch.Tensor

    def and_then(self, more: "Examples") -> "Examples":
        """Return these examples followed by others."""
        return Examples(*(torch.cat(pair) for pair in zip(self, more, strict=True)))


@dataclass(frozen=True)
class SimulatedROP:
    """The first images of a series of simulated fundus images, balanced over the classes.

    Images are made when they are asked for; `examples` makes all of them and can keep them.

    Attributes:
        split: "train", "validation" or "test".
        count: how many images.
        trees: folders of vessel masks whose courses to use, instead of simulated ones. Of each
            folder every fifth mask is for testing and every fifth for validation, so no tree is in
            two splits.

    Example:
        >>> images = SimulatedROP("test", 3)
        >>> image, label = images[2]
        >>> image.shape, label
        (torch.Size([1, 224, 224]), 2)
    """

    split: str
    count: int
    trees: tuple[Path, ...] = ()

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
        if not self.trees:
            return simulate(SERIES[self.split], index)
        return simulate_on_mask(self.mask(index), SERIES[self.split], index)

    def mask(self, index: int) -> NDArray[np.float32]:
        """Return the mask whose courses image `index` has; each grade is planted on it in turn."""
        return self._masks[index // 3 % len(self._masks)]

    @property
    def _name(self) -> list[str]:
        return [self.split, str(self.count), *map(str, self.trees)]

    @cached_property
    def _masks(self) -> list[NDArray[np.float32]]:
        fifths = {"test": (0,), "validation": (1,), "train": (2, 3, 4)}[self.split]
        files = [_files(folder) for folder in self.trees]
        chosen = [path for some in files for i, path in enumerate(some) if i % 5 in fifths]
        if not chosen:
            raise SSplainError(
                f"{' and '.join(map(str, self.trees))} holds {sum(map(len, files))} masks "
                f"({', '.join(MASKS)}), of which none is for the {self.split} split; give at "
                "least 5."
            )
        return [read_mask(path) for path in chosen]

    def examples(
        self,
        keep: Path | None = None,
        workers: int = 1,
        progress: Callable[[int], None] | None = None,
    ) -> Examples:
        """All images, made now or read from a file.

        Args:
            keep: an .npz file: read if it holds exactly these images, else written.
            workers: processes to share the work.
            progress: called with the number of images made so far.

        Example:
            >>> made = SimulatedROP("test", 3).examples()
            >>> made.images.shape, made.images.dtype, made.labels
            (torch.Size([3, 1, 224, 224]), torch.uint8, tensor([0, 1, 2]))
        """
        one = partial(_example, self)
        return gathered(one, self.count, self._name, keep, workers=workers, progress=progress)


def gathered(
    one: Callable[[int], Example],
    count: int,
    name: list[str],
    keep: Path | None = None,
    *,
    workers: int = 1,
    progress: Callable[[int], None] | None = None,
) -> Examples:
    """Make examples, or read them from a file.

    Args:
        one: makes example number i.
        count: how many.
        name: says in words which examples these are.
        keep: an .npz file: read if it holds examples of that name, else written.
        workers: processes to share the work.
        progress: called with the number made so far.
    """
    if keep is not None and keep.exists():
        with np.load(keep, allow_pickle=False) as stored:
            if stored["of"].tolist() == name:
                return Examples(*(torch.from_numpy(stored[part]) for part in Examples._fields))
    images = np.empty((count, 1, SIZE, SIZE), np.uint8)
    relevance = np.empty_like(images)
    labels, amounts = np.empty(count, np.int64), np.empty(count, np.float32)
    with ProcessPoolExecutor(workers) as pool:
        numbers = range(count)
        made = pool.map(one, numbers, chunksize=16) if workers > 1 else map(one, numbers)
        for i, (image, label, amount, ill) in enumerate(made):
            images[i, 0] = np.rint(255 * image)
            labels[i], amounts[i], relevance[i, 0] = label, amount, in_steps(ill)
            if progress is not None:
                progress(i + 1)
    arrays: dict[str, NDArray[Any]] = {
        "images": images,
        "labels": labels,
        "amounts": amounts,
        "relevance": relevance,
    }
    if keep is not None:
        write_whole(keep, npz_bytes(arrays | {"of": np.array(name)}))
    return Examples(*(torch.from_numpy(arrays[part]) for part in Examples._fields))


def read_mask(path: Path) -> NDArray[np.float32]:
    """Read a vessel mask, shrunk to fit a square of 224 pixels without changing its shape.

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
    square = fitted(mask)
    return np.where(square > _CUT, square, 0).astype(np.float32)


def fitted(image: torch.Tensor) -> NDArray[np.float32]:
    """Shrink an image (1, H, W) to fit a square of 224 pixels without changing its shape.

    Example:
        >>> float(fitted(torch.ones(1, 480, 640)).mean())
        0.75
    """
    height, width = image.shape[1:]
    scale = SIZE / max(height, width)
    size = max(1, round(scale * height)), max(1, round(scale * width))
    small = resize(image, size)[0].numpy()
    before = [(SIZE - side) // 2 for side in size]
    around = [(b, SIZE - side - b) for b, side in zip(before, size, strict=True)]
    return np.pad(small, around).astype(np.float32)


def in_steps(relevance: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Strength of disease as bytes, in steps of 1/128; what is above 1.99 is cut off.

    Example:
        >>> in_steps(np.array([0.0, 0.5, 3.0], np.float32))
        array([  0,  64, 255], dtype=uint8)
    """
    return np.rint(np.minimum(STEPS * relevance, 255)).astype(np.uint8)


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise SSplainError(f"There is no folder {folder}; give one of vessel masks.")
    return sorted(path for path in folder.iterdir() if path.suffix.lower() in MASKS)


def _example(images: SimulatedROP, index: int) -> Example:
    fundus = images.truth(index)
    return fundus.image, fundus.label, fundus.amount, fundus.relevance
