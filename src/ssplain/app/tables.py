"""What users take home: tables as CSV, and answers that the browser saves as files."""

import csv
import io
from collections.abc import Mapping
from typing import Any

from fastapi.responses import Response

from ssplain.desk.grades import safe_cell

_COLUMNS = (
    "image",
    "model",
    "explained_class",
    "probability",
    "explainer",
    "seconds",
    "probability_with_only_kept",
    "probability_without_kept",
    "order",
    "best_random_order",
    "steady",
    "rely",
    "why_not",
)


def of_result(result: Mapping[str, Any]) -> bytes:
    """Return a result as CSV: one line per explainer."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(_COLUMNS))
    writer.writeheader()
    for one in result["maps"]:
        writer.writerow(_row(result, one))
    return text.getvalue().encode()


def _row(result: Mapping[str, Any], one: Mapping[str, Any]) -> dict[str, Any]:
    checks = one.get("checks") or {}
    target = result["target"]
    return {
        "image": safe_cell(result["title"]),
        "model": safe_cell(result["model"]),
        "explained_class": safe_cell(result["classes"][target]),
        "probability": result["prediction"]["probabilities"][target],
        "explainer": one["title"],
        "seconds": one.get("seconds"),
        "probability_with_only_kept": checks.get("only"),
        "probability_without_kept": checks.get("without"),
        "order": checks.get("order"),
        "best_random_order": max(checks["luck"]) if checks.get("luck") else None,
        "steady": checks.get("steady"),
        "rely": "" if not checks else "no" if checks["complaints"] else "yes",
        "why_not": one.get("complaint") or " ".join(checks.get("complaints", ())),
    }


def download(content: bytes, kind: str, name: str) -> Response:
    """Return an answer that the browser saves as a file."""
    return Response(
        content, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )
