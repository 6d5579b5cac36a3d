"""The process that reads and writes: the same bytes, no PyTorch, and nothing is lost with it."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from ssplain.data.readers import read_any
from ssplain.jobs.job import run
from ssplain.work import scribe as room
from ssplain.work import worker
from ssplain.work.place import NoRoom, Place
from ssplain.work.scribe import Letter, Scribe, packed, read_all, write_all
from ssplain.work.task import Item
from tests.jobs.digits import QUICK, results, rows_of, write_digits


def letters(count: int = 3) -> list[Letter]:
    """Return results to be written, each of its own numbers."""
    arrays = {"scores": np.arange(800.0 * count).reshape(count, 800), "target": np.arange(count)}
    return [
        (Item(i, f"/in/{i}.png", where=f"p/{i}"), partial(packed, "a.npz", arrays, i), {"n": i})
        for i in range(count)
    ]


def pictures(folder: Path) -> list[Item]:
    """Return a grey picture, one of another size and in colour, one that is none, and the rest."""
    colours = np.arange(4 * 5 * 3, dtype=np.uint8).reshape(4, 5, 3)
    Image.fromarray(colours[..., 0]).save(folder / "grey.png")
    Image.fromarray(colours).resize((7, 2)).save(folder / "colour.bmp")
    (folder / "text.png").write_text("not a picture")
    np.savez(folder / "array.npz", image=np.zeros((1, 3, 3), np.float32))
    pages = [Image.fromarray(colours[..., i]) for i in range(2)]
    pages[0].save(folder / "pages.tif", save_all=True, append_images=pages[1:])
    names = ["text.png", "grey.png", "array.npz", "colour.bmp"]
    items = [Item(i, str(folder / name)) for i, name in enumerate(names)]
    return [*items, Item(8, str(folder / "pages.tif"), page=1)]


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


def test_it_reads_what_is_read_here_and_leaves_the_rest(tmp_path: Path, scribe: Scribe) -> None:
    items = pictures(tmp_path)
    text, grey, array, colour, page = scribe.read(items)
    assert text is None  # its fault is told by who reads it again
    assert array is None
    for item, pixels in ((items[1], grey), (items[3], colour), (items[4], page)):
        assert pixels is not None
        np.testing.assert_array_equal(pixels, read_any(item.path, item.page).numpy())
    assert [one is None for one in read_all(items)] == [True, False, True, False, False]


def test_pictures_do_not_wait_for_results(tmp_path: Path, scribe: Scribe) -> None:
    slow = partial(eval, "__import__('time').sleep(0.2) or {}")
    many: list[Letter] = [(Item(i, "/x.png", where=f"p/{i}"), slow, {}) for i in range(12)]
    with ThreadPoolExecutor(1) as other:
        writing = other.submit(scribe.write, Place(str(tmp_path)), many)
        while not (tmp_path / "p").exists():
            time.sleep(0.01)
        assert [one is None for one in scribe.read(pictures(tmp_path))][:2] == [True, False]
        assert not writing.done()  # ten more take two seconds
        assert len(writing.result()) == len(many)


def test_it_reads_nothing_where_nothing_is_good(tmp_path: Path, scribe: Scribe) -> None:
    assert scribe.read([]) == []
    assert scribe.read([Item(1, str(tmp_path / "nowhere.png"))]) == [None]
    assert not scribe.lost


def test_of_a_lost_one_everything_is_to_be_read_here(tmp_path: Path, scribe: Scribe) -> None:
    items = pictures(tmp_path)
    assert scribe.pid is not None
    os.kill(scribe.pid, signal.SIGKILL)
    assert gone(scribe.pid)
    assert scribe.read(items) == [None] * len(items)
    assert scribe.lost


def test_a_lost_one_is_replaced() -> None:
    with room.at_work():
        first = room.scribe()
        assert room.scribe() is first
        assert first.pid is not None
        os.kill(first.pid, signal.SIGKILL)
        assert gone(first.pid)
        first.read([])
        second = room.scribe()
        assert second is not first
        assert second.read([Item(1, "/nowhere.png")]) == [None]
        assert not second.lost
    assert not room.is_hired()


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
        self.wrote, self.had_read, self.loaded = 0, 0, ""
        self.made.append(self)

    def write(self, place: Place, some: Any) -> list[int | str]:  # noqa: ANN401
        done = super().write(place, some)
        self.wrote += len(done)
        self.loaded = Path(f"/proc/{self.pid}/maps").read_text()
        return done

    def read(self, items: Any) -> Any:  # noqa: ANN401
        found = super().read(items)
        self.had_read += sum(one is not None for one in found)
        return found


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


def test_once_it_is_there_it_reads_for_the_job(
    tmp_path: Path, watched: list[Watched], monkeypatch: pytest.MonkeyPatch
) -> None:
    digits = write_digits(tmp_path / "in", 2 * worker.OVERLAP)
    bad = max(digits.iterdir())
    bad.write_bytes(bad.read_bytes()[:80])
    with room.at_work():
        room.scribe()
        assert run(QUICK, [digits], tmp_path / "apart").counts == (2 * worker.OVERLAP - 1, 1, 0)
    assert watched[0].had_read == 2 * worker.OVERLAP - 1
    assert f"{bad} is damaged" in failed(tmp_path / "apart")
    monkeypatch.setattr(worker, "OVERLAP", 1000)
    run(QUICK, [digits], tmp_path / "here")
    assert len(watched) == 1
    assert results(tmp_path / "apart") == results(tmp_path / "here")
    assert failed(tmp_path / "apart") == failed(tmp_path / "here")


def failed(job: Path) -> str:
    """Return what the index says of the image that failed."""
    (error,) = [row["error"] for row in rows_of(job) if row["error"]]
    return str(error)
