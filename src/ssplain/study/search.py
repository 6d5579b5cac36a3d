"""Finds the settings of `ssplain-ranking`: `python -m ssplain.study.search mnist --out DIR`.

One setting after the other, each of its values is tried with all others as they are, and the best
stays: the one with the largest gain, which is insertion less deletion over the share of the
support, on eyes with connectedness and the average precision on planted disease added. Of the pull
of the constraints and the weight of smoothness the largest that costs no more than 0.002 is taken:
a map that is sparse and smooth is easier to read. Digits and garments are those of the test set
from the 1000th on; the first 500 are reported. Eyes are a simulated series that serves for nothing
else. Every trial is a line of the log, and what the log has is not tried again.
"""

import argparse
import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ssplain.data import idx
from ssplain.explain.registry import make
from ssplain.metrics import MEASURES, evaluate
from ssplain.models import load, quick
from ssplain.simulate.eye import simulate

FIRST = 1000  # the 500 before it are for looking at things
SERIES = 20266  # of eyes
MEASURED = ("insertion", "deletion", "connected", "average-precision-above-chance")


@dataclass(frozen=True)
class Ground:
    """Where settings are searched for.

    Attributes:
        model: that is explained.
        passes: of the model for one map.
        points: of the curves.
        gains: the measures that count.
        base: where the search sets out.
        grid: what is tried for each setting.
    """

    model: str
    passes: int
    points: int
    gains: tuple[str, ...]
    base: Mapping[str, Any]
    grid: Mapping[str, tuple[Any, ...]]


BASE: Mapping[str, Any] = {
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
# a trial on eyes takes minutes, so that few are made; the rest is as on digits
EYES: Mapping[str, tuple[Any, ...]] = {
    "pooling": (0.25, 0.5, 0.75),
    "lr": (0.05, 0.1),
    "tv_weight": (1e-3, 3e-3, 1e-2),
    "softness": (0.1, 0.14),
}
GROUNDS = {
    "mnist": Ground("lenet5-mnist", 40, 51, MEASURED[:2], BASE, GRID),
    "fmnist": Ground("lenet5-fmnist", 40, 51, MEASURED[:2], BASE, GRID),
    "rop": Ground(
        "googlenet-rop",
        60,
        26,
        MEASURED,
        {**BASE, "rho": 0.001, "lr": 0.05, "tv_over": "support", "tv_weight": 3e-3},
        EYES,
    ),
}
GIVEN_AWAY = {"rho": 0.002, "tv_weight": 0.002}  # how much gain the largest value may cost
COLUMNS = ("dataset", "images", "settings", *MEASURED, "gain")


def unreported(
    dataset: str, count: int, folder: Path | None = None
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Return images and labels that no table reports, with planted disease where there is any."""
    if dataset == "rop":
        eyes = [simulate(SERIES, i) for i in range(count)]
        images, truth = (
            torch.stack([torch.from_numpy(part) for part in parts]).unsqueeze(1)
            for parts in zip(*((eye.image, eye.relevance) for eye in eyes), strict=True)
        )
        return images, torch.tensor([eye.label for eye in eyes]), truth
    images, labels = idx.load(dataset, folder, split="test")
    rows = slice(FIRST, FIRST + count)
    return images[rows, None].float() / 255, labels[rows], None


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

    def add(self, dataset: str, images: int, settings: str, found: Mapping[str, float]) -> float:
        """Write a trial; return its gain."""
        gain = sum(MEASURES[name].sign * value for name, value in found.items())
        numbers = [f"{found[name]:.4f}" if name in found else "" for name in MEASURED]
        with self.path.open("a", newline="") as lines:
            row = (dataset, images, settings, *numbers, f"{gain:.4f}")
            csv.writer(lines, lineterminator="\n").writerow(row)
        self.known[dataset, str(images), settings] = gain
        return gain


def search(dataset: str, log: Log, count: int, folder: Path | None = None) -> dict[str, Any]:
    """Try the grid, one setting after the other; return the best settings found."""
    ground = GROUNDS[dataset]
    model = quick(load(ground.model))
    images, labels, truth = unreported(dataset, count, folder)

    def gain(settings: Mapping[str, Any]) -> float:
        key = json.dumps(settings, sort_keys=True)
        known = log.known.get((dataset, str(count), key))
        if known is not None:
            return known
        # the start's gradient is a pass, too: all trials have the same number
        iterations = ground.passes - (settings["start"] == "gradient")
        # the solver's settings are searched for by its own map, as it is
        chosen = {"coarse": 0, "joining": 0.0, **settings, "iterations": iterations}
        explainer = make("ssplain-ranking", model, dataset, **chosen)
        found = evaluate(
            model,
            images,
            labels,
            explainer.attribute(images, labels),
            measures=ground.gains,
            points=ground.points,
            truth=truth,
        )
        values = {name: found.summary(name).value for name in ground.gains}
        return log.add(dataset, count, key, values)

    best = dict(ground.base)
    for name, values in ground.grid.items():
        trials = [{**best, name: value} for value in values]
        enough = max(map(gain, trials)) - GIVEN_AWAY.get(name, 0.0)
        best = [trial for trial in trials if gain(trial) >= enough][-1]
    return best


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", choices=sorted(GROUNDS))
    parser.add_argument("--out", type=Path, required=True, help="folder of the log")
    parser.add_argument("--images", type=int, default=100)
    parser.add_argument("--data", type=Path, help="folder of the IDX files, else SSPLAIN_DATA")
    given = parser.parse_args()
    best_found = search(given.dataset, Log(given.out / "search.csv"), given.images, given.data)
    (given.out / f"{given.dataset}.json").write_text(json.dumps(best_found, indent=2) + "\n")
