"""`ssplain bench`: measured comparisons, one JSON line per case."""

import importlib
import json

import typer

from ssplain.errors import SSplainError

# name on the command line -> room file; each has `cases()`, which yields one dict per case
SUITES = {name: f"ssplain.bench.{name}" for name in ("core", "explainers", "metrics", "vessels")}


def bench(
    suite: str = typer.Argument(help=f"What to measure: {', '.join(SUITES)}."),
) -> None:
    """Measure speed and memory; ratios are taken within one run, so they travel."""
    if suite not in SUITES:
        raise SSplainError(f"There is no benchmark {suite!r}; choose one of: {', '.join(SUITES)}.")
    for case in importlib.import_module(SUITES[suite]).cases():
        typer.echo(json.dumps(case))
