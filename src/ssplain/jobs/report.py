"""The results of a job as one HTML page to look at and pass on."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import torch

from ssplain.errors import SSplainError
from ssplain.explain import METHODS, Explanation
from ssplain.fundus.frame import Frame
from ssplain.jobs.identity import classes_of_job
from ssplain.jobs.index import Index
from ssplain.pages.reading import ARRAYS
from ssplain.pages.results import Explained, chance, results_page
from ssplain.report.render import grey

MOST = 200  # images of a page; a job may have a million


def job_page(index: Index, root: Path, title: str = "Explained images") -> str:
    """Return what a job has done as one page; of many images the first ones.

    Args:
        index: of the job.
        root: its folder.
        title: of the page.

    Raises:
        SSplainError: If no image is done.
    """
    fields = (index.about("task") or {}).get("fields", {})
    model = str(fields.get("model", ""))
    classes = classes_of_job(index)
    counts = index.counts()
    done = index.rows("status = 'done' AND file IS NOT NULL", limit=MOST)
    images = [explained(root / row["file"], row, classes) for row in done]
    if not images:
        raise SSplainError("No image of this job is done, so there is nothing to report.")
    more = f"; the first {len(images)} are here" if counts["done"] > len(images) else ""
    note = (
        f"Model: {model}. {counts['done']} images are done{more}, {counts['failed']} failed, "
        f"{counts['waiting']} wait."
    )
    return results_page(title, images, note)


def explained(home: Path, row: sqlite3.Row, classes: Sequence[str]) -> Explained:
    """Return one image of a job as the page takes it.

    Args:
        home: folder of its result.
        row: of the index.
        classes: their names; none for numbers.
    """
    path = PurePath(row["path"])
    # names of DICOM files often are patients'
    name = f"DICOM image {row['number']}" if path.suffix.lower() == ".dcm" else path.name
    title = str(row["id"] or name)
    measures = json.loads(row["measures"] or "{}")
    if (home / ARRAYS).is_file():
        return _eye(home, title)
    found = Explanation.load(home)
    image, support = found.images[0], found.support[0, 0].numpy()
    method = str(found.settings.get("explainer", "scores"))
    shown = METHODS[method].title if method in METHODS else method
    picture = grey(image) if len(image) == 3 else grey(image)[..., 0]
    scores = found.scores[0, 0].double().numpy()
    facts, warnings = _facts(found, measures, classes)
    return Explained(title, picture, support, {shown: scores}, facts, warnings)


def _facts(
    found: Explanation, measures: Mapping[str, Any], classes: Sequence[str]
) -> tuple[dict[str, str], tuple[str, ...]]:
    p = found.probabilities[0]
    names = list(classes) or [str(i) for i in range(len(p))]
    winner, target = int(p.argmax()), int(found.target[0])
    facts = {"model says": f"{names[winner]} ({chance(float(p[winner]))})"}
    if target != winner:
        facts["explained"] = f"{names[target]} ({chance(float(p[target]))})"
    only, without = (measures.get(f"probability_{part}_mask") for part in ("only", "without"))
    warnings: tuple[str, ...] = ()
    if only is not None and without is not None:
        facts["with only the kept pixels"] = chance(only)
        facts["without them"] = chance(without)
        if only <= without:
            why = "without its pixels the class is as likely as with them alone"
            warnings = (f"Do not rely on this map: {why}.",)
    facts["kept"] = f"{float(found.kept_share[0]):.0%} of the drawn pixels"
    return facts, warnings


def _eye(home: Path, title: str) -> Explained:
    try:
        with np.load(home / ARRAYS, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        reading = json.loads((home / "reading.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SSplainError(f"{home} holds no readable eye ({error}); read it again.") from error
    vessels = arrays["vessels"]
    top, left, side, size = (int(value) for value in arrays["frame"])
    frame = Frame((vessels.shape[0], vessels.shape[1]), top, left, side, size)
    support = torch.from_numpy(arrays["network_picture"]) > 0
    laid = frame.lay(torch.from_numpy(arrays["scores"]), support)
    return Explained(
        title,
        arrays["picture"],
        vessels > 0,
        {"SSplain-ranking": laid.numpy()},
        eye_facts(reading),
        tuple(reading["warnings"]),
    )


def eye_facts(reading: Mapping[str, Any]) -> dict[str, str]:
    """Return the numbers of an eye that was read, in words."""
    stability, second = reading["stability"], reading["second_opinion"]
    severity = "" if second["severity"] is None else f", severity {second['severity']:.1f}"
    said = ", ".join(f"{name} {chance(p)}" for name, p in reading["probabilities"].items())
    low, high = stability["lowest_severity"], stability["highest_severity"]
    moves = f"{low:.1f} to {high:.1f} if changed a little"
    return {
        "grade": f"{reading['grade']} ({said})",
        "severity, 1 to 9": f"{reading['severity']:.1f} ({moves})",
        "second opinion, from measured vessels": f"{second['grade']}{severity}",
        "optic disc": "not in view" if reading["disc"] is None else "found",
    }
