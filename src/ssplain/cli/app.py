"""The `ssplain` command: gathers the commands and turns a user's mistake into one sentence."""

import atexit
import gc
import signal
import sys
import threading
import warnings
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
from ssplain.threads import wait_briefly

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


class _Stopped(BaseException):
    """Ctrl-C; not a KeyboardInterrupt, of which typer would say no more than "Aborted"."""


def main() -> None:
    """Run the command line; a user's mistake becomes one sentence and exit code 2."""
    # at the end Python would look through PyTorch's half a million objects for garbage: a second
    atexit.register(gc.freeze)
    wait_briefly()
    _speak_in_sentences()
    try:
        app()
    except SSplainError as error:
        _say(error)
        sys.exit(2)
    except OSError as error:
        about = f"{error.filename}: " if error.filename else ""
        _say(
            f"{about}{error.strerror or error}; check the path, its permissions and the free space."
        )
        sys.exit(2)
    except _Stopped:
        _say("stopped. What was written is complete and kept; nothing half-written is left behind.")
        sys.exit(130)


def _say(text: object) -> None:
    """Write a sentence; bytes in file names that are no text are shown escaped."""
    typer.echo(f"ssplain: {text}".encode(errors="backslashreplace").decode(), err=True)


def _speak_in_sentences() -> None:
    """Let warnings and Ctrl-C speak as errors do."""

    def warned(message: object, category: type[Warning], *_: object, **__: object) -> None:
        if not issubclass(category, DeprecationWarning | ImportWarning):
            _say(message)

    def stop(*_: object) -> None:
        raise _Stopped

    warnings.showwarning = warned
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, stop)
