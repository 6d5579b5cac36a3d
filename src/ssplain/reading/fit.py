"""Fits both opinions to planted disease: `python -m ssplain.reading.fit`.

For segmented vessels on simulated eyes; for photographs on bent ones (`ssplain.sheets.bent`), which
needs HVDROPDB in the folder that SSPLAIN_DATA names. The network's grades are brought to the scale
of photographs (`ssplain.models.calibrated`), which its card keeps.

The second opinion: least squares of the grade's severity (1, 5, 9) on the logarithms of the
measures, none of which may count the wrong way round (windings and width never lower it), and then
spread as widely as the grades are: least squares draws all eyes towards the middle. Eyes that the
fit has not seen tell how good it is. A disc diameter is 8 % of the picture's side.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import nnls
from scipy.stats import spearmanr
from torch import Tensor, nn

from ssplain.data.simulated import Examples
from ssplain.files import write_whole
from ssplain.models import card, load
from ssplain.models.calibrated import Calibrated, fit_borders, log_odds
from ssplain.models.card import CARD, folder_of
from ssplain.models.severity import GRADES as SEVERITIES
from ssplain.reading.opinion import _FLOOR, _FORMULA, GRADES, TERMS, features
from ssplain.reading.scale import DISC
from ssplain.sheets.bent import BentROP
from ssplain.simulate.eye import simulate
from ssplain.train.rop import judge
from ssplain.vessels import trace

_RIDGE = 1.0  # eyes' worth of belief that a measure says nothing


def sample(seed: int, count: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Logarithms of the measures (n, 3) and the grades (n,) of simulated eyes.

    >>> rows, labels = sample(seed=1, count=3)
    >>> rows.shape, labels.tolist()
    ((3, 3), [0, 1, 2])
    """
    eyes = [simulate(seed, index) for index in range(count)]
    return _measured([eye.image for eye in eyes], [eye.label for eye in eyes])


def photographed(made: Examples) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the same of bent photographs; see `ssplain.sheets.bent.BentROP`."""
    return _measured([image[0].numpy() / 255 for image in made.images], made.labels.tolist())


def calibrate(
    model: str, bent: Examples, other: Examples
) -> tuple[dict[str, list[float]], dict[str, float]]:
    """Bring a network's grades to the scale of photographs, and write that into its card.

    Args:
        model: a bundled name or a trained folder.
        bent: photographs to fit to.
        other: those that tell how good it is.

    Returns:
        The borders, and how well photographs are graded with and without them.
    """
    network = load(model).eval()
    borders = fit_borders(_odds(network, bent), bent.labels)
    about = replace(card(model), photographs=borders)
    write_whole(folder_of(model) / CARD, (json.dumps(asdict(about), indent=2) + "\n").encode())
    graded = {"as_they_are": network, "calibrated": Calibrated(network, borders)}
    return borders, {
        name: round(judge(one, other.images, other.labels).balanced_accuracy, 3)
        for name, one in graded.items()
    }


def _odds(network: nn.Module, made: Examples) -> Tensor:
    with torch.inference_mode():
        parts = [log_odds(network(some.float() / 255)) for some in torch.split(made.images, 32)]
    return torch.cat(parts)


def _measured(
    images: Sequence[NDArray[np.floating]], labels: Sequence[int]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    rows, kept = [], []
    for image, label in zip(images, labels, strict=True):
        measured = features(trace(image), DISC * max(image.shape))
        values = np.array([measured[name] for name in TERMS])
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
    """Fit, test, print, and write both formulas and the model's card."""
    parser = argparse.ArgumentParser(description="Fit both opinions to planted disease.")
    parser.add_argument("--eyes", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1601)
    parser.add_argument("--photographs", type=int, default=480)
    parser.add_argument("--out", type=Path, default=_FORMULA)
    parser.add_argument("--model", default="googlenet-rop")
    given = parser.parse_args()
    series = {"series": given.seed, "eyes": given.eyes}
    others = {"series": given.seed + 1, "eyes": given.eyes}
    left_out = max(len(GRADES), given.photographs // 5)
    bent, other = (
        BentROP(split, count).examples()
        for split, count in (("train", given.photographs), ("test", left_out))
    )
    record = {
        "segmented": _fitted(series, sample(*series.values()), others, sample(*others.values())),
        "photograph": _fitted(
            {"bent_photographs": len(bent.labels)},
            photographed(bent),
            {"bent_photographs": len(other.labels)},
            photographed(other),
        ),
    }
    write_whole(given.out, json.dumps(record, indent=1).encode())
    borders, reached = calibrate(given.model, bent, other)
    print(json.dumps(record | {given.model: borders | reached}, indent=1))  # noqa: T201 - a command


def _fitted(
    on: dict[str, int],
    eyes: tuple[NDArray[np.float64], NDArray[np.int64]],
    tested_on: dict[str, int],
    others: tuple[NDArray[np.float64], NDArray[np.int64]],
) -> dict[str, object]:
    formula = fit(*eyes)
    return {
        "formula": formula,
        "fitted_on": on,
        "tested_on": tested_on | score(formula, *others),
    }


if __name__ == "__main__":
    main()
