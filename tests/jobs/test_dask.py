"""A real Dask cluster on this machine, of which parts are killed."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from socket import create_connection, socket

import pytest

from ssplain.errors import SSplainError
from ssplain.jobs.driver import State
from ssplain.jobs.engine import EngineLost
from ssplain.jobs.job import run
from tests.jobs.digits import QUICK, exported, results, write_digits
from tests.jobs.poison import Poison, write_files

pytest.importorskip("distributed", reason="the cluster extra is not installed")
pytestmark = pytest.mark.slow


class Cluster:
    """A scheduler and workers, each a process of its own that can be killed."""

    def __init__(self, log: Path) -> None:
        self.log = log
        with socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.workers: list[subprocess.Popen[bytes]] = []
        self.start_scheduler()

    def start_scheduler(self) -> None:
        self.scheduler = self._start(
            "scheduler", "--host", "127.0.0.1", "--port", self.port, "--no-dashboard"
        )
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline:
            try:
                create_connection(("127.0.0.1", self.port), 1).close()
            except OSError:
                time.sleep(0.2)
            else:
                return

    def add_worker(self) -> None:
        # without a nanny: a killed worker stays dead
        options = ("--nthreads=1", "--no-nanny", "--no-dashboard", "--preload", "tests.jobs.poison")
        self.workers.append(self._start("worker", self.address, *options))
        registered = self.log.read_bytes().count(b"Registered to")
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline:
            if self.log.read_bytes().count(b"Registered to") > registered:
                return
            time.sleep(0.2)

    def _start(self, *arguments: object) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", *map(str, arguments)]
        with self.log.open("ab") as log:
            return subprocess.Popen(command, stdout=log, stderr=log)

    def end(self) -> None:
        for process in [self.scheduler, *self.workers]:
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path / "dask.log")
    made.add_worker()
    yield made
    made.end()


def files(tmp_path: Path) -> Path:
    return write_files(tmp_path / "in", **{f"f{i:03}": "good" for i in range(60)})


TASK = Poison(at_a_time=3, seconds=0.2)


def on(cluster: Cluster, tmp_path: Path, **options: object) -> State:
    settings = {"engine": "dask", "scheduler": cluster.address, "patience": 120.0} | options
    return run(TASK, [tmp_path / "in"], tmp_path / "out", **settings).counts  # type: ignore[arg-type]


def test_one_killed_worker_costs_no_image(cluster: Cluster, tmp_path: Path) -> None:
    files(tmp_path)
    cluster.add_worker()

    def kill(state: State) -> None:
        if state.done >= 12 and cluster.workers[0].poll() is None:
            cluster.workers[0].send_signal(signal.SIGKILL)
            cluster.workers[0].wait()

    assert on(cluster, tmp_path, progress=kill) == (60, 0, 0)
    assert cluster.workers[0].returncode == -signal.SIGKILL


def test_all_workers_killed_stops_cleanly_and_resumes(cluster: Cluster, tmp_path: Path) -> None:
    files(tmp_path)

    def kill(state: State) -> None:
        if state.done >= 12:
            for worker in cluster.workers:
                worker.kill()

    with pytest.raises(EngineLost, match="no workers for 3 seconds"):
        on(cluster, tmp_path, progress=kill, patience=3.0)
    rows = exported(tmp_path / "out").values()
    assert 12 <= sum(row["status"] == "done" for row in rows) < 60
    assert not any(row["status"] == "failed" for row in rows)
    cluster.add_worker()
    assert on(cluster, tmp_path) == (60, 0, 0)


def test_a_killed_scheduler_stops_cleanly_and_resumes(cluster: Cluster, tmp_path: Path) -> None:
    files(tmp_path)

    def kill(state: State) -> None:
        if state.done >= 12 and cluster.scheduler.poll() is None:
            cluster.scheduler.kill()
            cluster.scheduler.wait()

    with pytest.raises(SSplainError, match="Dask"):
        on(cluster, tmp_path, progress=kill)
    rows = exported(tmp_path / "out").values()
    assert 12 <= sum(row["status"] == "done" for row in rows) < 60
    assert not any(row["status"] == "failed" for row in rows)
    cluster.end()
    cluster.workers.clear()
    cluster.start_scheduler()
    cluster.add_worker()
    assert on(cluster, tmp_path) == (60, 0, 0)


def test_results_are_those_of_one_process(cluster: Cluster, tmp_path: Path) -> None:
    digits = write_digits(tmp_path / "in", 100)
    run(QUICK, [digits], tmp_path / "here")
    there = run(QUICK, [digits], tmp_path / "there", engine="dask", scheduler=cluster.address)
    assert there.counts == (100, 0, 0)
    assert results(tmp_path / "there") == results(tmp_path / "here")


def test_no_scheduler_is_told(tmp_path: Path) -> None:
    files(tmp_path)
    with pytest.raises(SSplainError, match=r"no Dask scheduler at tcp:"):
        run(TASK, [tmp_path / "in"], tmp_path / "out", engine="dask", scheduler="tcp://127.0.0.1:9")
