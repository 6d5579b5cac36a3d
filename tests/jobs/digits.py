"""Many small images for jobs, all different, and a job in a process of its own."""

import csv
import io
import subprocess
import sys
from pathlib import Path

from PIL import Image

import ssplain
from ssplain.work.explaining import Explaining
from tests.cli.command import run

QUICK = Explaining("lenet5-mnist", iterations=2)
COMMAND = (sys.executable, "-c", "from ssplain.cli import main; main()")
MODEL = ("--model", "lenet5-mnist", "--iterations", "2")


def write_digits(folder: Path, count: int) -> Path:
    """Write so many different digits: the bundled ones, moved about."""
    folder.mkdir(parents=True, exist_ok=True)
    images = (ssplain.data.bundled("mnist")[0][:, 0] * 255).round().byte()
    for i in range(count):
        turn = i // len(images)
        moved = images[i % len(images)].roll((turn % 5 - 2, turn // 5 - 2), (0, 1))
        Image.fromarray(moved.numpy()).save(folder / f"{i:05d}.png", compress_level=1)
    return folder


def start(*arguments: object) -> subprocess.Popen[str]:
    """Start a command in a process of its own."""
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def rows_of(out: Path) -> list[dict[str, str]]:
    """Return what `ssplain jobs --export csv` says of each image."""
    done = run("jobs", out, "--export", "csv")
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout)))


def exported(out: Path) -> dict[str, dict[str, str]]:
    """Return the same by file name."""
    rows = rows_of(out)
    named = {Path(row["path"]).name + row["page"]: row for row in rows}
    assert len(named) == len(rows)
    return named


def results(out: Path) -> dict[str, bytes]:
    """Return the files of all results below a job's folder."""
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in out.rglob("*")
        if path.is_file() and not path.name.startswith("index.sqlite")
    }
