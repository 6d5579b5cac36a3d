"""Measures of maps, image by image and in pieces, so that a stopped run goes on where it was."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ssplain.explain.inputs import find_support
from ssplain.metrics import (
    Evaluation,
    balanced_mean,
    evaluate,
    gini,
    rank_pixels,
    roughness,
    spearman,
)
from ssplain.metrics.evaluation import BALANCED
from ssplain.metrics.order import Axis
from ssplain.models.fingerprint import fingerprint, hash_tensor
from ssplain.run import Store
from ssplain.study.scene import Scene
from ssplain.version import __version__

TOP = 0.05  # the share of all pixels that the paper shows


@dataclass(frozen=True, eq=False)
class Measured:
    """What was measured on each image.

    Attributes:
        values: by measure, `(N,)`.
        courses: by measure, `(N, S)`: the curve of each image.
        grid: `(S,)` the steps.
        seconds: what measuring took.
    """

    values: Mapping[str, Tensor]
    courses: Mapping[str, Tensor]
    grid: Tensor
    seconds: float

    @staticmethod
    def join(parts: Sequence["Measured"]) -> "Measured":
        """Put the images of several one after the other."""
        first = parts[0]
        return Measured(
            {name: torch.cat([part.values[name] for part in parts]) for name in first.values},
            {name: torch.cat([part.courses[name] for part in parts]) for name in first.courses},
            first.grid,
            sum(part.seconds for part in parts),
        )

    def evaluation(self, labels: Tensor) -> Evaluation:
        """Return the numbers with the mean curves: balanced over the classes for accuracies."""
        curves = {
            name: balanced_mean(course, labels) if name in BALANCED else course.mean(0)
            for name, course in self.courses.items()
        }
        return Evaluation(self.values, curves, self.grid, labels)


def measure_in_pieces(
    store: Store,
    scene: Scene,
    maps: Tensor,
    *,
    name: str,
    axis: Axis,
    points: int,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Measured:
    """Measure maps a piece at a time; pieces that are in the store are not measured again.

    Args:
        store: where pieces are kept.
        scene: model and images.
        maps: `(N, 1, H, W)`.
        name: of the explainer, for the files.
        axis: of the curves.
        points: of the curves.
        seed: of the order among equal scores.
        progress: called after each piece with the number of images done.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from ssplain.study.scene import bundled_scene
    >>> scene = bundled_scene("mnist", 3)
    >>> with tempfile.TemporaryDirectory() as home:
    ...     found = measure_in_pieces(
    ...         Store(Path(home)), scene, scene.images, name="image", axis="all", points=5
    ...     )
    >>> found.courses["kappa"].shape
    torch.Size([3, 5])
    """
    model, parts = fingerprint(scene.model), []
    for start in range(0, len(maps), scene.piece):
        rows = range(start, min(start + scene.piece, len(maps)))
        chosen = slice(rows.start, rows.stop)
        about = {
            "model": model,
            "images": hash_tensor(scene.images[chosen]),
            "labels": scene.labels[chosen].tolist(),
            "truth": None if scene.truth is None else hash_tensor(scene.truth[chosen]),
            "maps": hash_tensor(maps[chosen]),
            "axis": axis,
            "points": points,
            "seed": seed,
            "version": __version__,
        }
        work = partial(_measure, scene, maps, rows, axis=axis, points=points, seed=seed)
        parts.append(_read(store.once(f"{name}-{axis}", about, work)))
        if progress is not None:
            progress(rows.stop)
    return Measured.join(parts)


def _measure(
    scene: Scene, maps: Tensor, rows: range, *, axis: Axis, points: int, seed: int
) -> dict[str, NDArray[Any]]:
    started = time.perf_counter()
    # one image at a time: the curve of a set of one image is that image's own
    found = [
        evaluate(
            scene.model,
            scene.images[i : i + 1],
            scene.labels[i : i + 1],
            maps[i : i + 1],
            axis=axis,
            points=points,
            truth=None if scene.truth is None else scene.truth[i : i + 1],
            trees=None if scene.truth is None else [scene.tree(i)],
            seed=seed,
        )
        for i in rows
    ]
    arrays = {"grid": found[0].grid.numpy()}
    for name in found[0].values:
        arrays[f"values/{name}"] = torch.cat([one.values[name] for one in found]).numpy()
    for name in found[0].curves:
        arrays[f"courses/{name}"] = torch.stack([one.curves[name] for one in found]).numpy()
    return arrays | {"seconds": np.array(time.perf_counter() - started)}


def _read(arrays: Mapping[str, NDArray[Any]]) -> Measured:
    def below(kind: str) -> dict[str, Tensor]:
        own = (name for name in arrays if name.startswith(kind))
        return {name.removeprefix(kind): torch.from_numpy(arrays[name]) for name in own}

    grid = torch.from_numpy(arrays["grid"])
    return Measured(below("values/"), below("courses/"), grid, float(arrays["seconds"]))


def settled(course: Tensor, grid: Tensor) -> Tensor:
    """Return, `(N,)`, the step from which on each image's verdict is that of the whole image.

    Args:
        course: `(N, S)` of zeros and ones, whether the image is right at each step.
        grid: `(S,)`.

    >>> settled(torch.tensor([[0.0, 1.0, 0.0, 1.0], [1.0, 1.0, 1.0, 1.0]]), torch.arange(4.0))
    tensor([3., 0.])
    """
    same = course == course[:, -1:]
    lasting = same.flip(1).long().cumprod(1).sum(1)
    return grid[len(grid) - lasting]


def with_settled(found: Measured) -> Measured:
    """Add when the insertion has settled to the values."""
    when = settled(found.courses["insertion"], found.grid)
    return replace(found, values={**found.values, "settled": when})


def look_at(images: Tensor, maps: Tensor, first: Tensor) -> dict[str, Tensor]:
    """Return what the maps alone say, `(N,)` each: how they treat the background, and each other.

    `background` is the share of the first pixels (5 % of all, but at most as many as the support
    has) that lie outside the support; `sparsity` is the Gini index over all pixels and `roughness`
    the total variation, both of what speaks for the class, as maps are shown; `agreement` is the
    rank correlation with the maps `first` on the support.

    >>> image = torch.tensor([[[[0.0, 1.0]]]])
    >>> found = look_at(image, 1 - image, image)
    >>> found["background"].item(), found["sparsity"].item()
    (1.0, 0.5)
    """
    inside = find_support(images, "nonzero")
    size = inside.flatten(1).sum(1)
    count = size.clamp(max=max(1, round(TOP * images[0, 0].numel())))
    first_ones = rank_pixels(maps).rank < count[:, None]
    outside = (first_ones & ~inside.flatten(1)).sum(1)
    shown = maps.clamp(min=0)  # below zero SSplain's background has a value of no meaning
    return {
        "background": outside.double() / count,
        "sparsity": gini(shown),
        "roughness": roughness(shown),
        "agreement": spearman(maps, first, inside),
    }
