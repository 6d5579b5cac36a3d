"""`ssplain read`: from a fundus photograph to an explained grade, a page per eye."""

import csv
import json
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ssplain.terminal.work import Inputs, JobFolder, Report, Workers, check_report, work_through

if TYPE_CHECKING:
    from ssplain.jobs.index import Index

TABLE = "readings.csv"


def read(
    photos: Inputs,
    *,
    out: JobFolder,
    eye: Annotated[
        str | None,
        typer.Option(
            help="left or right, if all are the same; in a CSV file, the column `target` says it "
            "for each, and DICOM files say it themselves. Needed to tell nasal from temporal."
        ),
    ] = None,
    model: Annotated[
        str, typer.Option(help="The network that grades: a bundled name or a trained folder.")
    ] = "googlenet-rop",
    report: Report = None,
    workers: Workers = 1,
) -> None:
    """Read eyes: vessels, disc, quadrants, grade, explanation, and how firm all of that is.

    Photographs are segmented first; images of segmented vessels are taken as they are. Each eye has
    a folder with `eye.html` to look at and `reading.json`; `readings.csv` has a line for each. A
    research tool: no diagnosis. The same command goes on where it stopped. Exit code 0 if all went
    well, 3 if some could not be read, 2 for a mistake.
    """
    from ssplain.files import require_writable
    from ssplain.work.reading import ReadingEyes

    require_writable(Path(out))
    check_report(report, out)
    task = ReadingEyes(model=model, eye=eye)
    try:
        work_through(task, photos, out, workers=workers, show=_show, report=report)
    finally:
        _tabulate(Path(out))


def _show(index: "Index") -> None:
    """Print a table of few eyes."""
    from rich.console import Console
    from rich.table import Table

    shown = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("eye", "grade", "severity", "under small changes", "second opinion", "page"):
        shown.add_column(name, no_wrap=True)
    for row in index.rows("status = 'done'"):
        if not row["measures"]:  # the same file as another
            continue
        found = json.loads(row["measures"])
        moved = f"{found['severity_lowest']:.1f} to {found['severity_highest']:.1f}"
        shown.add_row(
            Path(row["path"]).name,
            found["grade"],
            f"{found['severity']:.1f}",
            moved + ("" if found["steady"] else ", another grade"),
            found["second_opinion"],
            f"{row['file']}/eye.html",
        )
    console = Console()
    if not console.is_terminal:
        console = Console(width=200)
    console.print(shown)


def _tabulate(out: Path) -> None:
    """Write one line per eye, those that could not be read with the reason."""
    from ssplain.files import write_whole
    from ssplain.jobs.index import NAME, Index

    if not (out / NAME).is_file():
        return
    rows = []
    with Index(out / NAME, write=False) as index:
        for row in index.rows():
            found = json.loads(row["measures"]) if row["measures"] else {}
            about = {"path": row["path"], "status": row["status"], "error": row["error"]}
            rows.append(about | {"folder": row["file"]} | found)
    columns = list(dict.fromkeys(name for row in rows for name in row))
    text = StringIO(newline="")
    writer = csv.DictWriter(text, columns)
    writer.writeheader()
    writer.writerows(rows)
    write_whole(out / TABLE, text.getvalue().encode())
