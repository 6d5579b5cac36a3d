"""The truth about the bundled simulated fundus images: which pixels and vessels carry disease."""

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from ssplain.data.simulated import STEPS
from ssplain.errors import SSplainError
from ssplain.simulate.eye import BranchTruth, Side

FOLDER = Path(__file__).parents[1] / "assets" / "rop"
IMAGES, TRUTH, BRANCHES = "images.npz", "truth.npz", "branches.csv"


@dataclass(frozen=True)
class Truth:
    """What is known about a set of simulated images.

    Attributes:
        relevance: (N, 1, H, W) severity of the disease at each pixel, 0 where healthy.
        amounts: (N,) of disease planted in each eye, 0 for none, about 1 for typical plus disease.
        branch_ids: (N, H, W) index into the image's `branches`, -1 off the vessels and on false
            ones.
        branches: for each image, one row per vessel.
        eyes: for each image, left or right.
    """

    relevance: torch.Tensor
    amounts: torch.Tensor
    branch_ids: torch.Tensor
    branches: tuple[tuple[BranchTruth, ...], ...]
    eyes: tuple[Side, ...]


def bundled_truth(name: str) -> Truth:
    """Return the truth about bundled images; only simulated ones have it.

    Args:
        name: "rop".

    Raises:
        SSplainError: If there is no truth about these images.

    Example:
        >>> truth = bundled_truth("rop")
        >>> truth.relevance.shape, len(truth.branches)
        (torch.Size([100, 1, 224, 224]), 100)
    """
    if name != "rop":
        raise SSplainError(
            f"There is no truth about {name!r}; only the simulated images 'rop' have it."
        )
    with np.load(FOLDER / TRUTH, allow_pickle=False) as stored:
        relevance = torch.from_numpy(stored["relevance"]).unsqueeze(1).float() / STEPS
        amounts = torch.from_numpy(stored["amounts"])
        branch_ids = torch.from_numpy(stored["branch_ids"].astype(np.int32))
        eyes: tuple[Side, ...] = tuple(stored["eyes"].tolist())
    branches = read_branches(FOLDER / BRANCHES, len(eyes))
    return Truth(relevance, amounts, branch_ids, branches, eyes)


def read_branches(path: Path, count: int) -> tuple[tuple[BranchTruth, ...], ...]:
    """Read the table of vessels of `count` images."""
    tables: list[list[BranchTruth]] = [[] for _ in range(count)]
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            image, _ = int(row.pop("image")), row.pop("branch")
            tables[image].append(_branch(row))
    return tuple(map(tuple, tables))


def _branch(row: dict[str, str]) -> BranchTruth:
    numbers = {name: float(row[name]) for name in _FLOATS}
    return BranchTruth(
        kind="artery" if row["kind"] == "artery" else "vein",
        parent=int(row["parent"]),
        generation=int(row["generation"]),
        quadrant=row["quadrant"],
        diseased=row["diseased"] == "True",
        **numbers,
    )


_FLOATS = (
    "width",
    "dilation",
    "amplitude",
    "wavelength",
    "curvature",
    "length",
    "arc_over_chord",
    "severity",
)
