"""Tables of the studies as CSV, with fixed formats: the same numbers give the same bytes."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO

from ssplain.metrics import Evaluation


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as text; numbers that are not whole have five decimals.

    >>> print(csv_text(["a", "b"], [[1, 0.5]]), end="")
    a,b
    1,0.50000
    """
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([f"{x:.5f}" if isinstance(x, float) else x for x in row])
    return text.getvalue()


def curves_csv(found: Mapping[str, Evaluation]) -> str:
    """Return the mean curves, one line per explainer, measure and step."""
    return csv_text(
        ("explainer", "measure", "step", "value"),
        (
            (title, measure, step, value)
            for title, one in found.items()
            for measure in one.curves
            for step, value in zip(one.grid.tolist(), one.mean_curve(measure).tolist(), strict=True)
        ),
    )
