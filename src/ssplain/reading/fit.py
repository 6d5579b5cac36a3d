"""Fits the formula of the second opinion on simulated eyes: `python -m ssplain.reading.fit`.

Least squares of the grade's severity (1, 5, 9) on the logarithms of the measures; a small ridge
keeps their signs from being made by chance. A second series, which the fit has not seen, tells how
good it is. The optic disc is not drawn in simulated eyes, so a disc diameter is 8 % of their side.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from ssplain.files import write_whole
from ssplain.models.severity import GRADES as SEVERITIES
from ssplain.reading.opinion import _FLOOR, _FORMULA, DISC, GRADES, TERMS, features
from ssplain.simulate.eye import simulate
from ssplain.vessels import trace

_RIDGE = 1.0  # eyes' worth of belief that a measure says nothing


def sample(seed: int, count: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Logarithms of the measures (n, 3) and the grades (n,) of simulated eyes.

    >>> rows, labels = sample(seed=1, count=3)
    >>> rows.shape, labels.tolist()
    ((3, 3), [0, 1, 2])
    """
    rows, labels = [], []
    for index in range(count):
        eye = simulate(seed, index)
        measured = features(trace(eye.image), DISC * max(eye.image.shape))
        values = np.array([measured[name] for name in TERMS])
        if np.isfinite(values).all():
            rows.append(np.log(np.maximum(values, _FLOOR)))
            labels.append(eye.label)
    return np.array(rows), np.array(labels)


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
    weights = np.linalg.solve(
        centred.T @ centred + _RIDGE * np.eye(len(TERMS)), centred.T @ (target - target.mean())
    )
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
    """Fit, test, print, and write the formula."""
    parser = argparse.ArgumentParser(description="Fit the second opinion on simulated eyes.")
    parser.add_argument("--eyes", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1601)
    parser.add_argument("--out", type=Path, default=_FORMULA)
    given = parser.parse_args()
    formula = fit(*sample(given.seed, given.eyes))
    tested = score(formula, *sample(given.seed + 1, given.eyes))
    record = {
        "formula": formula,
        "fitted_on": {"series": given.seed, "eyes": given.eyes},
        "tested_on": {"series": given.seed + 1, "eyes": given.eyes} | tested,
    }
    text = json.dumps(record, indent=1)
    write_whole(given.out, text.encode())
    print(text)  # noqa: T201 - this is a command


if __name__ == "__main__":
    main()
