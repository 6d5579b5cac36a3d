"""What commands that are jobs share: options, Ctrl-C, progress, the summary and the exit code."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from ssplain.jobs.driver import State
    from ssplain.jobs.index import Index
    from ssplain.jobs.job import Summary
    from ssplain.work.task import Task

Inputs = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUT...",
        help="Images (PNG, TIFF, JPEG, BMP, GIF, NPZ, DICOM), folders, patterns such as 'a/*.png', "
        "or a CSV file with path[,target][,id].",
    ),
]
JobFolder = Annotated[
    str,
    typer.Option(
        help="Folder of the job, or a URL that fsspec knows (with --index). The same command goes "
        "on where it stopped."
    ),
]
EngineKind = Annotated[
    str | None,
    typer.Option(help="Where to compute: here, processes or dask (default: by --workers)."),
]
Report = Annotated[
    Path | None,
    typer.Option(
        help="Write one HTML file of the results, to look at and pass on; it needs no network."
    ),
]
Workers = Annotated[int, typer.Option(min=1, help="Local processes.")]
Scheduler = Annotated[
    str | None, typer.Option(help="Address of a Dask scheduler, such as tcp://head:8786.")
]
Patience = Annotated[
    float, typer.Option(min=0, help="Seconds to wait for a Dask cluster that has no workers.")
]
Shard = Annotated[
    str | None, typer.Option(help="Only the i-th of n parts, as 3/10; merge with `ssplain jobs`.")
]
IndexFile = Annotated[
    Path | None,
    typer.Option(help="The job's index, if --out is a URL or on a network file system."),
]
TOLD = 200  # failures that are told one by one
SHOWN = 20  # images of which a table is shown


class Interrupt:
    """Ctrl-C ends after the running batch, a second one at once; SIGTERM does the same."""

    def __init__(self) -> None:
        self.signal = 0

    def __call__(self) -> bool:
        """Say whether to stop."""
        return bool(self.signal)

    def _caught(self, number: int, _frame: object) -> None:
        if self.signal:
            if sys.stderr.isatty():
                sys.stderr.write("\x1b[?25h")  # the cursor, which a progress bar hides
            os._exit(128 + number)  # workers end with us, and the index holds only whole records
        self.signal = number
        sys.stderr.write(
            "\nssplain: stopping after what runs now; again to stop at once. Nothing is lost.\n"
        )

    @contextmanager
    def watching(self) -> Iterator["Interrupt"]:
        """Watch for signals while the block runs."""
        kinds = (signal.SIGINT, signal.SIGTERM)
        before = [signal.signal(kind, self._caught) for kind in kinds]
        try:
            yield self
        finally:
            for kind, old in zip(kinds, before, strict=True):
                signal.signal(kind, old)


def work_through(
    task: "Task",
    inputs: list[str],
    out: str,
    *,
    engine: str | None = None,
    workers: int = 1,
    show: "Callable[[Index], None] | None" = None,
    report: Path | None = None,
    **options: Any,  # noqa: ANN401 - as `ssplain.jobs.job.run` takes them
) -> None:
    """Run a job from the command line: progress, summary, exit code.

    Ends with 0 if all images are done, 3 if some failed, and 128 and the signal's number if it was
    stopped by one.

    Args:
        task: what to do.
        inputs: as the user gave them.
        out: folder or URL.
        engine: None for processes where there are several workers.
        workers: local processes.
        show: prints what became of few images.
        report: file for one HTML page of the results.
        options: go to `ssplain.jobs.job.run`.
    """
    from ssplain.jobs.job import run

    if engine is None:
        engine = "processes" if workers > 1 else "here"
    with Interrupt().watching() as stop, _progress() as progress:
        summary = run(
            task,
            inputs,
            out,
            engine=engine,
            workers=workers,
            progress=progress,
            stop=stop,
            **options,
        )
    _end(summary, options.get("index"), stop, show, report)


def _end(
    summary: "Summary",
    path: Path | None,
    stop: Interrupt,
    show: "Callable[[Index], None] | None",
    report: Path | None,
) -> None:
    from ssplain.jobs.index import NAME, Index

    counts = summary.counts
    with Index(path or Path(summary.root) / NAME, write=False) as index:
        for row in index.rows("status = 'failed'", limit=TOLD):
            typer.echo(f"ssplain: {_named(row['path'], row['error'])}", err=True)
        if show is not None and counts.done <= SHOWN:
            show(index)
        if report is not None:
            _report(index, Path(summary.root), report)
    total = sum(counts)
    if counts.failed:
        more = f"; the first {TOLD} are named above" if counts.failed > TOLD else ", see above"
        typer.echo(f"ssplain: {counts.failed} of {total} images failed{more}.", err=True)
    rate = summary.fresh / summary.seconds if summary.seconds else 0.0
    now = f"{summary.fresh} now in {_span(summary.seconds)}, {rate:.3g} per second"
    typer.echo(
        f"{counts.done} of {total} images done ({now}), {counts.failed} failed, "
        f"{counts.waiting} waiting. Results are in {summary.root}, one folder per image."
    )
    if stop.signal and counts.waiting:
        typer.echo("ssplain: stopped; the same command goes on from here.", err=True)
        raise typer.Exit(128 + stop.signal)
    if counts.failed:
        raise typer.Exit(3)


def _report(index: "Index", root: Path, path: Path) -> None:
    """Write one page of a job's results."""
    from ssplain.files import write_whole
    from ssplain.jobs.report import job_page

    if not index.counts()["done"]:
        typer.echo(f"ssplain: no image is done, so {path} is not written.", err=True)
        return
    page = job_page(index, root).encode()
    write_whole(path, page)
    typer.echo(f"Look at {path} in a browser ({len(page) / 1e6:.1f} MB, needs no network).")


def check_report(report: Path | None, out: str) -> None:
    """Complain early about a report that could not be written in the end."""
    from ssplain.errors import SSplainError

    if report is None:
        return
    if "://" in out:
        raise SSplainError("--report needs results on this machine; give --out a folder.")
    if report.is_dir() or not report.absolute().parent.is_dir():
        raise SSplainError(
            f"--report {report} cannot be written; give a file name in a folder that is there."
        )


@contextmanager
def _progress() -> "Iterator[Callable[[State], None] | None]":
    """Show progress on a terminal; stay quiet in a pipe."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    bar = Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}, {task.fields[failed]} failed, left"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    with bar:
        line = bar.add_task("", total=None, rate="", failed=0)

        def tell(state: "State") -> None:
            speed = bar.tasks[0].speed
            bar.update(
                line,
                total=sum(state),
                completed=state.done + state.failed,
                failed=state.failed,
                rate="" if speed is None else f"{speed:.3g} images/s",
            )

        yield tell


def _named(path: str, error: str | None) -> str:
    text = error or "failed"
    return text if path in text else f"{path}: {text}"


def _span(seconds: float) -> str:
    """Say how long something took.

    >>> _span(75)
    '1 min 15 s'
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
