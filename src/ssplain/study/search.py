"""Finds the settings of `ssplain-ranking`: `python -m ssplain.study.search mnist --out DIR`.

One setting after the other, each of its values is tried with all others as they are, and the best
stays: the one with the largest insertion less deletion, over the share of the support. Of the pull
of the constraints and the weight of smoothness the largest that costs no more than 0.002 is taken:
a map that is sparse and smooth is easier to read. The images are those of the test set from the
1000th on; the first 500 are reported. Every trial is a line of the log, and what the log has is not
tried again.
"""

import argparse
import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from ssplain.data import idx
from ssplain.explain.registry import make
from ssplain.metrics import insertion_deletion
from ssplain.models import load

PASSES = 40
FIRST = 1000  # the 500 before it are for looking at things
BASE: Mapping[str, Any] = {  # where the search sets out
    "rho": 0.01,
    "pooling": 0.5,
    "start": "gradient",
    "lr": 0.1,
    "softness": 0.1,
    "tv_over": "grid",
    "tv_weight": 1e-3,
}
GRID: Mapping[str, tuple[Any, ...]] = {
    "rho": (0.0, 0.001, 0.01),
    "pooling": (0.0, 0.25, 0.5, 0.75, 1.0),
    "start": ("intensity", "gradient"),
    "lr": (0.05, 0.1, 0.15),
    "softness": (0.07, 0.1, 0.14),
    "tv_over": ("grid", "support"),
    "tv_weight": (0.0, 5e-4, 1e-3, 2e-3),
}
GIVEN_AWAY = {"rho": 0.002, "tv_weight": 0.002}  # what the largest value may cost
COLUMNS = ("dataset", "images", "settings", "insertion", "deletion", "gain")


def unreported(dataset: str, count: int, folder: Path | None = None) -> tuple[Tensor, Tensor]:
    """Return test images and labels that no table reports."""
    images, labels = idx.load(dataset, folder, split="test")
    rows = slice(FIRST, FIRST + count)
    return images[rows, None].float() / 255, labels[rows]


class Log:
    """The trials, one line each, written as they are made."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.write_text(",".join(COLUMNS) + "\n")
        with path.open(newline="") as lines:
            self.known = {
                (row["dataset"], row["images"], row["settings"]): float(row["gain"])
                for row in csv.DictReader(lines)
            }

    def add(self, dataset: str, images: int, settings: str, areas: tuple[float, float]) -> float:
        """Write a trial; return what insertion is ahead of deletion."""
        gain = areas[0] - areas[1]
        row = (dataset, images, settings, *(f"{x:.4f}" for x in (*areas, gain)))
        with self.path.open("a", newline="") as lines:
            csv.writer(lines, lineterminator="\n").writerow(row)
        self.known[dataset, str(images), settings] = gain
        return gain


def search(dataset: str, log: Log, count: int, folder: Path | None = None) -> dict[str, Any]:
    """Try the grid, one setting after the other; return the best settings found."""
    model = load(f"lenet5-{dataset}")
    images, labels = unreported(dataset, count, folder)

    def gain(settings: Mapping[str, Any]) -> float:
        key = json.dumps(settings, sort_keys=True)
        known = log.known.get((dataset, str(count), key))
        if known is not None:
            return known
        # the start's gradient is a pass, too: all trials have the same number
        iterations = PASSES - (settings["start"] == "gradient")
        explainer = make(
            "ssplain-ranking", model, dataset, **{**settings, "iterations": iterations}
        )
        maps = explainer.attribute(images, labels)
        curves = insertion_deletion(model, images, labels, maps, axis="support", points=51)
        return log.add(dataset, count, key, (curves.insertion.area, curves.deletion.area))

    best = dict(BASE)
    for name, values in GRID.items():
        trials = [{**best, name: value} for value in values]
        enough = max(map(gain, trials)) - GIVEN_AWAY.get(name, 0.0)
        best = [trial for trial in trials if gain(trial) >= enough][-1]
    return best


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", choices=sorted(idx.FOLDERS))
    parser.add_argument("--out", type=Path, required=True, help="folder of the log")
    parser.add_argument("--images", type=int, default=100)
    parser.add_argument("--data", type=Path, help="folder of the IDX files, else SSPLAIN_DATA")
    given = parser.parse_args()
    found = search(given.dataset, Log(given.out / "search.csv"), given.images, given.data)
    (given.out / f"{given.dataset}.json").write_text(json.dumps(found, indent=2) + "\n")
