"""Where the work is done: in this process, in local processes, or on a Dask cluster.

Each engine is a `concurrent.futures.Executor`. An engine tells of trouble by its errors: a worker
that died (`WorkerLost`, the images go elsewhere) and an engine that is gone (`EngineLost`, the job
stops and can be taken up again).
"""

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import (
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import connection, get_context, parent_process
from typing import Any, cast

from ssplain.errors import SSplainError
from ssplain.work.scribe import at_work
from ssplain.work.task import TASKS, TaskKind
from ssplain.work.worker import leave_waiting

KINDS = ("here", "processes", "dask")


class WorkerLost(Exception):  # noqa: N818 - what happened, as a name
    """A worker died over its batch.

    Attributes:
        times: how often the batch has lost its worker.
    """

    def __init__(self, times: int = 1) -> None:
        super().__init__(times)
        self.times = times


class EngineLost(SSplainError):  # noqa: N818 - what happened, as a name
    """No worker will answer any more."""


def _nothing() -> None:
    pass


@dataclass(frozen=True)
class Engine:
    """An executor, and what a driver must know of it.

    Attributes:
        executor: takes the batches.
        workers: how many batches are computed at a time.
        ahead: how many batches to hand over at a time, so that no worker waits for the next.
        alive: raises `EngineLost` if nothing will come back any more.
        company: whether a worker has two batches at a time, one of which is computed.
        halt: leaves undone, where it can, what is handed over but not computed yet.
    """

    executor: Executor
    workers: int
    ahead: int
    alive: Callable[[], None] = _nothing
    company: bool = False
    halt: Callable[[], None] = _nothing


@contextmanager
def start(
    kind: str, workers: int = 1, scheduler: str | None = None, patience: float = 600.0
) -> Iterator[Engine]:
    """Start an engine for as long as the block lasts.

    Args:
        kind: "here", "processes" or "dask".
        workers: local processes.
        scheduler: address of the Dask scheduler, such as tcp://head:8786.
        patience: seconds to wait for a Dask cluster that has no workers.

    >>> with start("here") as engine:
    ...     engine.executor.submit(pow, 2, 3).result()
    8
    """
    if kind not in KINDS:
        raise SSplainError(f"There is no engine {kind!r}; choose one of: {', '.join(KINDS)}.")
    if (kind == "dask") != (scheduler is not None):
        raise SSplainError(
            "A Dask cluster needs both --engine dask and --scheduler ADDRESS (such as "
            "tcp://head:8786)."
        )
    if scheduler is not None:
        with _dask(scheduler, patience) as engine:
            yield engine
        return
    here = kind == "here"
    executor: Executor = ThreadPoolExecutor(2) if here else Processes(workers)
    count = 1 if here else workers
    halt = leave_waiting if here else _nothing
    with at_work():
        try:
            yield Engine(executor, count, count + 1, company=here, halt=halt)
        finally:
            executor.shutdown(wait=True, cancel_futures=True)


class Processes(Executor):
    """Local processes, each a pool of its own: when one dies, only its own batch is lost.

    Args:
        workers: how many.
    """

    def __init__(self, workers: int) -> None:
        self._lock = threading.RLock()
        self._waiting: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
        self._threads = max(1, (os.cpu_count() or 1) // workers)
        self._free = [self._pool() for _ in range(workers)]
        self._busy: list[ProcessPoolExecutor] = []
        self._closed = False

    def _pool(self) -> ProcessPoolExecutor:
        # a fresh interpreter: a fork would share this process's threads and locks
        known = [(kind.name, kind.home) for kind in TASKS.values()]
        return ProcessPoolExecutor(1, get_context("spawn"), _begin, (self._threads, known))

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:  # noqa: ANN401
        """Hand over a piece of work; it starts when a process is free."""
        future: Future[Any] = Future()
        with self._lock:
            if self._closed:
                raise RuntimeError("The processes have been shut down.")
            self._waiting.append((future, partial(fn, *args, **kwargs)))
        self._next()
        return future

    def _next(self) -> None:
        with self._lock:
            while self._waiting and self._free and not self._closed:
                future, call = self._waiting.popleft()
                if not future.set_running_or_notify_cancel():
                    continue
                pool = self._free.pop(0)
                self._busy.append(pool)
                inner = pool.submit(call)
                inner.add_done_callback(partial(self._end, pool, future))

    def _end(self, pool: ProcessPoolExecutor, future: Future[Any], done: Future[Any]) -> None:
        error = CancelledError() if done.cancelled() else done.exception()
        with self._lock:
            self._busy.remove(pool)
            if isinstance(error, BrokenProcessPool):
                pool.shutdown(wait=False)
                pool = self._pool()
                error = WorkerLost()
            self._free.append(pool)
        if error is None:
            future.set_result(done.result())
        else:
            future.set_exception(error)
        self._next()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes, after their running work if `wait` says so."""
        with self._lock:
            self._closed = True
            if cancel_futures:
                for future, _ in self._waiting:
                    future.cancel()
                self._waiting.clear()
            pools = [*self._free, *self._busy]
        for pool in pools:
            pool.shutdown(wait=wait, cancel_futures=cancel_futures)


def _begin(threads: int, known: list[tuple[str, str]]) -> None:
    """Prepare a worker process: Ctrl-C is the driver's affair, and so is its end.

    Args:
        threads: of torch.
        known: the tasks that the driver knows, by name and home; a program may have added some.
    """
    for name, home in known:
        if name not in TASKS:
            TASKS.add(TaskKind(name, home))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if "OMP_NUM_THREADS" not in os.environ:
        import torch  # noqa: PLC0415 - not needed in the driver

        torch.set_num_threads(threads)


def _end_with_parent() -> None:
    # a killed driver cannot tell its workers; left alone they would wait for ever
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


@contextmanager
def _dask(address: str, patience: float) -> Iterator[Engine]:
    try:
        from distributed import Client  # noqa: PLC0415 - only with the extra
    except ImportError as error:
        raise SSplainError(
            f"A Dask cluster needs a package ({error}); install it with "
            "`pip install ssplain[cluster]`, here and on the workers."
        ) from error
    try:
        client: Any = cast("Any", Client)(address, timeout="10s", name="ssplain")
    except (OSError, TimeoutError, ValueError) as error:
        raise SSplainError(
            f"There is no Dask scheduler at {address} ({error}); start it, or check the address."
        ) from error
    cluster = _Cluster(client, address, patience)
    try:
        workers = cluster.wait_for_workers()
        yield Engine(_OnDask(client), workers, 2 * workers + 1, cluster.alive)
    finally:
        with suppress(Exception):  # the scheduler may be gone
            client.close(timeout=2)


class _OnDask(Executor):
    """A cluster as an executor; Dask moves a dead worker's work to others by itself."""

    def __init__(self, client: Any) -> None:  # noqa: ANN401 - distributed has no types
        self._client = client

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:  # noqa: ANN401
        outer: Future[Any] = Future()
        outer.set_running_or_notify_cancel()
        inner = self._client.submit(fn, *args, **kwargs, pure=False)
        inner.add_done_callback(lambda done: _hand_over(done, outer))
        return outer

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster as it is: it belongs to somebody else."""


def _hand_over(done: Any, outer: Future[Any]) -> None:  # noqa: ANN401
    from distributed import KilledWorker  # noqa: PLC0415 - only with the extra

    try:
        if done.status == "finished":
            outer.set_result(done.result())
            return
        error = done.exception() if done.status == "error" else None
    except Exception as raised:  # noqa: BLE001 - a lost connection shows in many ways
        outer.set_exception(EngineLost(f"The Dask cluster does not answer ({raised})."))
        return
    if isinstance(error, KilledWorker):
        # Dask gives up after several workers (allowed-failures, 3 unless set otherwise)
        outer.set_exception(WorkerLost(times=3))
    elif isinstance(error, Exception):
        outer.set_exception(error)
    else:
        outer.set_exception(EngineLost(f"The Dask cluster has dropped the work ({done.status})."))


@dataclass
class _Cluster:
    """Watches over a cluster: is the scheduler there, does it have workers?"""

    client: Any
    address: str
    patience: float
    seen: float = 0.0

    def wait_for_workers(self) -> int:
        """Return how many workers there are, at least one."""
        self.seen = time.monotonic()
        while not (count := self._workers()):
            self.alive()
            time.sleep(0.2)
        return count

    def alive(self) -> None:
        """Complain if the scheduler is gone, or has had no worker for too long."""
        if self.client.status != "running":
            raise EngineLost(
                f"The Dask scheduler at {self.address} is gone; start it again and give the same "
                "command: what is done stays done."
            )
        now = time.monotonic()
        if self._workers():
            self.seen = now
        elif now - self.seen > self.patience:
            raise EngineLost(
                f"The Dask cluster at {self.address} has had no workers for "
                f"{self.patience:.0f} seconds; start some and give the same command: what is done "
                "stays done."
            )

    def _workers(self) -> int:
        with suppress(Exception):  # a lost connection is told by the client's status
            return len(self.client.scheduler_info()["workers"])
        return 0
