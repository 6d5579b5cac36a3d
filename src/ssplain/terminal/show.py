"""What commands print: tables on the terminal."""

import json
import sqlite3
from collections.abc import Sequence

import typer
from rich.console import Console
from rich.table import Table


def results_table(words: Sequence[str], numbers: Sequence[str]) -> Table:
    """Return a table in which words give way: names are folded, numbers never cut.

    Args:
        words: columns of text.
        numbers: columns of numbers, to the right.
    """
    shown = Table(box=None, header_style="bold", pad_edge=False)
    for column in words:
        shown.add_column(column, overflow="fold")
    for column in numbers:
        shown.add_column(column, justify="right", no_wrap=True, min_width=max(7, len(column)))
    return shown


def print_table(shown: Table) -> None:
    """Print a table; in a pipe there is no width to fit into."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=200)
    console.print(shown)


def table(rows: Sequence[sqlite3.Row], classes: Sequence[str]) -> None:
    """Print one line per image: opinion, target, what the mask keeps, and what that does.

    Args:
        rows: images of a job's index that are done.
        classes: names of the classes; none if they have none.
    """
    measured = [json.loads(row["measures"]) for row in rows]
    steady = any(STEADY in measures for measures in measured)
    numbers = ("p whole", "kept", "p only mask", "p without", *("steady",) * steady)
    shown = results_table(("image", "prediction", "target"), numbers)
    for row, measures in zip(rows, measured, strict=True):
        shown.add_row(
            row["file"],
            _name(row["prediction"], classes),
            _name(row["target"], classes),
            f"{measures['probability']:.3f}",
            f"{measures['kept_share']:.1%}",
            f"{measures['probability_only_mask']:.3f}",
            f"{measures['probability_without_mask']:.3f}",
            *(_percent(measures.get(STEADY)),) * steady,
        )
    print_table(shown)
    if steady:
        typer.echo("steady: how much of the top quarter of the map stays under noise of 1e-6.")


STEADY = "overlap_1e-06"  # among the measures of an index


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"


def _name(index: int, classes: Sequence[str]) -> str:
    if not classes or classes[index] == str(index):
        return str(index)
    return f"{index} {classes[index]}"
