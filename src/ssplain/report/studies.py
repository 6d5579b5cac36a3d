"""The page of a folder of studies: headline numbers, ledger, and each study with its figures."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image, UnidentifiedImageError

from ssplain.errors import SSplainError
from ssplain.report.examples import SHARES, colours, embedded, read_examples, viewer
from ssplain.report.ledger import chip, ledger
from ssplain.report.page import asset, data_url, document, fold, table
from ssplain.report.record import RECORD, Finding, Record, Shown, read_ledger, read_records
from ssplain.report.summary import Sheet, read_sheet, summary_table

TITLE = "SSplain: the paper's figures and claims, measured again"
WHAT = (
    "This page repeats the figures and tables of the paper (Sunger et al., SSplain: Sparse and "
    "Smooth Explainer for Retinopathy of Prematurity Classification, WACV 2026) with the ssplain "
    "library, and holds what the paper says against the numbers. Every number comes from files "
    "that `ssplain reproduce` wrote; how each was made stands below it."
)
NOT = (
    "It is not for diagnosis: the maps show what a model's decision rests on, not whether an eye "
    "is ill, and no picture of a patient is in it."
)
DATASETS = {"mnist": "MNIST", "fmnist": "Fashion-MNIST", "rop": "ROP (simulated fundus images)"}
ROWS = 200  # of a table that are shown; the rest is in the file that can be saved


@dataclass(frozen=True)
class Study:
    """A study as it is shown: its record, its place on the page, and the files it names."""

    record: Record
    anchor: str
    figures: tuple[tuple[Shown, bytes], ...]
    tables: tuple[tuple[Shown, bytes, Sheet], ...]
    examples: Path | None


def studies_page(folder: Path) -> str:
    """Return the studies of a folder as one HTML page that needs nothing else.

    Args:
        folder: as `ssplain reproduce` writes it; see `ssplain.report.record`.
    """
    studies = [_load(home, record) for home, record in read_records(folder)]
    findings = read_ledger(folder)
    anchors = {study.record.name: study.anchor for study in studies}
    parts = [_summary(studies), _claims(findings, anchors)]
    parts += [_study(study, findings) for study in studies]
    body = (
        f'<p>{escape(WHAT)}</p><p class="note">{escape(NOT)}</p>\n{_contents(studies, findings)}'
        f"{''.join(parts)}"
        f'<div id="shared" hidden>{embedded({"shares": SHARES, "colours": colours()})}</div>\n'
    )
    return document(TITLE, body, style=asset("studies.css"), script=asset("studies.js"))


def _load(home: Path, record: Record) -> Study:
    tables = [(shown, _read(home, shown.file)) for shown in record.tables]
    return Study(
        record,
        anchor="study-" + re.sub(r"[^a-z0-9]+", "-", record.name.lower()),
        figures=tuple((shown, _read(home, shown.file)) for shown in record.figures),
        tables=tuple(
            (shown, content, read_sheet(content.decode(errors="replace")))
            for shown, content in tables
        ),
        examples=_inside(home, record.examples) if record.examples else None,
    )


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


def _contents(studies: Sequence[Study], findings: Sequence[Finding]) -> str:
    fixed = [("summary", "Headline numbers")] if _headlines(studies) else []
    fixed += [("ledger", f"The claims, one by one ({len(findings)})")] if findings else []
    links = [(anchor, escape(text)) for anchor, text in fixed]
    links += [(one.anchor, f"{escape(one.record.title)} {_where(one.record)}") for one in studies]
    items = "".join(f'<li><a href="#{anchor}">{text}</a></li>' for anchor, text in links)
    return f'<nav aria-label="Contents"><h2>Contents</h2><ul>{items}</ul></nav>\n'


def _where(record: Record) -> str:
    return f'<span class="where">({escape(record.where)})</span>' if record.where else ""


def _headlines(studies: Sequence[Study]) -> dict[str, tuple[Study, Sheet]]:
    """Return by data set the first table of measures; a study named after the data set is first."""
    found: dict[str, tuple[Study, Sheet]] = {}
    for study in sorted(studies, key=lambda one: one.record.name != one.record.dataset):
        for _, _, sheet in study.tables:
            if sheet.is_evaluation:
                found.setdefault(study.record.dataset, (study, sheet))
    known = [name for name in DATASETS if name in found]
    return {name: found[name] for name in [*known, *sorted(found.keys() - DATASETS.keys())]}


def _summary(studies: Sequence[Study]) -> str:
    found = _headlines(studies)
    if not found:
        return ""
    tables = "".join(
        f"<h3>{escape(DATASETS.get(name, name))}</h3>"
        f'<p class="note">{escape(str(study.record.images))} images; from '
        f'<a href="#{study.anchor}">{escape(study.record.title)}</a>.</p>{summary_table(sheet)}'
        for name, (study, sheet) in found.items()
    )
    return (
        '<section id="summary"><h2>Headline numbers</h2><p class="note">Means over the images with '
        "95 % intervals (bootstrap within the classes). The arrow says which way is better; the "
        f"best of each column is bold.</p>\n{tables}</section>\n"
    )


def _claims(findings: Sequence[Finding], anchors: Mapping[str, str]) -> str:
    if not findings:
        return ""
    return (
        '<section id="ledger"><h2>The claims, one by one</h2><p class="note">What the paper says, '
        "in other words; what would have to be true of the numbers; and what was measured. A "
        "claim is undecided where the interval leaves room for both.</p>\n"
        f"{ledger(findings, anchors)}</section>\n"
    )


def _study(study: Study, findings: Sequence[Finding]) -> str:
    record = study.record
    own = [one for one in findings if one.study == record.name]
    verdicts = " ".join(
        f'<a href="#claim-{one.number}" title="{escape(one.claim)}">{one.number}</a> '
        f"{chip(one.verdict)}"
        for one in own
    )
    about = (
        f"{record.where}. {DATASETS.get(record.dataset, record.dataset)}, {record.images} images, "
        f"{_duration(record.seconds)} of computing."
    )
    return (
        f'<section id="{study.anchor}"><h2>{escape(record.title)}</h2>'
        f'<p class="note">{escape(about)}</p>\n'
        f"{f'<p>Claims: {verdicts}</p>' if own else ''}"
        f"{''.join(_figure(shown, content) for shown, content in study.figures)}"
        f"{_examples(study)}"
        f"{''.join(_table(*one) for one in study.tables)}"
        f"{_values('Settings', record.settings)}{_values('Manifest', record.manifest)}"
        "</section>\n"
    )


def _figure(shown: Shown, content: bytes) -> str:
    try:
        with Image.open(BytesIO(content), formats=["PNG"]) as picture:
            width, height = picture.size
    except UnidentifiedImageError as error:
        raise SSplainError(f"The figure {shown.file!r} is no PNG; run its study again.") from error
    return (
        f'<figure><div class="wide"><img loading="lazy" width="{width}" height="{height}" '
        f'alt="{escape(shown.caption)}" src="{data_url(content, "image/png")}"></div>'
        f"<figcaption>{escape(shown.caption)}</figcaption></figure>\n"
    )


def _examples(study: Study) -> str:
    if study.examples is None:
        return ""
    return (
        '<h3>Example maps</h3><p class="note">Move the slider to see an explainer\'s top pixels; '
        "the rest of the image is purple, as in the paper's figures.</p>\n"
        f"{viewer(read_examples(study.examples))}"
    )


def _table(shown: Shown, content: bytes, sheet: Sheet) -> str:
    left = len(sheet.rows) - ROWS
    more = f'<p class="note">{left} more lines are in the file.</p>' if left > 0 else ""
    name = escape(Path(shown.file).name)
    address = data_url(content, "text/csv")
    save = f'<a class="download" download="{name}" href="{address}">Save {name}</a>'
    return fold(
        f"Table: {shown.caption}",
        f"{table(sheet.columns, sheet.rows[:ROWS])}{more}<p>{save}</p>",
    )


def _values(title: str, values: Mapping[str, Any]) -> str:
    if not values:
        return ""
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(_text(value))}</td></tr>\n'
        for name, value in values.items()
    )
    return fold(title, f'<table class="settings"><tbody>{rows}</tbody></table>')


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _duration(seconds: float) -> str:
    """Return a time for readers.

    >>> [_duration(s) for s in (4.2, 90, 7300)]
    ['4 s', '1.5 min', '2.0 h']
    """
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"
