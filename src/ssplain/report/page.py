"""A self-contained HTML page: opens from disk, needs no network, holds its own pictures.

Text is escaped wherever it enters; only `Markup` passes as it is, and only code makes that.
"""

import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from ssplain.report.render import Picture, enlarge, png_bytes

_SMALL = 112  # pixels; pictures of fewer are enlarged to as many, without smoothing
_NUMBER = re.compile(r"[-+]?\d[\d.]*(e[-+]?\d+)?( ?%)?")


@dataclass(frozen=True)
class Markup:
    """HTML that was put together here and is shown as such."""

    html: str


Cell = str | Picture | Markup


@dataclass(frozen=True)
class Section:
    """A part of a page: a heading, a sentence or two, and a table of texts and pictures."""

    title: str
    note: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]


def page(title: str, note: str, sections: Sequence[Section]) -> str:
    """Return the page as HTML.

    >>> html = page("Two", "A note.", [Section("Part", "", ["name"], [["a < b"]])])
    >>> "a &lt; b" in html
    True
    """
    body = "".join(
        f'<h2>{escape(one.title)}</h2><p class="note">{escape(one.note)}</p>\n'
        f"{table(one.columns, one.rows)}"
        for one in sections
    )
    return document(title, f'<p class="note">{escape(note)}</p>\n{body}')


def document(title: str, body: str, *, style: str = "", script: str = "") -> str:
    """Return a whole HTML document around a body.

    The browser is told to load nothing from anywhere and to run no script but the given one.

    Args:
        title: text, also the first heading.
        body: HTML.
        style: CSS that is added to the common style.
        script: JavaScript, run after the body is there.

    >>> "&lt;b&gt;" in document("<b>", "<p>body</p>")
    True
    """
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    allowed = f"'sha256-{digest}'" if script else "'none'"
    policy = f"default-src 'none';img-src data:;style-src 'unsafe-inline';script-src {allowed}"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(title)}</title><style>{asset('page.css')}{style}</style></head>\n"
        f"<body><h1>{escape(title)}</h1>\n{body}"
        f"{f'<script>{script}</script>' if script else ''}</body></html>\n"
    )


def table(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """Return a table as HTML; numbers, and the heads of columns of numbers, stand to the right.

    >>> print(table(["name", "value"], [["a", "0.5"]]))
    <div class="table">...name</th><th scope="col" class="number">value</th></tr></thead><tbody>
    <tr><td class="text">a</td><td class="number">0.5</td></tr>...
    """
    kinds = [{_kind(row[at]) for row in rows} for at in range(len(columns))]
    head = "".join(
        f'<th scope="col" class="{"number" if kind == {"number"} else "text"}">{escape(name)}</th>'
        for name, kind in zip(columns, kinds, strict=True)
    )
    body = "".join(
        "<tr>" + "".join(_cell(c, n) for c, n in zip(row, columns, strict=True)) + "</tr>\n"
        for row in rows
    )
    return (
        f'<div class="table"><table><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table>'
        "</div>\n"
    )


def fold(title: str, inner: str, *, opened: bool = False) -> str:
    r"""Return HTML that unfolds below its title.

    >>> fold("a < b", "<p>inner</p>")
    '<details><summary>a &lt; b</summary><p>inner</p></details>\n'
    """
    return (
        f"<details{' open' if opened else ''}><summary>{escape(title)}</summary>{inner}</details>\n"
    )


def data_url(content: bytes, kind: str) -> str:
    """Return content as an address that holds it.

    >>> data_url(b"a,b", "text/csv")
    'data:text/csv;base64,YSxi'
    """
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def asset(name: str) -> str:
    """Return the text of a style or script that lies beside this file."""
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _cell(content: Cell, column: str) -> str:
    if isinstance(content, Markup):
        return f'<td class="text">{content.html}</td>'
    if isinstance(content, str):
        lines = "<br>".join(map(escape, content.splitlines()))
        return f'<td class="{_kind(content)}">{lines}</td>'
    source = data_url(png_bytes(enlarge(content, _SMALL)), "image/png")
    large = ' class="large"' if content.shape[1] > _SMALL else ""
    return f'<td><img{large} alt="{escape(column)}" src="{source}"></td>'


def _kind(content: Cell) -> str:
    return "number" if isinstance(content, str) and _NUMBER.fullmatch(content) else "text"
