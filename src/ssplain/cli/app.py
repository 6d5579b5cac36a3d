"""The `ssplain` command: gathers the commands and turns a user's mistake into one sentence."""

import sys
from typing import Annotated

import typer

from ssplain import __version__
from ssplain.cli.bench import bench
from ssplain.cli.compare import compare
from ssplain.cli.demo import demo
from ssplain.cli.evaluate import evaluate
from ssplain.cli.explain import explain
from ssplain.cli.jobs import jobs
from ssplain.cli.read import read
from ssplain.cli.report import report
from ssplain.cli.reproduce import reproduce
from ssplain.cli.serve import serve
from ssplain.cli.train import train
from ssplain.cli.vessels import vessels
from ssplain.errors import SSplainError

app = typer.Typer(
    name="ssplain",
    help="Show which few, connected pixels an image classifier's decision rests on.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for command in (
    demo,
    read,
    explain,
    jobs,
    compare,
    evaluate,
    reproduce,
    report,
    serve,
    vessels,
    train,
    bench,
):
    app.command()(command)


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"ssplain {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Show which few, connected pixels an image classifier's decision rests on."""


def main() -> None:
    """Run the command line; a user's mistake becomes one sentence and exit code 2."""
    try:
        app()
    except SSplainError as error:
        typer.echo(f"ssplain: {error}", err=True)
        sys.exit(2)
