import json
import os
import subprocess
import sys

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from ssplain import __version__
from ssplain.cli.app import app
from tests.cli.command import run


def test_help_lists_the_commands() -> None:
    done = CliRunner().invoke(app, ["--help"])
    assert done.exit_code == 0
    for command in ("demo", "explain", "compare", "evaluate", "vessels", "train", "bench"):
        assert command in done.output


def test_version() -> None:
    done = run("--version")
    assert done.stdout.strip() == f"ssplain {__version__}"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, "3000 before torch"),
        ({"GOMP_SPINCOUNT": "7"}, "7 before torch"),
        ({"OMP_WAIT_POLICY": "active"}, "None before torch"),
    ],
)
def test_threads_are_told_to_wait_briefly_before_there_are_any(
    given: dict[str, str], expected: str
) -> None:
    program = (
        "import atexit, os, sys; sys.argv = ['ssplain', '--version']; from ssplain.cli import main;"
        "atexit.register(lambda: print(os.environ.get('GOMP_SPINCOUNT'),"
        " 'after' if 'torch' in sys.modules else 'before', 'torch')); main()"
    )
    settings = {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"}
    rest = {name: value for name, value in os.environ.items() if name not in settings}
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env=rest | given,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == expected


def test_unknown_benchmark() -> None:
    done = run("bench", "speed")
    assert done.returncode == 2
    assert "no benchmark 'speed'; choose one of: core" in done.stderr


def test_benchmark_prints_a_json_line_per_case(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ssplain.bench.core.cases", lambda: iter([{"a": 1}, {"b": 2.5}]))
    done = CliRunner().invoke(app, ["bench", "core"])
    assert [json.loads(line) for line in done.stdout.splitlines()] == [{"a": 1}, {"b": 2.5}]


def test_the_number_of_images_reaches_the_benchmark_that_takes_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "ssplain.bench.explainers.cases", lambda images=100: iter([{"images": images}])
    )
    for options, expected in ((["--images", "3"], 3), ([], 100)):
        done = CliRunner().invoke(app, ["bench", "explainers", *options])
        assert json.loads(done.output) == {"images": expected}
    refused = run("bench", "core", "--images", "3")
    assert refused.returncode == 2
    assert "'core' has no --images" in refused.stderr


@pytest.mark.parametrize("name", sorted(get_command(app).commands))  # type: ignore[attr-defined]
def test_help_shows_every_word_that_was_written(name: str) -> None:
    command = get_command(app).commands[name]  # type: ignore[attr-defined]
    shown = CliRunner(env={"COLUMNS": "1000"}).invoke(app, [name, "--help"]).output
    for parameter in command.params:
        text = getattr(parameter, "help", None) or ""
        assert " ".join(text.split()) in " ".join(shown.split()), parameter.name


def test_the_package_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ssplain", "--version"], capture_output=True, text=True, check=True
    )
    assert __version__ in done.stdout
