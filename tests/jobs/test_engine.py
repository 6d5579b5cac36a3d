import os
import signal
import time
from pathlib import Path

import pytest

from ssplain.errors import SSplainError
from ssplain.jobs.engine import Processes, WorkerLost, start
from ssplain.jobs.job import run
from ssplain.jobs.state import open_job
from tests.jobs.digits import exported
from tests.jobs.poison import Poison, write_files


def test_memory_halves_the_batch_and_is_remembered(tmp_path: Path) -> None:
    names = {f"f{i:02}": "good" for i in range(16)}
    write_files(tmp_path / "in", **names)
    summary = run(Poison(at_a_time=8, fits=3), [tmp_path / "in"], tmp_path / "out")
    assert summary.counts == (16, 0, 0)
    together = [float(row["together"]) for row in exported(tmp_path / "out").values()]
    assert max(together) == 2  # of 8: 4 are too many, 2 fit
    # the second batch did not try more again
    with open_job(tmp_path / "out") as index:
        assert index.about("at_once") == 2


def test_an_odd_image_fails_alone(tmp_path: Path) -> None:
    write_files(tmp_path / "in", a="good", b="odd", c="good", d="good", e="good")
    assert run(Poison(), [tmp_path / "in"], tmp_path / "out").counts == (4, 1, 0)
    row = exported(tmp_path / "out")["b.png"]
    assert row["error"] == f"{row['path']}: It is odd."


def test_an_image_that_ends_its_worker_is_given_up_and_no_other(tmp_path: Path) -> None:
    write_files(tmp_path / "in", a="good", b="poison", c="good", d="good")
    summary = run(Poison(), [tmp_path / "in"], tmp_path / "out", engine="processes", workers=1)
    assert summary.counts == (3, 1, 0)
    row = exported(tmp_path / "out")["b.png"]
    assert row["path"] in row["error"]
    assert "3 times, each time alone" in row["error"]


@pytest.mark.slow
def test_a_killed_worker_counts_against_nobody(tmp_path: Path) -> None:
    write_files(tmp_path / "in", **{f"f{i:02}": "good" for i in range(40)})
    killed: list[int] = []

    def kill(_: object) -> None:
        workers = children()
        if workers and len(killed) < 3:
            killed.append(workers[0])
            os.kill(workers[0], signal.SIGKILL)

    summary = run(
        Poison(seconds=0.2),
        [tmp_path / "in"],
        tmp_path / "out",
        engine="processes",
        workers=2,
        progress=kill,
    )
    assert len(killed) == 3
    assert summary.counts == (40, 0, 0)


def children() -> list[int]:
    """Return the processes that this one has started, but for the tracker of resources."""
    listed = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    commands = {int(pid): Path(f"/proc/{pid}/cmdline").read_bytes() for pid in listed}
    return [pid for pid, command in commands.items() if b"spawn_main" in command]


def test_processes_end_with_their_driver() -> None:
    pool = Processes(1)
    pid = pool.submit(os.getpid).result()
    assert pid != os.getpid()
    with pytest.raises(WorkerLost):
        pool.submit(os.kill, pid, signal.SIGKILL).result()
    assert pool.submit(pow, 2, 3).result() == 8
    pool.shutdown()
    deadline = time.monotonic() + 60
    while children() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not children()


@pytest.mark.parametrize(
    ("kind", "scheduler", "told"),
    [
        ("threads", None, "no engine 'threads'"),
        ("dask", None, "both --engine dask and --scheduler"),
        ("here", "tcp://head:8786", "both --engine dask and --scheduler"),
    ],
)
def test_mistakes_are_told(kind: str, scheduler: str | None, told: str) -> None:
    with pytest.raises(SSplainError, match=told), start(kind, 1, scheduler):
        pass
