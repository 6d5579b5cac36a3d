"""The process that writes: the same bytes, no PyTorch, and nothing is lost with it."""

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ssplain.jobs.job import run
from ssplain.work import scribe as room
from ssplain.work import worker
from ssplain.work.place import NoRoom, Place
from ssplain.work.scribe import Letter, Scribe, packed, write_all
from ssplain.work.task import Item
from tests.jobs.digits import QUICK, results, write_digits


def letters(count: int = 3) -> list[Letter]:
    """Return results to be written, each of its own numbers."""
    arrays = {"scores": np.arange(800.0 * count).reshape(count, 800), "target": np.arange(count)}
    return [
        (Item(i, f"/in/{i}.png", where=f"p/{i}"), partial(packed, "a.npz", arrays, i), {"n": i})
        for i in range(count)
    ]


@pytest.fixture
def scribe() -> Any:  # noqa: ANN401 - a generator
    made = Scribe()
    yield made
    made.dismiss()


def gone(pid: int) -> bool:
    """Say whether a process ends within a few seconds."""
    for _ in range(200):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.05)
    return False


def test_it_writes_what_a_thread_writes(tmp_path: Path, scribe: Scribe) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    assert scribe.write(Place(str(there)), letters()) == write_all(Place(str(here)), letters())
    assert len(results(there)) == 6
    assert results(there) == results(here)


def test_a_folder_in_the_way_is_told_of_its_image_alone(tmp_path: Path, scribe: Scribe) -> None:
    (tmp_path / "p" / "1").mkdir(parents=True)
    (tmp_path / "p" / "1" / "note.txt").write_text("mine")
    first, second, third = scribe.write(Place(str(tmp_path)), letters())
    assert isinstance(first, int)
    assert isinstance(third, int)
    assert isinstance(second, str)
    assert str(tmp_path / "p" / "1") in second


def test_no_room_is_told_as_such(tmp_path: Path, scribe: Scribe) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(NoRoom, match="cannot be written"):
        scribe.write(Place(str(tmp_path / "out")), letters())


def test_a_lost_one_loses_nothing(tmp_path: Path, scribe: Scribe) -> None:
    place = Place(str(tmp_path))
    sizes = scribe.write(place, letters())
    assert scribe.pid is not None
    os.kill(scribe.pid, signal.SIGKILL)
    assert gone(scribe.pid)
    assert scribe.write(place, letters()) == sizes  # over what it had written
    assert len(results(tmp_path)) == 6


def test_one_that_cannot_be_started_is_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nowhere"))
    made = Scribe()
    assert made.pid is None
    assert write_all(Place(str(tmp_path)), letters()) == made.write(Place(str(tmp_path)), letters())
    made.dismiss()


def test_it_ends_with_a_killed_driver() -> None:
    code = "from ssplain.work.scribe import Scribe; s = Scribe(); print(s.pid, flush=True); input()"
    driver = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert driver.stdout is not None
    pid = int(driver.stdout.readline())
    assert Path(f"/proc/{pid}").exists()
    driver.kill()
    driver.communicate()
    assert gone(pid)


def test_it_writes_no_more_once_its_driver_is_gone(tmp_path: Path) -> None:
    stops = iter([False, True])
    assert len(write_all(Place(str(tmp_path)), letters(), lambda: next(stops))) == 1
    assert len(results(tmp_path)) == 2


class Watched(Scribe):
    """A scribe that says, when it goes, whether it had PyTorch."""

    made: list["Watched"]

    def __init__(self) -> None:
        super().__init__()
        self.wrote, self.loaded = 0, ""
        self.made.append(self)

    def write(self, place: Place, some: Any) -> list[int | str]:  # noqa: ANN401
        done = super().write(place, some)
        self.wrote += len(done)
        self.loaded = Path(f"/proc/{self.pid}/maps").read_text()
        return done


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> list[Watched]:
    """Return all scribes that are made from now on."""
    Watched.made = []
    monkeypatch.setattr(room, "Scribe", Watched)
    return Watched.made


def test_a_job_has_one_and_gives_the_same_bytes(
    tmp_path: Path, watched: list[Watched], monkeypatch: pytest.MonkeyPatch
) -> None:
    digits = write_digits(tmp_path / "in", 2 * worker.OVERLAP)
    run(QUICK, [digits], tmp_path / "apart")
    (made,) = watched
    assert made.wrote == 2 * worker.OVERLAP
    assert "numpy" in made.loaded
    assert "libtorch" not in made.loaded  # it would take seconds to be ready
    assert made.pid is not None
    assert gone(made.pid)
    monkeypatch.setattr(worker, "OVERLAP", 1000)
    run(QUICK, [digits], tmp_path / "here")
    assert len(watched) == 1
    assert results(tmp_path / "apart") == results(tmp_path / "here")


def test_a_few_images_are_written_without(tmp_path: Path, watched: list[Watched]) -> None:
    digits = write_digits(tmp_path / "in", 3)
    assert run(QUICK, [digits], tmp_path / "out").counts == (3, 0, 0)
    assert watched == []
