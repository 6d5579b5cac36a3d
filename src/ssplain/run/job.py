"""A job: plan, hand out, record, go on. The same call takes up what an earlier one left."""

import json
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from ssplain.errors import SSplainError
from ssplain.files import hash_file, require_writable
from ssplain.names import Folders, Source
from ssplain.run.engine import Engine, EngineLost, WorkerLost, start
from ssplain.run.identity import hold, identity
from ssplain.run.index import NAME, Index
from ssplain.run.place import Place
from ssplain.run.plan import Entry, entries, in_shard, shard_folder
from ssplain.run.recheck import recheck
from ssplain.run.survey import SMALL, Survey
from ssplain.run.task import Item, Task, describe
from ssplain.run.worker import Batch, Outcome, Worked, opened, revision, work

MOST = 1_000_000  # images of one job: a thousand folders of a thousand results
GIVEN_UP = 3  # times that an image kills its worker, alone, before it is given up
_SNAPSHOT = 60.0  # seconds between copies of an index that is kept elsewhere


class State(NamedTuple):
    """How far a job is."""

    done: int
    failed: int
    waiting: int


@dataclass(frozen=True)
class Summary:
    """What a call of `run` found and did.

    Attributes:
        counts: images done, failed and waiting, of the whole job.
        fresh: images that this call worked on with success.
        seconds: it took.
        stopped: whether it was asked to stop before the end.
        root: where the results are.
    """

    counts: State
    fresh: int
    seconds: float
    stopped: bool
    root: str


