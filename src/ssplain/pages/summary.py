"""The headline numbers of studies: one table per data set, explainers down, measures across."""

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO

from markupsafe import Markup

from ssplain.explain.registry import METHODS
from ssplain.metrics import MEASURES
from ssplain.pages.page import table

_NEEDED = {"explainer", "measure", "value", "low", "high"}


@dataclass(frozen=True)
class Sheet:
    """A CSV file: the names of its columns, and its lines."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def records(self) -> list[Mapping[str, str]]:
        """Return the lines by the names of the columns."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


def read_sheet(text: str) -> Sheet:
    r"""Read CSV; short lines are filled up, and what goes beyond the columns is left out.

    >>> read_sheet("a,b\n1\n").rows
    (('1', ''),)
    """
    head, *rows = list(csv.reader(StringIO(text))) or [[]]
    width = len(head)
    return Sheet(
        tuple(head), tuple(tuple((row + [""] * width)[:width]) for row in rows if any(row))
    )


def headlines() -> list[str]:
    """Return the measures of a short table."""
    return [name for name, measure in MEASURES.items() if measure.headline]


def has_headlines(sheet: Sheet) -> bool:
    """Whether it is an evaluation, as `evaluation_csv` writes it, with any headline measure."""
    return set(sheet.columns) >= _NEEDED and any(
        line["measure"] in headlines() for line in sheet.records()
    )


def summary_table(sheet: Sheet) -> Markup:
    r"""Return the headline measures of an evaluation as an HTML table.

    The arrow says which way is better, the best value of each measure is bold, and controls are
    named as such.

    >>> sheet = read_sheet("explainer,measure,value,low,high\nrandom,insertion,0.5,0.4,0.6\n")
    >>> "insertion\u00a0\u2191" in summary_table(sheet)
    True
    """
    lines = sheet.records()
    found = {(line["explainer"], line["measure"]): line for line in reversed(lines)}
    explainers = list(dict.fromkeys(line["explainer"] for line in lines))
    measures = [name for name in headlines() if any(line["measure"] == name for line in lines)]
    best = {
        name: _best(name, [line for line in lines if line["measure"] == name]) for name in measures
    }
    rows = [
        [
            _tagged(explainer),
            *(_number(found.get((explainer, name)), best[name]) for name in measures),
        ]
        for explainer in explainers
    ]
    return table(["explainer", *(f"{name}{_arrow(name)}" for name in measures)], rows)


def _tagged(explainer: str) -> str:
    """Return the name, with a remark if it is that of a control."""
    control = any(
        method.family == "control" and explainer in (method.name, method.title)
        for method in METHODS.values()
    )
    return f"{explainer} (control)" if control else explainer


def _arrow(measure: str) -> str:
    return {"high": "\u00a0\u2191", "low": "\u00a0\u2193", None: ""}[MEASURES[measure].better]


def _best(measure: str, lines: Sequence[Mapping[str, str]]) -> float | None:
    values = [value for line in lines if (value := _value(line["value"])) is not None]
    record = MEASURES[measure]
    if record.better is None or not values:
        return None
    return max(values, key=lambda value: record.sign * value)


def _number(line: Mapping[str, str] | None, best: float | None) -> str | Markup:
    if line is None or (value := _value(line["value"])) is None:
        return "\u2013"
    low, high = _value(line["low"]), _value(line["high"])
    between = "" if low is None or high is None else f"{low:z.3f} to {high:z.3f}"
    text = f"{value:z.3f}"
    # what is printed as equal is marked as equal
    kind = "best" if best is not None and text == f"{best:z.3f}" else "value"
    number = Markup('<span class="{}">{}</span> <span class="interval">{}</span>')
    return number.format(kind, text, between)


def _value(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return None if math.isnan(number) else number
