"""Sheets: photographs to learn from, with what is known of each pixel, cut into patches."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

_FULL = 0.7  # share of patches that are looked for where much is to be found
_RICH = 0.04  # share of their pixels


@dataclass(frozen=True)
class Sheet:
    """One photograph to learn from.

    Attributes:
        image: (3, H, W) float16, the network's input.
        target: (maps, H, W) float16, what each map should say of each pixel.
        weight: (maps, H, W) float16, how much that counts; 0 where it is not known.
        line: (H, W), lines along which a vessel has to be found.
    """

    image: NDArray[np.float16]
    target: NDArray[np.float16]
    weight: NDArray[np.float16]
    line: NDArray[np.bool_]


class Pool:
    """Sheets at hand. Epoch e has numbers `fresh * e` and the next `size` of an endless series.

    Args:
        make: makes sheet number i.
        seed: fixes where patches are cut.
        side: of the patches, in px.
        size: how many sheets are at hand.
        fresh: how many of them are new in each epoch.
        batch: patches per batch.
    """

    def __init__(
        self,
        make: Callable[[int], Sheet],
        seed: int,
        *,
        side: int,
        size: int = 60,
        fresh: int = 6,
        batch: int = 8,
    ) -> None:
        self._make, self._seed = make, seed
        self._side, self._size, self._fresh, self._batch = side, size, fresh, batch
        self._sheets: dict[int, Sheet] = {}

    def batches(self, epoch: int) -> Iterator[tuple[torch.Tensor, ...]]:
        """Batches of an epoch without end: images, targets, weights, lines."""
        numbers = range(self._fresh * epoch, self._fresh * epoch + self._size)
        self._sheets = {i: self._sheets.get(i) or self._make(i) for i in numbers}
        at_hand = list(self._sheets.values())
        rng = np.random.default_rng([self._seed, epoch, 1])
        while True:
            yield patches(at_hand, self._batch, self._side, rng)


def as_sheet(
    image: NDArray[np.floating],
    target: Sequence[NDArray[np.floating]],
    weight: Sequence[NDArray[np.floating]],
    line: NDArray[np.bool_] | None = None,
) -> Sheet:
    """Pack what is to be learned from one photograph (H, W, 3), map by map."""
    half = np.float16
    return Sheet(
        np.ascontiguousarray(image.transpose(2, 0, 1)).astype(half),
        np.stack(target).astype(half),
        np.stack(weight).astype(half),
        np.zeros(image.shape[:2], bool) if line is None else line,
    )


def patches(
    sheets: Sequence[Sheet], count: int, side: int, rng: np.random.Generator
) -> tuple[torch.Tensor, ...]:
    """Cut square patches from sheets, turned and mirrored: image, target, weight, line."""
    cut = [_patch(sheets[int(rng.integers(len(sheets)))], side, rng) for _ in range(count)]
    return tuple(torch.from_numpy(np.stack(part)).float() for part in zip(*cut, strict=True))


def _patch(page: Sheet, side: int, rng: np.random.Generator) -> list[NDArray[np.float16]]:
    height, width = page.line.shape
    full = rng.random() < _FULL
    for _ in range(6):  # rather where there is something to learn
        row, column = rng.integers(height - side + 1), rng.integers(width - side + 1)
        window = np.s_[..., row : row + side, column : column + side]
        seen = page.weight[window][-1].mean(dtype=np.float32) > 0.6
        if seen and (not full or page.target[window][-1].mean(dtype=np.float32) > _RICH):
            break
    planes = (
        page.image[window],
        page.target[window],
        page.weight[window],
        page.line[window][None],
    )
    turns, mirrored = int(rng.integers(4)), rng.random() < 0.5
    turned = [np.rot90(plane, turns, axes=(1, 2)) for plane in planes]
    return [np.ascontiguousarray(plane[..., ::-1] if mirrored else plane) for plane in turned]
