"""Fits both opinions to planted disease: `python -m ssplain.reading.fit`.

For segmented vessels on simulated eyes and on real ones whose vessels people drew, in equal
numbers; for photographs on photographs. Real eyes are bent to be ill (`ssplain.sheets.bent`), which
needs HVDROPDB in the folder that SSPLAIN_DATA names. The network's grades are brought to the scale
of either kind (`ssplain.models.calibrated`), which its card keeps.

The second opinion: least squares of the grade's severity (1, 5, 9) on the logarithms of the
measures, none of which may count the wrong way round (windings and width never lower it), and then
spread as widely as the grades are: least squares draws all eyes towards the middle. Eyes that the
fit has not seen tell how good it is. A disc diameter is 8 % of the picture's side.
"""

import argparse
import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import reduce
from pathlib import Path
from typing import Any, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import nnls
from scipy.stats import spearmanr
from torch import nn

from ssplain.data.simulated import Example, Examples, gathered
from ssplain.files import write_whole
from ssplain.models import card, load
from ssplain.models.calibrated import Calibrated, Kind, fit_borders, log_odds
from ssplain.models.card import CARD, folder_of
from ssplain.models.severity import GRADES as SEVERITIES
from ssplain.reading.opinion import _FLOOR, _FORMULA, GRADES, TERMS, features
from ssplain.reading.scale import DISC
from ssplain.sheets.bent import BentDrawings, BentROP
from ssplain.simulate.eye import simulate
from ssplain.train.rop import judge
from ssplain.vessels import trace

_RIDGE = 1.0  # eyes' worth of belief that a measure says nothing
_FIELDS: Mapping[Kind, str] = {"segmented": "segmented", "photograph": "photographs"}

Material = Mapping[str, Examples]


