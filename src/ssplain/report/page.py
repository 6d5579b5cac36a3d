"""A self-contained HTML page: opens from disk, needs no network, holds its own pictures."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from ssplain.report.render import Picture, enlarge, png_bytes

_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;
color:#1b1b1f;background:#fff}
h1{font-size:1.6rem}h2{margin-top:2.5rem;font-size:1.25rem}
.table{overflow-x:auto}table{border-collapse:collapse}
th,td{padding:.35rem .7rem;text-align:left;vertical-align:middle}
thead th{position:sticky;top:0;background:#fff;border-bottom:2px solid #1b1b1f;font-size:.9rem}
td.text{font-size:.9rem;white-space:nowrap}tbody tr{border-bottom:1px solid #ddd}
img{display:block;width:7rem;height:auto;image-rendering:pixelated;background:#000}
.note{color:#555;max-width:50rem}
"""


@dataclass(frozen=True)
class Section:
    """A part of a page: a heading, a sentence or two, and a table of texts and pictures."""

    title: str
    note: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str | Picture]]


def page(title: str, note: str, sections: Sequence[Section]) -> str:
    """Return the page as HTML.

    >>> html = page("Two", "A note.", [Section("Part", "", ["name"], [["a < b"]])])
    >>> "a &lt; b" in html
    True
    """
    body = "".join(_section(section) for section in sections)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n"
        f'<body><h1>{escape(title)}</h1><p class="note">{escape(note)}</p>\n{body}</body></html>\n'
    )


def _section(section: Section) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in section.columns)
    rows = "".join(
        "<tr>" + "".join(_cell(c, n) for c, n in zip(row, section.columns, strict=True)) + "</tr>\n"
        for row in section.rows
    )
    return (
        f'<h2>{escape(section.title)}</h2><p class="note">{escape(section.note)}</p>\n'
        f'<div class="table"><table><thead><tr>{head}</tr></thead><tbody>\n{rows}</tbody></table>'
        "</div>\n"
    )


def _cell(content: str | Picture, column: str) -> str:
    if isinstance(content, str):
        lines = "<br>".join(escape(line) for line in content.splitlines())
        return f'<td class="text">{lines}</td>'
    data = base64.b64encode(png_bytes(enlarge(content, 112))).decode()
    return f'<td><img alt="{escape(column)}" src="data:image/png;base64,{data}"></td>'
