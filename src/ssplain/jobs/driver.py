"""The driver of a job: hands out batches, records what comes back, and sends lost ones again."""

import json
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ssplain.jobs.engine import Engine, EngineLost, WorkerLost
from ssplain.jobs.index import NAME, Index
from ssplain.jobs.survey import Survey
from ssplain.work.message import Batch, Outcome, Worked
from ssplain.work.place import Place
from ssplain.work.task import Item, Task
from ssplain.work.worker import code_of, perform, work

GIVEN_UP = 3  # times that an image kills its worker, alone, before it is given up
_SNAPSHOT = 60.0  # seconds between copies of an index that is kept elsewhere


class State(NamedTuple):
    """How far along a job is."""

    done: int
    failed: int
    waiting: int


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
    _running: dict[Future[Any], _Try] = field(default_factory=dict)
    _again: deque[_Try] = field(default_factory=deque)
    _at_once: int | None = None
    _copied: float = field(default_factory=time.monotonic)
    _seen: bool = False

    def go(self) -> None:
        """Work until no image waits, or something says to stop."""
        waiting = self.index.counts()["waiting"]
        workers = self.engine.workers
        survey = Survey(self.index, self.task, self.place, self.base, waiting, workers)
        coming = (_Try(items) for items in survey.batches())
        self._at_once = self.index.about("at_once")
        self._tell()
        while True:
            self._hand_out(coming)
            if self.stop():
                self._leave()
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

    def _leave(self) -> None:
        """Leave undone what has not begun; its images wait for the next call."""
        self.engine.halt()
        for future in [future for future in self._running if future.cancel()]:
            del self._running[future]

    def _submit(self, attempt: _Try) -> None:
        code = code_of(self.task)
        company = self.engine.company
        batch = Batch(self.task, attempt.items, self.place.root, code, self._at_once, company)
        # text costs time, which in this process is taken from the computing
        asked = (work, batch) if company else (perform, batch.written())
        self._running[self.engine.executor.submit(*asked)] = attempt

    def _settle(self, future: Future[str], attempt: _Try) -> None:
        try:
            answer: Worked | str = future.result()
            worked = Worked.read(answer) if isinstance(answer, str) else answer
        except WorkerLost as error:
            self._lost(attempt, error.times)
            return
        except CancelledError:  # left undone by this job, see _leave, or by another one here
            if not self.stop():
                self._again.append(attempt)
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