def material(kind: Kind, count: int, seed: int) -> tuple[Material, Material]:
    """Return the eyes to fit to, and others that tell how good the fit is.

    Args:
        kind: of eyes.
        count: of each sort to fit to. As many simulated eyes, and a fifth as many bent ones, tell
            how good the fit is.
        seed: of the series of simulated eyes; the others are of the next one.
    """
    few = max(len(GRADES), count // 5)
    if kind == "photograph":
        learned, other = (
            BentROP(split, n).examples() for split, n in (("train", count), ("test", few))
        )
        return {"bent photographs": learned}, {"bent photographs": other}
    drawn, others = (
        BentDrawings(split, n).examples() for split, n in (("train", count), ("test", few))
    )
    return (
        {"simulated eyes": simulated(seed, count), "bent drawings": drawn},
        {"simulated eyes": simulated(seed + 1, count), "bent drawings": others},
    )


def simulated(seed: int, count: int) -> Examples:
    """Return simulated eyes.

    >>> simulated(seed=1, count=3).labels.tolist()
    [0, 1, 2]
    """

    def one(index: int) -> Example:
        eye = simulate(seed, index)
        return eye.image, eye.label, eye.amount, eye.relevance

    return gathered(one, count, ["simulated", str(seed), str(count)])


def borders_and_scores(
    network: nn.Module, learned: Material, other: Material
) -> tuple[dict[str, list[float]], dict[str, dict[str, float]]]:
    """Bring a network's grades to the scale of some eyes.

    Returns:
        The borders, and how well others are graded with and without them (balanced accuracy).
    """
    together = _together(learned)
    with torch.inference_mode():
        odds = [log_odds(network(x.float() / 255)) for x in torch.split(together.images, 32)]
    borders = fit_borders(torch.cat(odds), together.labels)
    graded = {"as_they_are": network, "calibrated": Calibrated(network, borders)}
    return borders, {
        name: {
            way: round(judge(one, eyes.images, eyes.labels).balanced_accuracy, 3)
            for way, one in graded.items()
        }
        for name, eyes in other.items()
    }


def measured(eyes: Examples) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the logarithms of the measures (n, 3) and the grades (n,) of eyes."""
    rows, kept = [], []
    for image, label in zip(eyes.images[:, 0].numpy() / 255, eyes.labels.tolist(), strict=True):
        found = features(trace(image), DISC * max(image.shape))
        values = np.array([found[name] for name in TERMS])
        if np.isfinite(values).all():
            rows.append(np.log(np.maximum(values, _FLOOR)))
            kept.append(label)
    return np.array(rows), np.array(kept)


def fit(rows: NDArray[np.float64], labels: NDArray[np.int64]) -> dict[str, float]:
    """Return the formula for measured eyes.

    >>> rows = np.log([[1.0, 1, 1], [2, 1, 1], [4, 1, 1]] * 400)
    >>> formula = fit(rows, np.array([0, 1, 2] * 400))
    >>> round(formula["constant"], 1), round(float(formula["tortuosity"] * np.log(2)), 1)
    (1.0, 4.0)
    """
    target = np.array(SEVERITIES)[labels]
    middle = rows.mean(axis=0)
    centred = rows - middle
    ridge = np.sqrt(_RIDGE) * np.eye(len(TERMS))
    wanted = np.concatenate([target - target.mean(), np.zeros(len(TERMS))])
    weights, _ = nnls(np.vstack([centred, ridge]), wanted)
    weights *= target.std() / max((centred @ weights).std(), 1e-9)
    constant = float(target.mean() - middle @ weights)
    return {"constant": round(constant, 4)} | {
        name: round(float(weight), 4) for name, weight in zip(TERMS, weights, strict=True)
    }


def score(
    formula: dict[str, float], rows: NDArray[np.float64], labels: NDArray[np.int64]
) -> dict[str, float]:
    """Balanced accuracy and rank correlation with the grade."""
    severity = formula["constant"] + rows @ np.array([formula[name] for name in TERMS])
    graded = (severity >= 3).astype(int) + (severity >= 7)
    recalls = [float((graded[labels == g] == g).mean()) for g in range(len(GRADES))]
    return {
        "balanced_accuracy": round(float(np.mean(recalls)), 3),
        "spearman": round(float(spearmanr(severity, labels).statistic), 3),
    }


def main() -> None:
    """Fit, test, print, and write the formulas and the model's card."""
    parser = argparse.ArgumentParser(description="Fit both opinions to planted disease.")
    parser.add_argument("--kind", choices=get_args(Kind), help="of eyes (default: both)")
    parser.add_argument("--count", type=int, default=480, help="of each sort of eyes to fit to")
    parser.add_argument("--seed", type=int, default=1601)
    parser.add_argument("--out", type=Path, default=_FORMULA)
    parser.add_argument("--model", default="googlenet-rop")
    given = parser.parse_args()
    network = load(given.model).eval()
    for kind in [given.kind] if given.kind else get_args(Kind):
        learned, other = material(kind, given.count, given.seed)
        formula = fit(*measured(_together(learned)))
        record = {
            "formula": formula,
            "fitted_on": {name: len(eyes.labels) for name, eyes in learned.items()},
            "tested_on": {
                name: {"eyes": len(eyes.labels)} | score(formula, *measured(eyes))
                for name, eyes in other.items()
            },
        }
        known: dict[str, Any] = json.loads(given.out.read_bytes()) if given.out.exists() else {}
        write_whole(given.out, json.dumps(known | {kind: record}, indent=1).encode())
        borders, reached = borders_and_scores(network, learned, other)
        about = asdict(card(given.model)) | {_FIELDS[kind]: borders}
        text = json.dumps(about, indent=2) + "\n"
        write_whole(folder_of(given.model) / CARD, text.encode())
        print(json.dumps({kind: record, given.model: borders | reached}, indent=1))  # noqa: T201 - a command


def _together(learned: Material) -> Examples:
    return reduce(Examples.and_then, learned.values())


if __name__ == "__main__":
    main()
