"""The index of a job: what it costs when there are very many images."""

from pathlib import Path

import pytest

from ssplain.jobs.index import Index


def steps_of_recording(path: Path, images: int) -> int:
    """Return how many hundreds of steps SQLite takes to record ten images of so many."""
    ticks = 0

    def tick() -> int:
        nonlocal ticks
        ticks += 1
        return 0

    with Index(path) as index:
        index.add((f"/{i}.png", f"{i}.png", None, None) for i in range(images))
        with index.change() as db:
            db.execute("UPDATE images SET same_as = 1 WHERE number = 12")
        index.db.set_progress_handler(tick, 100)
        index.record([{"number": n, "status": "done"} for n in range(1, 11)])
        index.db.set_progress_handler(None, 0)
        assert index.counts() == {"done": 11, "failed": 0, "waiting": images - 11}
    return ticks


def test_recording_does_not_look_through_all_that_wait(tmp_path: Path) -> None:
    few = steps_of_recording(tmp_path / "few.sqlite", 100)
    many = steps_of_recording(tmp_path / "many.sqlite", 10_000)
    assert many == pytest.approx(few, abs=5)
