"""A full disk and a read-only folder: a clear message, no corrupt record, and on with more room."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ssplain.errors import SSplainError
from ssplain.explain import Explanation
from ssplain.jobs.job import run
from ssplain.jobs.state import open_job
from tests.jobs.digits import QUICK, exported, write_digits


def system(*command: object) -> None:
    subprocess.run(list(map(str, command)), check=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own, of 1.5 MiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1536k", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("mounting a small disk is not allowed here")
    yield disk
    system("umount", disk)


def test_a_full_disk_stops_the_job_and_it_resumes(tmp_path: Path, small_disk: Path) -> None:
    digits = write_digits(tmp_path / "in", 300)
    out = small_disk / "out"
    with pytest.raises(SSplainError, match=r"No space left on device|full.*free some room"):
        run(QUICK, [digits], out)
    with open_job(out) as index:
        assert index.db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        done = [row["file"] for row in index.rows("status = 'done'")]
        assert index.counts()["failed"] == 0
    for name in done:
        Explanation.load(out / name)  # what is recorded is whole
    system("mount", "-o", "remount,size=64m", small_disk)
    summary = run(QUICK, [digits], out)
    assert summary.counts == (300, 0, 0)
    assert summary.fresh == 300 - len(done)
    assert {row["status"] for row in exported(out).values()} == {"done"}


def test_a_folder_that_becomes_read_only_stops_the_job(tmp_path: Path, small_disk: Path) -> None:
    digits = write_digits(tmp_path / "in", 20)
    out = small_disk / "out"
    run(QUICK, [digits / "00000.png"], out)
    system("mount", "-o", "remount,ro", small_disk)
    with pytest.raises(SSplainError, match="Read-only file system"):
        run(QUICK, [digits], out)
    with pytest.raises(SSplainError, match="Read-only file system"):
        run(QUICK, [digits], small_disk / "other")
    system("mount", "-o", "remount,rw", small_disk)
    assert run(QUICK, [digits], out).counts == (20, 0, 0)
    assert not (small_disk / "other").exists()
    shutil.rmtree(out)
