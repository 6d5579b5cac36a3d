"""The page of a folder of studies: headline numbers, ledger, and each study with its figures."""

import json
import re
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image, UnidentifiedImageError

from ssplain.errors import SSplainError
from ssplain.pages.examples import SHARES, colours, embedded, read_examples, viewer
from ssplain.pages.ledger import claims_of, ledger
from ssplain.pages.page import asset, data_url, document, render, table
from ssplain.pages.summary import has_headlines, read_sheet, summary_table
from ssplain.report.record import RECORD, Exhibit, Judgement, Record, read_ledger, read_records

TITLE = "SSplain: the paper's figures and claims, measured again"
WHAT = (
    "This page repeats the figures and tables of the paper (Sunger et al., SSplain: Sparse and "
    "Smooth Explainer for Retinopathy of Prematurity Classification, WACV 2026) with the ssplain "
    "library, and compares what the paper says with the numbers. How each number was made, with "
    "settings, versions and fingerprints of model and images, is said beside it."
)
NOT = (
    "It is not for diagnosis: the maps show what a model's decision rests on, not whether an eye "
    "is ill."
)
DATASETS = {"rop": "ROP (simulated fundus images)", "mnist": "MNIST", "fmnist": "Fashion-MNIST"}
ROWS = 200  # of a table that are shown; the rest is in the file that can be saved


def studies_page(folder: Path) -> str:
    """Return the studies of a folder as one HTML page that needs nothing else.

    Args:
        folder: as `ssplain reproduce` writes it; see `ssplain.report.record`.
    """
    judgements = read_ledger(folder)
    records = sorted(read_records(folder), key=lambda found: _place(found[1]))
    studies = [_shown(home, record, judgements) for home, record in records]
    anchors = {study["record"].name: study["anchor"] for study in studies}
    body = render(
        "studies.html",
        what=WHAT,
        not_for=NOT,
        studies=studies,
        judgements=judgements,
        summaries=[one for study in studies for one in _headlines(study)],
        ledger=ledger(judgements, anchors),
        shared=embedded({"shares": SHARES, "colours": colours()}),
    )
    return document(TITLE, body, style=asset("studies.css"), script=asset("studies.js"))


def _shown(home: Path, record: Record, judgements: Sequence[Judgement]) -> dict[str, Any]:
    """Return a study as its template takes it."""
    return {
        "record": record,
        "anchor": _anchor(record.name),
        "order": _place(record)[:2],
        "dataset": _dataset(record.dataset),
        "duration": _duration(record.seconds),
        "claims": claims_of(record.name, judgements),
        "figures": [_figure(shown, _read(home, shown.file)) for shown in record.figures],
        "tables": [_table(shown, _read(home, shown.file)) for shown in record.tables],
        "examples": (
            viewer(read_examples(_inside(home, record.examples))) if record.examples else None
        ),
        "settings": _texts(record.settings),
        "manifest": _texts(record.manifest),
    }


def _inside(home: Path, name: str) -> Path:
    """Return a file of a study, which must lie in its folder."""
    path = home / name
    if not path.resolve().is_relative_to(home.resolve()):
        raise SSplainError(
            f"{home / RECORD} names {name!r}, which is not inside {home}; only a study's own "
            "files are shown."
        )
    return path


def _read(home: Path, name: str) -> bytes:
    path = _inside(home, name)
    try:
        return path.read_bytes()
    except OSError as error:
        raise SSplainError(
            f"{home / RECORD} names {name!r}, which cannot be read ({error.strerror}); run the "
            "study again."
        ) from error


def _anchor(name: str) -> str:
    return "study-" + re.sub(r"[^a-z0-9]+", "-", name.lower())


def _dataset(names: str) -> str:
    return ", ".join(DATASETS.get(name.strip(), name.strip()) for name in names.split(","))


def _place(record: Record) -> tuple[int, str, bool, str]:
    """Return what studies are sorted by: data set, its comparison of explainers first, name."""
    known = list(DATASETS)
    at = known.index(record.dataset) if record.dataset in known else len(known)
    return at, record.dataset, record.name != record.dataset, record.name


def _headlines(study: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the tables with headline numbers, of the comparison of explainers on a data set."""
    record: Record = study["record"]
    if record.name != record.dataset:
        return []
    found = [one for one in study["tables"] if has_headlines(one["sheet"])]
    return [
        {
            "study": study,
            "first": at == 0,
            "caption": one["caption"],
            "table": summary_table(one["sheet"]),
        }
        for at, one in enumerate(found)
    ]


def _figure(shown: Exhibit, content: bytes) -> dict[str, Any]:
    try:
        with Image.open(BytesIO(content), formats=["PNG"]) as picture:
            width, height = picture.size
    except UnidentifiedImageError as error:
        raise SSplainError(f"The figure {shown.file!r} is no PNG; run its study again.") from error
    address = data_url(content, "image/png")
    return {"width": width, "height": height, "caption": shown.caption, "address": address}


def _table(shown: Exhibit, content: bytes) -> dict[str, Any]:
    sheet = read_sheet(content.decode(errors="replace"))
    return {
        "sheet": sheet,
        "caption": shown.caption,
        "name": Path(shown.file).name,
        "address": data_url(content, "text/csv"),
        "table": table(sheet.columns, sheet.rows[:ROWS]),
        "more": len(sheet.rows) - ROWS,
    }


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    return {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in values.items()
    }


def _duration(seconds: float) -> str:
    """Return a time for readers.

    >>> [_duration(s) for s in (4.2, 90, 7300)]
    ['4 s', '1.5 min', '2.0 h']
    """
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"
