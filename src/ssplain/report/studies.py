"""The page of a folder of studies: headline numbers, ledger, and each study with its figures."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from io import BytesIO
from itertools import groupby
from pathlib import Path
from typing import Any

from PIL import Image, UnidentifiedImageError

from ssplain.errors import SSplainError
from ssplain.report.examples import SHARES, colours, embedded, read_examples, viewer
from ssplain.report.ledger import claims_of, ledger
from ssplain.report.page import asset, data_url, document, fold, table
from ssplain.report.record import RECORD, Finding, Record, Shown, read_ledger, read_records
from ssplain.report.summary import Sheet, has_headlines, read_sheet, summary_table

TITLE = "SSplain: the paper's figures and claims, measured again"
WHAT = (
    "This page repeats the figures and tables of the paper (Sunger et al., SSplain: Sparse and "
    "Smooth Explainer for Retinopathy of Prematurity Classification, WACV 2026) with the ssplain "
    "library, and holds what the paper says against the numbers. How each number was made, with "
    "settings, versions and fingerprints of model and images, stands with it."
)
NOT = (
    "It is not for diagnosis: the maps show what a model's decision rests on, not whether an eye "
    "is ill."
)
DATASETS = {"rop": "ROP (simulated fundus images)", "mnist": "MNIST", "fmnist": "Fashion-MNIST"}
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
    studies = sorted((_load(home, record) for home, record in read_records(folder)), key=_place)
    findings = read_ledger(folder)
    anchors = {study.record.name: study.anchor for study in studies}
    parts = [_summary(studies), _claims(findings, anchors)]
    parts += [_study(study, findings) for study in studies]
    body = (
        f"<p>{escape(WHAT)}</p><p><strong>{escape(NOT)}</strong></p>\n"
        f"{_contents(studies, findings)}{''.join(parts)}"
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
    items = [_link("summary", "Headline numbers")] if any(map(_headlines, studies)) else []
    items += [_link("ledger", f"The claims, one by one ({len(findings)})")] if findings else []
    for dataset, group in groupby(studies, key=lambda study: study.record.dataset):
        links = ""
        for study in group:
            links += _link(study.anchor, f"{study.record.title} ({study.record.where})")
            links += _link(f"{study.anchor}-maps", "Example maps") if study.examples else ""
        items.append(f"<li>{escape(_dataset(dataset))}<ul>{links}</ul></li>")
    return f'<nav aria-label="Contents"><h2>Contents</h2><ul>{"".join(items)}</ul></nav>\n'


def _link(anchor: str, text: str) -> str:
    return f'<li><a href="#{anchor}">{escape(text)}</a></li>'


def _dataset(names: str) -> str:
    return ", ".join(DATASETS.get(name.strip(), name.strip()) for name in names.split(","))


def _place(study: Study) -> tuple[int, str, bool, str]:
    """Return what studies are sorted by: data set, its comparison of explainers first, name."""
    name, dataset = study.record.name, study.record.dataset
    known = list(DATASETS)
    at = known.index(dataset) if dataset in known else len(known)
    return at, dataset, name != dataset, name


def _headlines(study: Study) -> list[tuple[Shown, Sheet]]:
    """Return the tables with headline numbers, of the comparison of explainers on a data set."""
    if study.record.name != study.record.dataset:
        return []
    return [(shown, sheet) for shown, _, sheet in study.tables if has_headlines(sheet)]


def _summary(studies: Sequence[Study]) -> str:
    parts = ""
    for study in studies:
        # the first table is the paper's; more ways to measure the same are folded
        for at, (shown, sheet) in enumerate(_headlines(study)):
            numbers = summary_table(sheet)
            if at:
                parts += fold(shown.caption, numbers)
                continue
            parts += (
                f"<h3>{escape(_dataset(study.record.dataset))}</h3>"
                f'<p class="note"><a href="#{study.anchor}">{escape(study.record.title)}</a>, '
                f"{escape(str(study.record.images))} images. {escape(shown.caption)}</p>{numbers}"
            )
    if not parts:
        return ""
    return (
        '<section id="summary"><h2>Headline numbers</h2><p class="note">Means over the images with '
        "95 % intervals. The arrow says which way is better; the best of each column is bold. A "
        "control knows nothing of the model: what it reaches, a map has to surpass.</p>\n"
        f"{parts}</section>\n"
    )


def _claims(findings: Sequence[Finding], anchors: Mapping[str, str]) -> str:
    if not findings:
        return ""
    return (
        '<section id="ledger"><h2>The claims, one by one</h2><p class="note">What the paper says, '
        "in other words; what would have to be true of the numbers; and what was measured. A "
        "claim is undecided where the numbers leave room for both.</p>\n"
        f"{ledger(findings, anchors)}</section>\n"
    )


def _study(study: Study, findings: Sequence[Finding]) -> str:
    record = study.record
    about = (
        f"{record.where}. {_dataset(record.dataset)}, {record.images} images, "
        f"{_duration(record.seconds)} of computing."
    )
    return (
        f'<section id="{study.anchor}"><h2>{escape(record.title)}</h2>'
        f'<p class="note">{escape(about)}</p>\n'
        f"{claims_of(record.name, findings)}"
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
        f'<figure style="--aspect:{width / height:.2f}"><div class="wide">'
        f'<img loading="lazy" width="{width}" height="{height}" '
        f'alt="{escape(shown.caption)}" src="{data_url(content, "image/png")}"></div>'
        f"<figcaption>{escape(shown.caption)}</figcaption></figure>\n"
    )


def _examples(study: Study) -> str:
    if study.examples is None:
        return ""
    return (
        f'<div class="examples"><h3 id="{study.anchor}-maps">Example maps</h3><p class="note">'
        "Move the slider to see an explainer's top pixels; the rest of the image is purple, as in "
        "the paper's figures.</p>\n"
        f"{viewer(read_examples(study.examples))}</div>\n"
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
