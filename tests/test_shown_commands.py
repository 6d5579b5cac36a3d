"""Commands that pages show outside their snippets are run, on images made for that."""

import csv
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import ssplain
from ssplain.report import grey, write_png
from tests.cli.command import run_apart
from tests.fundus.eyes import painted_eye
from tests.test_docs import IDS, PAGES

# What takes hours or does not end, and the tests that run it.
ELSEWHERE = {
    "demo": "tests/cli/test_demo.py",
    "serve": "tests/app",
    "bench": "tests/bench",
    "train": "tests/cli/test_train.py",
    "reproduce all": "tests/cli/test_reproduce.py",
    "reproduce rop": "tests/cli/test_reproduce.py",
}
FEWER = {"--images": "4", "--explainers": "ssplain-0,saliency"}  # in place of hundreds, and all
NETS = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, outputs):
        super().__init__()
        torch.manual_seed(0)
        self.pool, self.head = nn.AdaptiveAvgPool2d(8), nn.Linear(64, outputs)

    def forward(self, images):
        return self.head(self.pool(images.mean(1, keepdim=True)).flatten(1))

def build():
    return Net(10)

def findings():
    return Net(4)

def severity():
    return Net(1)
"""


def commands(page: Path) -> list[str]:
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    return [line.split("#")[0] for line in re.findall(r"^ {4}ssplain ([^\n]*)", text, re.MULTILINE)]


def elsewhere(line: str) -> str | None:
    return next((tests for start, tests in ELSEWHERE.items() if line.startswith(start)), None)


def furnish(home: Path, *, eyes: bool, colour: bool) -> None:
    """Put into a folder what commands name: images, a model, labelled images, a study, a job."""
    (home / "mynets.py").write_text(NETS)
    digits, labels = ssplain.data.bundled("mnist")
    photo = painted_eye(label=2).photo
    Image.fromarray((255 * photo).astype(np.uint8)).save(home / "PHOTO.png")
    write_png(grey(digits[0]), home / "IMAGE.png")
    if colour:
        Image.fromarray((255 * photo[::4, ::4]).astype(np.uint8)).save(home / "PHOTO.png")
    shown = ssplain.data.bundled("rop")[0] if eyes else digits
    for i in range(2):
        name = f"scans/{labels[i]}/{i}.png"
        write_png(grey(shown[i]), home / name)
    with (home / "list.csv").open("w", newline="") as file:
        rows = [["path", "label"], *(["IMAGE.png", str(n)] for n in range(2))]
        csv.writer(file).writerows(rows)


def filled(line: str, home: Path, number: int) -> list[str]:
    """A command with files in place of what it leaves open, and with less to do."""
    words = shlex.split(re.sub(r"\[--\w+ [^]]*\]", "", line.split(">", maxsplit=1)[0]))
    made: list[str] = []
    for i, word in enumerate(words):
        before = words[i - 1] if i else ""
        if before in FEWER:
            made.append(FEWER[before])
        elif word == "DIR":
            made.append(str(home / (f"out-{number}" if before == "--out" else words[0])))
        elif word.rstrip(".") in ("IMAGE", "INPUT", "PHOTO"):
            made.append(str(home / f"{'PHOTO' if 'PHOTO' in word else 'IMAGE'}.png"))
        else:
            made.append(word)
    return [*made, "--images", "4"] if words[0] == "reproduce" else made


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [pytest.param(p, id=i) for p, i in zip(PAGES, IDS, strict=True) if commands(p)]
)
def test_shown_commands_do_what_they_say(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [line for line in commands(page) if not elsewhere(line) and "dask" not in line]
    furnish(
        tmp_path,
        eyes=any("googlenet-rop" in line for line in lines),
        colour=any("--preset photograph" in line for line in lines),
    )
    if "README" in page.name and lines:
        given = (
            "explain IMAGE.png --model lenet5-mnist --out jobs",
            "reproduce maps-mnist --images 4 --out report",
        )
        for words in map(str.split, given):
            assert run_apart(*words).returncode == 0
    for number, line in enumerate(lines):
        words = filled(line, tmp_path, number)
        done = run_apart(*words)
        assert done.returncode == 0, f"ssplain {shlex.join(words)}\n{done.stderr}"
        if "--out" in words:
            out = Path(words[words.index("--out") + 1])
            assert out.is_file() or any(out.iterdir()), line


def test_what_is_run_elsewhere_is() -> None:
    top = Path(__file__).parents[1]
    for start, tests in ELSEWHERE.items():
        home = top / tests
        files = home.glob("test_*.py") if home.is_dir() else [home]
        assert any(start.split()[0] in file.read_text() for file in files), start
