"""`ssplain report`: a folder of studies as one HTML file to read and pass on."""

from pathlib import Path
from typing import Annotated

import typer

from ssplain.errors import SSplainError


def report(
    folder: Annotated[Path, typer.Argument(help="Folder that `ssplain reproduce` wrote.")],
    *,
    out: Annotated[
        Path | None, typer.Option(help="File to write (default: report.html in the folder).")
    ] = None,
) -> None:
    """Write the studies of a folder as one page: numbers, claims, figures, maps to play with."""
    from ssplain.files import write_whole
    from ssplain.jobs.index import NAME
    from ssplain.pages import studies_page

    if (folder / NAME).exists():
        raise SSplainError(
            f"{folder} is a job, not a folder of studies; the same `ssplain explain` with --report "
            "FILE writes its page."
        )
    page = studies_page(folder).encode()
    target = out or folder / "report.html"
    write_whole(target, page)
    typer.echo(f"Look at {target} in a browser ({len(page) / 1e6:.1f} MB, needs no network).")
