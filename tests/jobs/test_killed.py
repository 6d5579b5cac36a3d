"""kill -9 at random moments: every good image exactly once, as if nothing had happened."""

import random
import shutil
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

from ssplain.jobs.index import NAME
from ssplain.jobs.job import run
from ssplain.work.place import PARTIAL
from tests.jobs.digits import MODEL, QUICK, exported, results, start, write_digits

_DICE = random.Random(0)  # noqa: S311 - moments to kill at


def done_so_far(out: Path) -> list[str]:
    """Return the folders of the images that are recorded as done, while the job runs."""
    try:
        with sqlite3.connect(f"file:{out / NAME}?mode=ro", uri=True, timeout=30) as db:
            return [row[0] for row in db.execute("SELECT file FROM images WHERE status = 'done'")]
    except sqlite3.Error:
        return []


def kill_in_the_middle(driver: subprocess.Popen[str], out: Path, least: int) -> bool:
    """Kill a driver at a random moment after some images are done; False if it ended before."""
    while driver.poll() is None and len(done_so_far(out)) < least:
        time.sleep(0.005)
    time.sleep(_DICE.uniform(0, 0.1))  # some batches; the rest takes longer on any machine
    alive = driver.poll() is None
    driver.send_signal(signal.SIGKILL)
    driver.communicate()
    return alive


@pytest.mark.parametrize(
    ("images", "kills", "engine"),
    [
        (500, 1, ()),
        pytest.param(2000, 5, (), marks=pytest.mark.slow),
        pytest.param(2000, 5, ("--workers", "2"), marks=pytest.mark.slow),
    ],
)
def test_a_killed_driver_loses_nothing_and_does_nothing_twice(
    tmp_path: Path, images: int, kills: int, engine: tuple[str, ...]
) -> None:
    digits = write_digits(tmp_path / "in", images)
    (digits / "torn.png").write_bytes((digits / "00000.png").read_bytes()[:60])
    out = tmp_path / "out"
    command = ("explain", digits, *MODEL, "--batch-size", 32, "--out", out, *engine)
    killed = 0
    for turn in range(kills):
        before = {name: stamp(out, name) for name in done_so_far(out)}
        killed += kill_in_the_middle(start(*command), out, images * (turn + 1) // (kills + 2))
        # what was done before this run began is as it was
        assert before == {name: stamp(out, name) for name in before}
    assert killed == kills
    done = start(*command)
    _, told = done.communicate()
    assert done.returncode == 3, told  # the torn one
    assert "torn.png" in told

    rows = exported(out)
    assert len(rows) == images + 1
    assert sum(row["status"] == "done" for row in rows.values()) == images
    assert {row["tries"] for row in rows.values()} == {"1"}  # recorded once
    assert not (out / PARTIAL).exists()
    quiet = tmp_path / "quiet"
    run(QUICK_AS_KILLED, [digits], quiet)
    assert results(out) == results(quiet)


QUICK_AS_KILLED = type(QUICK)("lenet5-mnist", iterations=2, batch_size=32)


def stamp(out: Path, name: str) -> int:
    return (out / name / "explanation.npz").stat().st_mtime_ns


@pytest.mark.slow
def test_ctrl_c_once_ends_cleanly_and_twice_at_once(tmp_path: Path) -> None:
    digits = write_digits(tmp_path / "in", 1500)
    out = tmp_path / "out"
    command = ("explain", digits, *MODEL, "--batch-size", 32, "--out", out)
    driver = start(*command)
    while driver.poll() is None and not done_so_far(out):
        time.sleep(0.01)
    driver.send_signal(signal.SIGINT)
    said, told = driver.communicate()
    assert driver.returncode == 130, told
    assert "Traceback" not in told
    assert "the same command goes on from here" in told
    some = len(done_so_far(out))
    assert 0 < some < 1500
    assert f"{some} of 1500 images done" in said

    driver = start(*command)
    while driver.poll() is None and len(done_so_far(out)) == some:
        time.sleep(0.01)
    driver.send_signal(signal.SIGINT)
    driver.send_signal(signal.SIGINT)
    _, told = driver.communicate(timeout=300)
    assert driver.returncode in (130, -2), told
    assert "Traceback" not in told
    shutil.rmtree(tmp_path / "in")  # what is done stays done, also without its source
    (tmp_path / "in").mkdir()
    assert len(done_so_far(out)) >= some
