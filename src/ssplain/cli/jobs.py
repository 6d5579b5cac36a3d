"""`ssplain jobs`: what a job has done, and what is left."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ssplain.errors import SSplainError
from ssplain.terminal.work import EngineKind, IndexFile, Patience, Scheduler, Workers, work_through

if TYPE_CHECKING:
    from ssplain.jobs.index import Index


def jobs(
    folder: Annotated[Path, typer.Argument(help="Folder of the job, the --out it was given.")],
    *,
    export: Annotated[
        str | None, typer.Option(help="Write all images as csv (standard output) or parquet.")
    ] = None,
    to: Annotated[
        Path | None, typer.Option(help="File of the export (default for parquet: in the job).")
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Work again on the images that failed.")
    ] = False,
    merge: Annotated[
        bool, typer.Option("--merge", help="Bring the shards in the folder together.")
    ] = False,
    engine: EngineKind = None,
    workers: Workers = 1,
    scheduler: Scheduler = None,
    patience: Patience = 600.0,
    index: IndexFile = None,
) -> None:
    """Show the state of a job, export it, try failed images again, or merge shards."""
    from ssplain.jobs.state import merge as merge_shards
    from ssplain.jobs.state import open_job

    if export not in (None, "csv", "parquet"):
        raise SSplainError(f"--export {export} is not known; choose csv or parquet.")
    if retry_failed:
        _retry(
            folder,
            index,
            engine=engine,
            workers=workers,
            scheduler=scheduler,
            patience=patience,
        )
        return
    with merge_shards(folder) if merge else open_job(index or folder) as found:
        if export is not None:
            _export(found, export, to, folder)
        else:
            _show(found, folder)


def _retry(folder: Path, index: Path | None, **options: object) -> None:
    from ssplain.jobs.index import Index
    from ssplain.jobs.recheck import retry_failed
    from ssplain.jobs.state import open_job
    from ssplain.work.task import revive

    with open_job(index or folder) as found:
        path, description = found.path, found.about("task")
    task = revive(description)
    with Index(path) as writing:
        count = retry_failed(writing)
    if not count:
        typer.echo("No image has failed.")
        return
    work_through(task, [], str(folder), index=index, **options)  # type: ignore[arg-type]


def _export(index: "Index", kind: str, to: Path | None, folder: Path) -> None:
    from ssplain.files import told
    from ssplain.jobs.state import write_csv, write_parquet

    if kind == "parquet":
        path = to or folder / "images.parquet"
        with told(path):
            write_parquet(index, path)
        typer.echo(f"Written to {path}.")
    elif to is None:
        write_csv(index, sys.stdout)
    else:
        with told(to), to.open("w", newline="", encoding="utf-8") as file:
            write_csv(index, file)


def _show(index: "Index", folder: Path) -> None:
    counts = index.counts()
    total = sum(counts.values())
    typer.echo(f"{folder}: {total} images")
    for state, count in counts.items():
        typer.echo(f"  {state:8} {count:>9}")
    same = sum(1 for _ in index.rows("same_as IS NOT NULL"))
    if same:
        typer.echo(f"{same} of them have the content of another and share its result.")
    reasons = index.db.execute(
        "SELECT replace(error, path, '...') AS reason, count(*) AS times FROM images "
        "WHERE status = 'failed' GROUP BY reason ORDER BY times DESC LIMIT 10"
    ).fetchall()
    if reasons:
        typer.echo("Why images failed:")
    for reason, times in reasons:
        typer.echo(f"  {times:>6} x {reason}")
    identity = index.about("identity") or {}
    model = identity.get("model")
    named = f" with the model {model}" if model else ""
    typer.echo(f"Made by {identity.get('code')}{named}.")
    if counts["waiting"]:
        typer.echo("To go on, give the command that started it again.")
