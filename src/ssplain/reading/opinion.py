"""Two opinions of an eye: the network's, and one from measured vessels alone.

The second opinion is a formula that can be checked by hand,

    severity = a + b log(tortuosity) + c log(curvature) + d log(calibre),    cut to [1, 9],

of the mean tortuosity, mean curvature and mean calibre of the vessels in disc diameters, weighted
by length. Its numbers come from eyes with planted disease (`python -m ssplain.reading.fit`) and lie
in `assets/second_opinion.json`: those for segmented vessels from simulated eyes and from real ones
that people drew, those for vessels that we have found in a photograph, which are rougher, from
photographs; both bent. It knows nothing of the network, so the two can contradict each other.
"""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import torch
from torch import Tensor

from ssplain.models.calibrated import Kind
from ssplain.models.severity import GRADES as SEVERITIES
from ssplain.models.severity import severity_of
from ssplain.vessels import VesselTree

GRADES = ("Normal", "Pre-plus", "Plus")
TERMS = ("tortuosity", "curvature", "calibre")
_FLOOR = 1e-4  # a straight tree has a logarithm too
_FORMULA = Path(__file__).parents[1] / "assets" / "second_opinion.json"


@dataclass(frozen=True)
class Opinion:
    """What the network says of vessels.

    Attributes:
        probabilities: of Normal, Pre-plus and Plus.
        grade: the most probable of them.
        severity: from 1 to 9, `1 p(Normal) + 5 p(Pre-plus) + 9 p(Plus)`.
    """

    probabilities: tuple[float, float, float]
    grade: str
    severity: float


@dataclass(frozen=True)
class SecondOpinion:
    """What the measured vessels alone say.

    Attributes:
        severity: from 1 to 9 by the formula; NaN if there is too little to measure.
        grade: Normal below 3, Plus from 7, Pre-plus between; "unknown" without a severity.
        measures: mean tortuosity and curvature (per disc diameter) and calibre (in disc diameters).
        contributions: what each adds to the severity, with the constant; their sum before cutting.
        unit: px of a disc diameter in the network's picture, on which all this is measured; taken
            as 8 % of its side where no disc is known.
    """

    severity: float
    grade: str
    measures: dict[str, float]
    contributions: dict[str, float]
    unit: float


def ask(network: Callable[[Tensor], Tensor], images: Sequence[Tensor]) -> list[Opinion]:
    """Ask the network about images (1, S, S), all in one pass.

    Example:
        >>> even = lambda images: torch.zeros(len(images), 3)
        >>> [one] = ask(even, [torch.zeros(1, 4, 4)])
        >>> one.grade, round(one.severity, 3)
        ('Normal', 5.0)
    """
    if not images:
        return []
    with torch.inference_mode():
        probabilities = network(torch.stack(list(images))).double().softmax(1)
    severities = severity_of(probabilities)
    return [
        Opinion((row[0], row[1], row[2]), GRADES[max(range(3), key=row.__getitem__)], severity)
        for row, severity in zip(probabilities.tolist(), severities.tolist(), strict=True)
    ]


def features(tree: VesselTree, unit: float) -> dict[str, float]:
    """Mean tortuosity, curvature and calibre of a tree in disc diameters; NaN without any.

    Args:
        tree: the traced vessels.
        unit: px of a disc diameter.
    """
    kept = [b for b in tree.branches if math.isfinite(b.mean_curvature + b.tortuosity)]
    total = sum(branch.length for branch in kept)
    if not total:
        return dict.fromkeys(TERMS, math.nan)
    return {
        "tortuosity": unit * sum(b.tortuosity * b.length for b in kept) / total,
        "curvature": unit * sum(b.mean_curvature * b.length for b in kept) / total,
        "calibre": sum(b.calibre * b.length for b in kept) / total / unit,
    }


def second_opinion(tree: VesselTree, unit: float, kind: Kind = "segmented") -> SecondOpinion:
    """Judge a tree by the formula.

    Args:
        tree: the traced vessels.
        unit: px of a disc diameter.
        kind: whether they were given, or found in a photograph.

    Example:
        >>> import numpy as np
        >>> from ssplain.vessels import trace
        >>> image = np.zeros((64, 64))
        >>> image[30:33, 4:60] = 1
        >>> second_opinion(trace(image), unit=6.0).grade
        'Normal'
    """
    measures, formula = features(tree, unit), read_formulas()[kind]
    if any(math.isnan(value) for value in measures.values()):
        return SecondOpinion(math.nan, "unknown", measures, {}, unit)
    logs = {name: math.log(max(measures[name], _FLOOR)) for name in TERMS}
    terms = {name: formula[name] * logs[name] + 0.0 for name in TERMS}  # no -0.00 on the page
    parts = {"constant": formula["constant"]} | terms
    severity = min(max(sum(parts.values()), SEVERITIES[0]), SEVERITIES[-1])
    return SecondOpinion(severity, grade_of(severity), measures, parts, unit)


def grade_of(severity: float) -> str:
    """Return the grade of a severity: half-way between those of two grades one becomes the other.

    >>> grade_of(2.9), grade_of(3.0), grade_of(7.0)
    ('Normal', 'Pre-plus', 'Plus')
    """
    return GRADES[int(severity >= 3) + int(severity >= 7)]


@cache
def read_formulas() -> dict[Kind, dict[str, float]]:
    """Return the numbers of the formula for each kind: `constant` and one per term."""
    found = json.loads(_FORMULA.read_text(encoding="utf-8"))
    return {kind: record["formula"] for kind, record in found.items()}
