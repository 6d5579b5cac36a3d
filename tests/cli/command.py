"""Running the command line in tests."""

import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from typing import NamedTuple
from unittest.mock import patch

from ssplain.cli import main


class Done(NamedTuple):
    """What a command left behind."""

    returncode: int
    stdout: str
    stderr: str


def run(*arguments: object) -> Done:
    """Run a command in this process, where PyTorch is loaded already."""
    out, err = StringIO(), StringIO()
    code: object = 0
    with (
        patch.object(sys, "argv", ["ssplain", *map(str, arguments)]),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
    assert isinstance(code, int)
    return Done(code, out.getvalue(), err.getvalue())


def run_apart(*arguments: object) -> Done:
    """Run a command in a process of its own, as a user does."""
    command = [sys.executable, "-c", "from ssplain.cli import main; main()", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return Done(done.returncode, done.stdout, done.stderr)
