"""What the pages say is run: every Python snippet, every command, every link inside."""

import csv
import re
import shlex
import warnings
from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from PIL import Image
from typer.main import get_command

import ssplain
from ssplain.cli.app import app
from ssplain.report import grey, write_png
from tests.cli.command import run
from tests.fundus.eyes import painted_eye
from tests.registers import registers_as_before  # noqa: F401 - a fixture

mpl.use("Agg")
TOP = Path(__file__).parents[1]
PAGES = [
    TOP / "README.md",
    *sorted(p for p in (TOP / "docs").rglob("*.md") if not {"_build", "gallery"} & set(p.parts)),
]
IDS = [str(page.relative_to(TOP)) for page in PAGES]
MINUTES = ("docs/read.md",)  # these are run by `make test-slow`
TRIED = [
    pytest.param(page, id=name, marks=[pytest.mark.slow] if name in MINUTES else [])
    for page, name in zip(PAGES, IDS, strict=True)
]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> Iterator[tuple[str, str]]:
    for found in FENCE.finditer(page.read_text(encoding="utf-8")):
        yield found[1], found[2]


@pytest.mark.usefixtures("registers_as_before")
@pytest.mark.parametrize("page", TRIED)
def test_snippets_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of one page run one after the other, in one empty folder beside the examples."""
    chosen = [(kind, text) for kind, text in blocks(page) if kind in ("python", "console")]
    if not chosen:
        pytest.skip("no snippets")
    (tmp_path / "examples").symlink_to(TOP / "examples")
    monkeypatch.chdir(tmp_path)
    if any("eye.png" in text for _, text in chosen):
        photo = painted_eye(label=2).photo
        Image.fromarray((255 * photo).astype(np.uint8)).save("eye.png")
    names: dict[str, object] = {"__name__": "snippet", "ssplain": ssplain}
    for kind, text in chosen:
        if kind == "python":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(compile(text, str(page), "exec"), names)  # noqa: S102 - our own pages
            continue
        for line in text.splitlines():
            assert line.startswith("$ ssplain "), f"{page.name}: {line}"
            if line.startswith(
                "$ ssplain demo"
            ):  # minutes under load; tests/cli/test_demo.py runs it
                image = ssplain.data.bundled("mnist")[0][0]
                write_png(grey(image), tmp_path / "demo" / "images" / "mnist-0.png")
                continue
            done = run(*shlex.split(line)[2:])
            assert done.returncode == 0, f"{line}\n{done.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_commands_have_the_options_they_are_shown_with(page: Path) -> None:
    known = get_command(app).commands  # type: ignore[attr-defined]  # a group of Click's
    for line in re.findall(r"^(?:\$ | {4})(ssplain [^\n]*)", page.read_text(), re.MULTILINE):
        words = line.split("#")[0].split()
        command = known[words[1]]
        options = {name for parameter in command.params for name in parameter.opts}
        used = {word.split("=")[0] for word in words if word.startswith("--")}
        assert used <= options | {"--help"}, f"{page.name}: {line}"


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_links_inside_lead_somewhere(page: Path) -> None:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_every_request_of_the_field_has_an_answer_that_exists() -> None:
    text = (TOP / "docs" / "field.md").read_text()
    rows = re.findall(r"^\| (\d+) \|[^|]*\|([^|]*)\|", text, re.MULTILINE)
    assert [int(number) for number, _ in rows] == list(range(1, 30))
    for number, answer in rows:
        tests = re.findall(r"`(tests/[\w/.]+)`", answer)
        assert tests or "](" in answer, f"{number} is not answered"
        for path in tests:
            assert (TOP / path).is_file(), f"{number}: {path}"


def test_the_readmes_table_is_that_of_the_results() -> None:
    """No claim that is not in docs/results."""
    found = {}
    for dataset in ("mnist", "fmnist"):
        path = TOP / "docs" / "results" / f"ranking-{dataset}" / "measures-support.csv"
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                found[dataset, row["explainer"], row["measure"]] = f"{float(row['value']):.3f}"
    rows = re.findall(
        r"^\| ([^|]+) ((?:\| 0\.\d{3} ){4})\|$", (TOP / "README.md").read_text(), re.MULTILINE
    )
    assert len(rows) >= 10
    for name, numbers in rows:
        keys = [(d, name, m) for d in ("mnist", "fmnist") for m in ("insertion", "deletion")]
        assert re.findall(r"0\.\d{3}", numbers) == [found[key] for key in keys], name
