"""What commands print: tables on the terminal."""

import json
import sqlite3
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table


def table(rows: Sequence[sqlite3.Row], classes: Sequence[str] | None) -> None:
    """Print one line per image: opinion, target, what the mask keeps, and what that does.

    Args:
        rows: images of a job's index that are done.
        classes: names of the classes, if they are known.
    """
    shown = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("image", "prediction", "target"):
        shown.add_column(column, no_wrap=True)
    for column in ("p whole", "kept", "p only mask", "p without"):
        shown.add_column(column, justify="right", no_wrap=True)
    for row in rows:
        measures = json.loads(row["measures"])
        shown.add_row(
            row["file"],
            _name(row["prediction"], classes),
            _name(row["target"], classes),
            f"{measures['probability']:.3f}",
            f"{measures['kept_share']:.1%}",
            f"{measures['probability_only_mask']:.3f}",
            f"{measures['probability_without_mask']:.3f}",
        )
    # in a pipe there is no width to fit into; on a terminal, rich asks for it
    console = Console()
    if not console.is_terminal:
        console = Console(width=200)
    console.print(shown)


def _name(index: int, classes: Sequence[str] | None) -> str:
    if classes is None or classes[index] == str(index):
        return str(index)
    return f"{index} {classes[index]}"
