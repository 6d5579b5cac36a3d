"""A self-contained HTML page: opens from disk, needs no network, holds its own pictures.

Pages are templates that escape whatever enters them; only `Markup` passes as it is, and only the
templates make that.
"""

import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from ssplain.report.render import Picture, enlarge, png_bytes

_HOME = Path(__file__).parent
_SMALL = 112  # pixels; pictures of fewer are enlarged to as many, without smoothing
_NUMBER = re.compile(r"[-+]?\d[\d.]*(e[-+]?\d+)?( ?%)?")

Cell = str | Picture | Markup


@dataclass(frozen=True)
class Section:
    """A part of a page: a heading, a sentence or two, and a table of texts and pictures."""

    title: str
    note: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]


@cache
def _templates() -> Environment:
    return Environment(
        loader=FileSystemLoader(_HOME / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render(template: str, **values: Any) -> Markup:  # noqa: ANN401 - whatever the template takes
    r"""Fill a template of this room; text is escaped, `Markup` is not.

    >>> render("page.html", note="a < b", sections=[])
    Markup('<p class="note">a &lt; b</p>\n')
    """
    return Markup(_templates().get_template(template).render(**values))  # noqa: S704 - autoescaped


def page(title: str, note: str, sections: Sequence[Section]) -> str:
    """Return a page of sections as HTML.

    >>> html = page("Two", "A note.", [Section("Part", "", ["name"], [["a < b"]])])
    >>> "a &lt; b" in html
    True
    """
    return document(title, render("page.html", note=note, sections=sections, table=table))


def document(title: str, body: str, *, style: str = "", script: str = "") -> str:
    """Return a whole HTML document around a body.

    The browser is told to load nothing from anywhere and to run no script but the given one.

    Args:
        title: text, also the first heading.
        body: `Markup`; other text is escaped.
        style: CSS that is added to the common style.
        script: JavaScript, run after the body is there.

    >>> "&lt;b&gt;" in document("<b>", Markup("<p>body</p>"))
    True
    """
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return render(
        "document.html",
        title=title,
        body=body,
        allowed=_own(f"'sha256-{digest}'" if script else "'none'"),
        style=_own(asset("page.css") + style),
        script=_own(script),
    )


def table(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> Markup:
    """Return a table as HTML; numbers, and the heads of columns of numbers, stand to the right.

    >>> print(table(["name", "value"], [["a", "0.5"]]))
    <div class="table">...name</th><th scope="col" class="number">value</th></tr></thead><tbody>
    <tr><td class="text">a</td><td class="number">0.5</td></tr>...
    """
    kinds = [{_kind(row[at]) for row in rows} for at in range(len(columns))]
    heads = [
        (name, "number" if kind == {"number"} else "text")
        for name, kind in zip(columns, kinds, strict=True)
    ]
    cells = [[_cell(c, name) for c, name in zip(row, columns, strict=True)] for row in rows]
    return render("table.html", heads=heads, rows=cells)


def data_url(content: bytes, kind: str) -> str:
    """Return content as an address that holds it.

    >>> data_url(b"a,b", "text/csv")
    'data:text/csv;base64,YSxi'
    """
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def asset(name: str) -> str:
    """Return the text of a style or script that lies beside this file."""
    return (_HOME / name).read_text(encoding="utf-8")


def _own(text: str) -> Markup:
    """Let style and script of our own pass as they are."""
    return Markup(text)  # noqa: S704 - never a user's


def _cell(content: Cell, column: str) -> dict[str, object]:
    if isinstance(content, Markup):
        return {"kind": "text", "lines": [content]}
    if isinstance(content, str):
        return {"kind": _kind(content), "lines": content.splitlines()}
    source = data_url(png_bytes(enlarge(content, _SMALL)), "image/png")
    return {"picture": source, "large": content.shape[1] > _SMALL, "column": column}


def _kind(content: Cell) -> str:
    return "number" if isinstance(content, str) and _NUMBER.fullmatch(content) else "text"
