"""Vessel trees as tables: one row per branch, and one per planted branch of a simulated image."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from ssplain.errors import SSplainError
from ssplain.files import npz_bytes, write_whole
from ssplain.vessels.pose import Plane
from ssplain.vessels.tracing import VesselTree

Row = dict[str, float | int | str | None]


@dataclass(frozen=True)
class Planted:
    """What was planted into a simulated image.

    Attributes:
        branch_ids: (H, W) planted branch of every pixel, from 0; -1 off the vessels.
        columns: one value per planted branch, by name; at least `width` and `curvature`.
        maps: (H, W) `width`, `dilation` and `curvature` at every pixel, those that are known.
    """

    branch_ids: NDArray[np.int32]
    columns: Mapping[str, NDArray[Any]]
    maps: Mapping[str, Plane] = field(default_factory=dict)

    def save(self, path: Path) -> None:
        """Write an .npz file with `branch_ids`, one array per column, and the maps as `map_...`."""
        maps = {f"map_{name}": values for name, values in self.maps.items()}
        arrays: dict[str, Any] = {"branch_ids": self.branch_ids, **self.columns, **maps}
        write_whole(path, npz_bytes(arrays))

    @staticmethod
    def load(path: Path) -> "Planted":
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
        maps = {name: arrays.pop(name) for name in list(arrays) if name.startswith("map_")}
        ids = arrays.pop("branch_ids")
        return Planted(ids, arrays, {k.removeprefix("map_"): v for k, v in maps.items()})


def branch_rows(tree: VesselTree, truth: Planted | None = None) -> list[Row]:
    """Make one row per branch; every row says how its curvature was computed.

    Args:
        tree: what was traced.
        truth: adds what was planted at the pixels of each branch, if it has maps.

    Example:
        >>> from ssplain.vessels import trace
        >>> image = np.zeros((20, 60))
        >>> image[8:12, 5:55] = 1
        >>> (row,) = branch_rows(trace(image))
        >>> row["branch"], row["pixels"], row["asd_px"], row["curvature_variant"]
        (1, 200, 3.98, 'robust')
    """
    planted = _PlantedHere.of(tree, truth) if truth else _PlantedHere()
    return [
        {
            "branch": branch.label,
            "length_px": round(branch.length, 2),
            "pixels": branch.pixels,
            "asd_px": round(branch.asd, 3),
            "calibre_px": round(branch.calibre, 3),
            "mean_curvature_per_px": _rounded(branch.mean_curvature),
            "max_curvature_per_px": _rounded(branch.max_curvature),
            "arc_over_chord": _rounded(branch.arc_over_chord),
            "tortuosity": _rounded(branch.tortuosity),
            "generation": branch.generation,
            "counted": "yes" if counted else "no",
            "curvature_variant": tree.curvature.variant,
            "curvature_axis": tree.curvature.axis,
            "curvature_scale": "local" if tree.curvature.local else "common",
            "curvature_sigma_px": round(tree.curvature.sigma, 3),
            "threshold": tree.threshold,
        }
        | planted.row([branch.label])
        for branch, counted in zip(tree.branches, tree.counted, strict=True)
    ]


def planted_rows(tree: VesselTree, truth: Planted) -> list[Row]:
    """Compare planted branches with what was traced of them.

    A traced branch belongs to the planted one that has more than half of its pixels. Side branches
    cut a planted branch into several traced ones: areas and lengths of these are added up, and
    the curvature is the mean over all their pixels that are clear of junctions and ends.

    Returns:
        One row per planted branch that was found, with the planted values as `planted_...`; width,
        dilation and curvature are those of the very pixels that were traced if the truth has maps
        of them.

    Example:
        >>> from ssplain.vessels import trace
        >>> image = np.zeros((20, 60))
        >>> image[8:12, 5:55] = 1
        >>> planted = {"width": np.array([4.0]), "curvature": np.array([0.0])}
        >>> (row,) = planted_rows(trace(image), Planted(np.where(image > 0, 0, -1), planted))
        >>> row["planted"], row["branches"], row["asd_px"], row["planted_width"]
        (0, '1', 3.98, 4.0)
    """
    check_shape(tree, truth)
    count = len(tree.branches) + 1
    planted = next(iter(truth.columns.values())).size
    overlap = np.zeros((count, planted), dtype=np.intp)
    both = (truth.branch_ids >= 0) & (tree.labels > 0)
    np.add.at(overlap, (tree.labels[both], truth.branch_ids[both]), 1)
    pixels = np.bincount(tree.labels.ravel(), minlength=count)
    owner = np.where(2 * overlap.max(axis=1) > pixels, overlap.argmax(axis=1), -1)
    owner[0] = -1

    planted_here = _PlantedHere.of(tree, truth)
    rows: list[Row] = []
    for index in np.unique(owner[owner >= 0]).tolist():
        labels = np.flatnonzero(owner == index)
        traced = [tree.branches[label - 1] for label in labels]
        length = sum(branch.length for branch in traced)
        area = sum(branch.calibre * branch.length for branch in traced)
        clear = tree.curvature.clear & np.isin(tree.labels, labels)
        row: Row = {
            "planted": index,
            "branches": " ".join(map(str, labels.tolist())),
            "overlap": round(float(overlap[labels, index].sum() / pixels[labels].sum()), 3),
            "length_px": round(length, 2),
            "asd_px": round(float(pixels[labels].sum() / length), 3),
            "calibre_px": round(area / length, 3),
            "mean_curvature_per_px": _mean(tree.curvature.values, clear),
        }
        row |= {f"planted_{name}": v[index].item() for name, v in truth.columns.items()}
        rows.append(row | planted_here.row(labels.tolist()))
    return rows


@dataclass(frozen=True)
class _PlantedHere:
    """What was planted where branches were traced: totals by name, one value per label.

    Width and dilation are means along the vessel, to which a pixel where it is w wide adds 1 / w px
    of length; the curvature is the mean over the pixels that have a measured one to compare with.
    """

    totals: Mapping[str, tuple[Plane, Plane]] = field(default_factory=dict)  # dividend and divisor

    @staticmethod
    def of(tree: VesselTree, truth: Planted) -> "_PlantedHere":
        check_shape(tree, truth)
        drawn = truth.branch_ids >= 0

        def total(where: NDArray[np.bool_], values: Plane) -> Plane:
            found = np.bincount(tree.labels[where], values[where], len(tree.branches) + 1)
            return found.astype(np.float64)

        one = np.ones(drawn.shape)
        clear = drawn & tree.curvature.clear
        totals = {}
        if "width" in truth.maps:
            share = np.divide(1, truth.maps["width"], out=np.zeros_like(one), where=drawn)
            totals["planted_width"] = total(drawn, one), total(drawn, share)
            if "dilation" in truth.maps:
                dilated = truth.maps["dilation"] * share
                totals["planted_dilation"] = total(drawn, dilated), total(drawn, share)
        if "curvature" in truth.maps:
            totals["planted_curvature"] = total(clear, truth.maps["curvature"]), total(clear, one)
        return _PlantedHere(totals)

    def row(self, labels: list[int]) -> Row:
        """Return the means over some branches, None where there is no pixel."""
        return {
            name: _rounded(float(above[labels].sum() / below[labels].sum()))
            if below[labels].any()
            else None
            for name, (above, below) in self.totals.items()
        }


def check_shape(tree: VesselTree, truth: Planted) -> None:
    """Complain unless the truth is of an image of this size."""
    if truth.branch_ids.shape != tree.labels.shape:
        raise SSplainError(
            f"The planted truth has the shape {truth.branch_ids.shape}, the image "
            f"{tree.labels.shape}; give the truth of this image."
        )


def _mean(values: Plane, where: NDArray[np.bool_]) -> float | None:
    return _rounded(float(values[where].mean())) if where.any() else None


def _rounded(value: float) -> float | None:
    """Return a table cell: five digits after the point, or nothing where there is no value."""
    return round(value, 5) if np.isfinite(value) else None
