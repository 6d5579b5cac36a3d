"""`ssplain reproduce`: the paper's figures and tables, and what becomes of its claims."""

from pathlib import Path
from typing import Annotated

import typer


def reproduce(
    name: Annotated[str, typer.Argument(help="A study such as mnist, or 'all'.")],
    *,
    out: Annotated[Path, typer.Option(help="Folder of the studies; what is done there is used.")],
    images: Annotated[
        int | None,
        typer.Option(
            min=1, help="At most this many images (default: 100 of ROP, else 500, as in the paper)."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Fixes everything drawn at random.")] = 0,
    go_on: Annotated[
        bool,
        typer.Option(
            "--go-on",
            help="Take the first images from an earlier run with fewer of them, even if the code "
            "has changed since; some are done again, to see that both runs belong together.",
        ),
    ] = False,
) -> None:
    """Repeat figures and tables of the paper on bundled images, and judge its claims.

    A stopped run goes on where it was. Each study gets a folder with figures, tables and a record;
    ledger.json and ledger.csv say of each claim whether it holds.
    """
    from ssplain.claims import tally, update_ledger
    from ssplain.report.record import read_ledger
    from ssplain.study.reproduce import named
    from ssplain.study.reproduce import reproduce as run
    from ssplain.terminal.progress import bar

    for study in named(name):
        with bar(study) as progress:
            record = run(study, out, images=images, seed=seed, go_on=go_on, progress=progress)
        update_ledger(out)
        files = len(record.figures) + len(record.tables)
        typer.echo(
            f"{study}: {record.images} images, {files} figures and tables in {out / study}, "
            f"{record.seconds:.0f} s of computing in all."
        )
    typer.echo(f"{tally(read_ledger(out))} See {out / 'ledger.csv'}.")
