"""Commands that can take a while tell where they stand, all by the same bar."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import ssplain
from ssplain.progress import Progress
from ssplain.report import grey, write_png
from tests.cli.command import run

Told = list[tuple[float, float, str]]


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Told:
    """What a terminal would show."""
    calls: Told = []

    @contextmanager
    def listen(what: str) -> Iterator[Progress]:
        calls.append((0, 0, what))

        def tell(done: float, total: float, words: str = "") -> None:
            calls.append((done, total, words))

        yield tell

    monkeypatch.setattr("ssplain.terminal.progress.bar", listen)
    return calls


def rising(calls: Told) -> bool:
    shares = [done / total for done, total, _ in calls if total]
    return bool(shares) and shares == sorted(shares) and shares[-1] <= 1


def test_compare(told: Told, tmp_path: Path) -> None:
    write_png(grey(ssplain.data.bundled("mnist")[0][0]), tmp_path / "a.png")
    options = ("--model", "lenet5-mnist", "--explainers", "saliency,intensity")
    done = run("compare", tmp_path / "a.png", *options, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert told[1:] == [(0, 2, "Saliency"), (1, 2, "Intensity")]


def test_vessels(told: Told, tmp_path: Path) -> None:
    images, _ = ssplain.data.bundled("rop")
    for name, image in zip("ab", images, strict=False):
        write_png(grey(image[:, :100, :100]), tmp_path / f"{name}.png")
    files = (tmp_path / "a.png", tmp_path / "b.png")
    done = run("vessels", *files, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert told[1:] == [(0, 2, "a.png"), (1, 2, "b.png")]


def test_evaluate(told: Told, tmp_path: Path) -> None:
    options = ("--data", "mnist", "--images", 10, "--explainers", "saliency,intensity")
    done = run("evaluate", *options, "--points", 3, "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    assert rising(told)
    assert {"saliency, maps", "intensity, measures"} <= {words for _, _, words in told}