def run(
    task: Task,
    inputs: Sequence[str | Path],
    out: str | Path,
    *,
    engine: str = "here",
    workers: int = 1,
    scheduler: str | None = None,
    patience: float = 600.0,
    shard: tuple[int, int] | None = None,
    index: Path | None = None,
    progress: Callable[[State], None] | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Summary:
    """Work on all images that are not done yet.

    Args:
        task: what to do with each image.
        inputs: files, folders, patterns, lists (see `ssplain.run.plan.entries`); none goes on with
            what the job knows.
        out: folder of the job, or a URL that fsspec knows.
        engine: "here", "processes" or "dask".
        workers: local processes.
        scheduler: address of a Dask scheduler.
        patience: seconds to wait for a Dask cluster without workers.
        shard: `(i, n)` to take only the i-th of n parts of the images, in a folder of its own.
        index: the index file, if it is not to be in `out`.
        progress: told of the state after each batch.
        stop: asked between batches whether to end; what runs is finished first.

    Raises:
        SSplainError: If nothing can be done, or not go on, until something is put right. What is
            recorded by then stays.

    >>> import tempfile
    >>> from ssplain.report import grey, write_png
    >>> from ssplain.data import bundled
    >>> from ssplain.run.explaining import Explaining
    >>> home = Path(tempfile.mkdtemp())
    >>> for i in range(3):
    ...     write_png(grey(bundled("mnist")[0][i]), home / "in" / f"{i}.png")
    >>> task = Explaining("lenet5-mnist", iterations=2)
    >>> run(task, [home / "in"], home / "out").counts
    State(done=3, failed=0, waiting=0)
    >>> run(task, [home / "in"], home / "out").fresh
    0
    """
    started = time.monotonic()
    place = Place(str(out) if shard is None else shard_folder(str(out), shard))
    if not place.is_url:
        require_writable(Path(place.root))
        place = Place(os.path.abspath(place.root))  # noqa: PTH100 - as workers see it
    path = _index_path(place, index)
    planned = (e for e in entries(inputs) if shard is None or in_shard(e, shard))
    about = identity(task)
    if not path.exists():
        preflight(task, place, islice(entries(inputs), 20))
    with start(engine, workers, scheduler, patience) as running, hold(path, about) as kept:
        base = _plan(kept, planned)
        kept.note(task=describe(task), engine=[engine, workers, scheduler])
        place.clear()
        recheck(kept, place)
        driver = Driver(kept, task, place, running, base, progress, stop)
        try:
            driver.go()
        finally:
            place.clear()
            with suppress(OSError):  # no room there: what stopped the job says so
                driver.snapshot()
        counts = State(**kept.counts())
    seconds = time.monotonic() - started
    return Summary(counts, driver.fresh, seconds, bool(counts.waiting), place.root)


def preflight(task: Task, place: Place, first: Iterator[Entry]) -> None:
    """Complain, before anything is written, about what no image of the job could get over.

    The first images are read and shown to the task; one that is good is enough.
    """
    worker = opened(task)
    complaint: SSplainError | None = None
    for entry in first:
        item = Item(0, entry.path, entry.given, target=entry.target)
        try:
            value = worker.read(item)
        except SSplainError:
            continue  # a bad image is told of by the job
        try:
            if not place.is_url:
                source = Source(entry.given, entry.path, hash_file(entry.path))
                Folders(place.root, Path(entry.path).parent).of(source)
            worker.check(item, value)
        except SSplainError as error:
            complaint = complaint or error
        else:
            return
    if complaint is not None:
        raise complaint


@dataclass
class _Try:
    """A batch on its way, how often it has lost its worker, and whether it must be alone."""

    items: tuple[Item, ...]
    lost: int = 0
    alone: bool = False


@dataclass
class Driver:
    """Hands out batches and records what comes back; the one writer of the index."""

    index: Index
    task: Task
    place: Place
    engine: Engine
    base: Path
    progress: Callable[[State], None] | None
    stop: Callable[[], bool]
    fresh: int = 0
    _running: dict[Future[Worked], _Try] = field(default_factory=dict)
    _again: deque[_Try] = field(default_factory=deque)
    _at_once: int | None = None
    _copied: float = field(default_factory=time.monotonic)
    _seen: bool = False

    def go(self) -> None:
        """Work until no image waits, or something says to stop."""
        waiting = self.index.counts()["waiting"]
        most = max(1, -(-waiting // (2 * self.engine.workers)))
        survey = Survey(self.index, self.task, self.place, self.base, most)
        coming = (_Try(items) for items in survey.batches())
        self._at_once = self.index.about("at_once")
        self._tell()
        while True:
            self._hand_out(coming)
            if not self._running:
                return
            done, _ = wait(self._running, timeout=0.5, return_when=FIRST_COMPLETED)
            for future in done:
                self._settle(future, self._running.pop(future))
            if not done:
                self.engine.alive()
            elif time.monotonic() - self._copied > _SNAPSHOT:
                self.snapshot()

    def _hand_out(self, coming: Iterator[_Try]) -> None:
        if any(attempt.alone for attempt in self._running.values()):
            return  # nobody else may be blamed for what it does
        while len(self._running) < self.engine.ahead and not self.stop():
            attempt = self._again.popleft() if self._again else next(coming, None)
            if attempt is None:
                return
            if attempt.alone and self._running:
                self._again.append(attempt)
                return
            self._submit(attempt)
            if attempt.alone:
                return

    def _submit(self, attempt: _Try) -> None:
        batch = Batch(self.task, attempt.items, self.place.root, revision(), self._at_once)
        self._running[self.engine.executor.submit(work, batch)] = attempt

    def _settle(self, future: Future[Worked], attempt: _Try) -> None:
        try:
            worked = future.result()
        except WorkerLost as error:
            self._lost(attempt, error.times)
            return
        if worked.at_once is not None and worked.at_once != self._at_once:
            self._at_once = worked.at_once
            self.index.note(at_once=worked.at_once)
        self._look_once(worked)
        self.index.record([_row(outcome) for outcome in worked.outcomes])
        self.fresh += sum(outcome.error is None for outcome in worked.outcomes)
        self._tell()

    def _lost(self, attempt: _Try, times: int) -> None:
        """Send a lost batch again: whole, then in halves; an image alone is given up in the end."""
        lost, items = attempt.lost + times, attempt.items
        if len(items) == 1 and not attempt.alone:
            self._again.append(_Try(items, alone=True))
        elif len(items) == 1 and lost >= GIVEN_UP:
            text = (
                f"{items[0].path} ended its worker {GIVEN_UP} times, each time alone; it is given "
                "up. Is it too large for the memory?"
            )
            self.index.record([_row(Outcome(items[0], text))])
            self._tell()
        elif len(items) == 1 or lost < 2:
            self._again.append(_Try(items, lost, attempt.alone))
        else:
            middle = len(items) // 2
            self._again.extend(
                _Try(part, lost=int(len(part) > 1), alone=len(part) == 1)
                for part in (items[:middle], items[middle:])
            )

    def _look_once(self, worked: Worked) -> None:
        """Make sure, with the first result, that what workers write is seen here."""
        good = [outcome for outcome in worked.outcomes if outcome.error is None]
        if self._seen or not good:
            return
        for _ in range(20):  # network file systems may take a moment
            if self.place.has(good[0].item.where, good[0].bytes):
                self._seen = True
                return
            time.sleep(0.25)
        raise EngineLost(
            f"What the workers write to {self.place.root} is not seen here; give an --out that all "
            "machines reach under the same name."
        )

    def snapshot(self) -> None:
        """Put a copy of the index next to the results, if it is kept elsewhere."""
        self._copied = time.monotonic()
        home = None if self.place.is_url else Path(self.place.root)
        if home is None or self.index.path.parent.resolve() != home.resolve():
            self.place.put(NAME, self.index.copy())

    def _tell(self) -> None:
        if self.progress is not None:
            self.progress(State(**self.index.counts()))


def _row(outcome: Outcome) -> dict[str, Any]:
    numbers = dict(outcome.numbers or {})
    own = {name: numbers.pop(name, None) for name in ("prediction", "target")}
    probabilities = numbers.pop("probabilities", None)
    failed = outcome.error is not None
    return {
        "number": outcome.item.number,
        "path": outcome.item.path,
        "status": "failed" if failed else "done",
        "error": outcome.error,
        "file": None if failed else outcome.item.where,
        "bytes": None if failed else outcome.bytes,
        "seconds": None if failed else round(outcome.seconds, 6),
        **own,
        "probabilities": None if probabilities is None else json.dumps(probabilities),
        "measures": None if failed else json.dumps(numbers),
    }


def _plan(index: Index, planned: Iterator[Entry]) -> Path:
    """Add what is new to the plan; return the folder that its paths have in common."""
    common = _Common()
    index.add((e.path, e.given, e.id, e.target) for e in common.watch(planned))
    total = sum(index.counts().values())
    if not total:
        raise SSplainError("There are no images to work on; name files, folders or a list.")
    if total > MOST:
        raise SSplainError(
            f"There are {total} images, and a job takes {MOST}; split them into several jobs."
        )
    if index.about("parts") is None:
        index.note(parts=total > SMALL)
    return common.folder


class _Common:
    """The innermost folder of all paths that have come by."""

    def __init__(self) -> None:
        self._found: str | None = None

    def watch(self, planned: Iterator[Entry]) -> Iterator[Entry]:
        for entry in planned:
            parent = os.path.dirname(entry.path)  # noqa: PTH120 - a hundred thousand times
            if self._found is None:
                self._found = parent
            elif parent != self._found:
                self._found = os.path.commonpath([self._found, parent])
            yield entry

    @property
    def folder(self) -> Path:
        return Path(self._found or ".")


def _index_path(place: Place, index: Path | None) -> Path:
    """Return where the index is; one that is kept elsewhere is taken from its copy if missing."""
    if index is None:
        if place.is_url:
            raise SSplainError(
                f"{place.root} cannot hold the job's index; keep it on this machine with "
                "--index FILE."
            )
        return Path(place.root) / NAME
    copy = None if index.exists() else place.get(NAME)
    if copy is not None:
        index.parent.mkdir(parents=True, exist_ok=True)
        index.write_bytes(copy)
    return index
