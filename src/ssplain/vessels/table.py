"""Vessel trees as tables: one row per branch, and one per planted branch of a simulated image."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from ssplain.errors import SSplainError
from ssplain.vessels.plane import Plane
from ssplain.vessels.tracing import VesselTree

Row = dict[str, float | int | str | None]


@dataclass(frozen=True)
class Truth:
    """What was planted into a simulated image.

    Attributes:
        branch_ids: (H, W) planted branch of every pixel, from 0; -1 off the vessels.
        columns: one value per planted branch, by name; at least `width` and `curvature`.
    """

    branch_ids: NDArray[np.int32]
    columns: Mapping[str, Plane]

    def save(self, path: Path) -> None:
        """Write an .npz file with `branch_ids` and one array per column."""
        arrays: dict[str, Any] = {"branch_ids": self.branch_ids, **self.columns}
        with path.open("wb") as file:
            np.savez_compressed(file, **arrays)

    @staticmethod
    def load(path: Path) -> "Truth":
        """Read what `save` wrote; nothing is unpickled."""
        try:
            with np.load(path, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
        except (OSError, ValueError, EOFError, BadZipFile, AttributeError) as error:
            raise SSplainError(
                f"{path} cannot be read as planted truth ({error}); give an .npz file."
            ) from error
        missing = {"branch_ids", "width", "curvature"} - set(arrays)
        if missing:
            raise SSplainError(
                f"{path} is not planted truth: it has no array {', '.join(sorted(missing))}."
            )
        return Truth(arrays.pop("branch_ids"), arrays)


def branch_rows(tree: VesselTree) -> list[Row]:
    """Make one row per branch; every row says how its curvature was computed.

    Example:
        >>> from ssplain.vessels import trace
        >>> image = np.zeros((20, 60))
        >>> image[8:12, 5:55] = 1
        >>> (row,) = branch_rows(trace(image))
        >>> row["branch"], row["pixels"], row["asd_px"], row["curvature_variant"]
        (1, 200, 3.98, 'robust')
    """
    return [
        {
            "branch": branch.label,
            "length_px": round(branch.length, 2),
            "pixels": branch.pixels,
            "asd_px": round(branch.asd, 3),
            "mean_curvature_per_px": _rounded(branch.mean_curvature),
            "max_curvature_per_px": _rounded(branch.max_curvature),
            "tortuosity": _rounded(branch.tortuosity),
            "generation": branch.generation,
            "curvature_variant": tree.curvature.variant,
            "curvature_sigma_px": round(tree.curvature.sigma, 3),
        }
        for branch in tree.branches
    ]


def planted_rows(tree: VesselTree, truth: Truth) -> list[Row]:
    """Compare planted branches with what was traced of them.

    A traced branch belongs to the planted one that has more than half of its pixels. Side branches
    cut a planted branch into several traced ones: pixels and lengths of these are added up, and
    the curvature is the mean over all their measured pixels.

    Returns:
        One row per planted branch that was found, with the planted values as `planted_...`.

    Example:
        >>> from ssplain.vessels import trace
        >>> image = np.zeros((20, 60))
        >>> image[8:12, 5:55] = 1
        >>> planted = {"width": np.array([4.0]), "curvature": np.array([0.0])}
        >>> (row,) = planted_rows(trace(image), Truth(np.where(image > 0, 0, -1), planted))
        >>> row["planted"], row["branches"], row["asd_px"], row["planted_width"]
        (0, '1', 3.98, 4.0)
    """
    count = len(tree.branches) + 1
    if truth.branch_ids.shape != tree.labels.shape:
        raise SSplainError(
            f"The planted truth has the shape {truth.branch_ids.shape}, the image "
            f"{tree.labels.shape}; give the truth of this image."
        )
    planted = next(iter(truth.columns.values())).size
    overlap = np.zeros((count, planted), dtype=np.intp)
    both = (truth.branch_ids >= 0) & (tree.labels > 0)
    np.add.at(overlap, (tree.labels[both], truth.branch_ids[both]), 1)
    pixels = np.bincount(tree.labels.ravel(), minlength=count)
    owner = np.where(2 * overlap.max(axis=1) > pixels, overlap.argmax(axis=1), -1)
    owner[0] = -1

    rows: list[Row] = []
    for index in np.unique(owner[owner >= 0]).tolist():
        labels = np.flatnonzero(owner == index)
        length = sum(tree.branches[label - 1].length for label in labels)
        measured = tree.curvature.measured & np.isin(tree.labels, labels)
        bend = tree.curvature.values[measured].mean() if measured.any() else np.nan
        row: Row = {
            "planted": index,
            "branches": " ".join(map(str, labels.tolist())),
            "overlap": round(float(overlap[labels, index].sum() / pixels[labels].sum()), 3),
            "length_px": round(length, 2),
            "asd_px": round(float(pixels[labels].sum() / length), 3),
            "mean_curvature_per_px": _rounded(float(bend)),
        }
        rows.append(row | {f"planted_{name}": v[index].item() for name, v in truth.columns.items()})
    return rows


def _rounded(value: float) -> float | None:
    """A table cell: five digits after the point, or nothing where there is no value."""
    return round(value, 5) if np.isfinite(value) else None
