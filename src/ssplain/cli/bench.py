"""`ssplain bench`: measured comparisons, one JSON line per case."""

import importlib
import json
from typing import Annotated

import typer

from ssplain.errors import SSplainError

# name on the command line -> room file; each has `cases()`, which yields one dict per case
_NAMES = ("core", "explainers", "fundus", "metrics", "outside", "rop", "run", "vessels")
SUITES = {name: f"ssplain.bench.{name}" for name in _NAMES}


SIZED = ("explainers", "outside", "rop", "run")  # those whose `cases` take a number of images


def bench(
    suite: Annotated[str, typer.Argument(help=f"What to measure: {', '.join(SUITES)}.")],
    *,
    images: Annotated[
        int | None,
        typer.Option(min=1, help=f"At most this many images of each set; for {', '.join(SIZED)}."),
    ] = None,
) -> None:
    """Measure speed and memory; ratios are taken within one run, so they travel."""
    from ssplain.terminal.progress import bar

    if suite not in SUITES:
        raise SSplainError(f"There is no benchmark {suite!r}; choose one of: {', '.join(SUITES)}.")
    if images is not None and suite not in SIZED:
        raise SSplainError(
            f"The benchmark {suite!r} has no --images; leave it out, or choose one of: "
            f"{', '.join(SIZED)}."
        )
    given = {} if images is None else {"images": images}
    with bar(f"measuring {suite}"):
        for case in importlib.import_module(SUITES[suite]).cases(**given):
            typer.echo(json.dumps(case))
