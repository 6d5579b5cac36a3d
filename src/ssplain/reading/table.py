"""A reading as plain values: a tree for JSON, and a row for CSV."""

import math
from dataclasses import asdict
from typing import Any

from ssplain import __version__
from ssplain.reading.eye import Reading
from ssplain.reading.opinion import GRADES, Opinion

NOTICE = "A research tool. It is not a medical device and gives no diagnosis."


def as_json(reading: Reading) -> dict[str, Any]:
    """Return all numbers of a reading, ready for JSON; what is not known is None."""
    second = reading.second_opinion
    found = {
        "notice": NOTICE,
        "ssplain": __version__,
        "model": reading.model,
        "kind": "photograph" if reading.picture.ndim == 3 else "segmented vessels",
        "shape": list(reading.vessels.shape),
        "eye": reading.eye,
        "grade": reading.grade,
        "severity": reading.severity,
        "probabilities": dict(zip(GRADES, reading.probabilities.tolist(), strict=True)),
        "second_opinion": asdict(second),
        "stability": {
            "steady": reading.stability.steady,
            "lowest_severity": reading.stability.lowest,
            "highest_severity": reading.stability.highest,
            "changes": {n: opinion(o) for n, o in reading.stability.opinions.items()},
        },
        "disc": None if reading.disc is None else list(reading.disc),
        "centre": list(reading.centre),
        "quadrants": [
            {
                "name": one.name,
                "place": one.place,
                "vessels": asdict(one.vessels),
                "vessel_share": one.vessel_share,
                "explanation_share": one.explanation_share,
                "removed": opinion(one.removed),
                "alone": opinion(one.alone),
            }
            for one in reading.quadrants
        ],
        "warnings": list(reading.warnings),
    }
    rounded: dict[str, Any] = _plain(found)
    return rounded


def opinion(one: Opinion) -> dict[str, Any]:
    """Return an opinion with its probabilities by grade.

    >>> opinion(Opinion((1.0, 0.0, 0.0), "Normal", 1.0))["probabilities"]["Plus"]
    0.0
    """
    return {
        "grade": one.grade,
        "severity": one.severity,
        "probabilities": dict(zip(GRADES, one.probabilities, strict=True)),
    }


def as_row(reading: Reading) -> dict[str, Any]:
    """Return a reading as one row of a table; what is not known is None."""
    row: dict[str, Any] = {"grade": reading.grade, "severity": reading.severity}
    for name, value in zip(GRADES, reading.probabilities.tolist(), strict=True):
        row[f"p_{name.lower().replace('-', '_')}"] = value
    row |= {
        "severity_lowest": reading.stability.lowest,
        "severity_highest": reading.stability.highest,
        "steady": reading.stability.steady,
        "second_opinion": reading.second_opinion.grade,
        "second_severity": reading.second_opinion.severity,
        "eye": reading.eye,
        "disc_row": None if reading.disc is None else reading.disc[0],
        "disc_column": None if reading.disc is None else reading.disc[1],
        "disc_radius": None if reading.disc is None else reading.disc[2],
    }
    for one in reading.quadrants:
        key = one.place.replace(" ", "_")
        row |= {f"{key}_{name}": value for name, value in asdict(one.vessels).items()}
        row[f"{key}_explanation_share"] = one.explanation_share
        row[f"{key}_severity_removed"] = one.removed.severity
        row[f"{key}_severity_alone"] = one.alone.severity
    row["warnings"] = " ".join(reading.warnings)
    plain: dict[str, Any] = _plain(row)
    return plain


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever JSON can hold
    """Round floats and leave no NaN, which JSON does not have."""
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, float):
        return round(value, 6) if math.isfinite(value) else None
    return value
