"""One heavy job at a time, in a thread of its own: it goes on when the browser is closed.

The queue is bounded, every task knows its place in it, tells its progress and can be stopped. What
a task leaves for later gives way to new tasks: nobody waits for a map while another is checked.
When nothing waits, the worker does a piece of idle work, such as the next image of a folder.
"""

import logging
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Condition, Event, Thread
from typing import Any, Literal

import torch

from ssplain.errors import SSplainError
from ssplain.threads import use_cores

State = Literal["waiting", "running", "done", "stopped", "failed"]
LOG = logging.getLogger("ssplain.desk")


class Stopped(Exception):  # noqa: N818 - not a fault: somebody pressed the button
    """The task was stopped while it worked."""


class GivenWay(Exception):  # noqa: N818 - not a fault either
    """Somebody is waiting for the worker; this part of the task is begun anew later."""


@dataclass(eq=False)
class Task:
    """One piece of work, and how far along it is.

    Attributes:
        work: does it; told how to report. What it returns is left for when nobody waits.
        owner: whose it is.
        id: an address that cannot be guessed.
        state: waiting, running, done, stopped or failed.
        stage: what it is doing, in words.
        done: the share that is done, 0 to 1.
        message: why it failed.
        about: what it is, for the page.
        halt: set when somebody wants it to stop.
        later: whether only that is left which gives way to others.
        crowded: whether there are others.
    """

    work: "Work"
    owner: str
    id: str = field(default_factory=lambda: secrets.token_hex(16))
    state: State = "waiting"
    stage: str = ""
    done: float = 0.0
    message: str = ""
    about: dict[str, Any] = field(default_factory=dict)
    halt: Event = field(default_factory=Event)
    later: bool = False
    crowded: Callable[[], bool] = lambda: False

    def tell(self, stage: str, done: float) -> None:
        """Say what is being done and what share of all is done; stops if asked to.

        Raises:
            Stopped: if somebody pressed the button.
            GivenWay: if this can be done later, and others wait.
        """
        if self.halt.is_set():
            raise Stopped
        if self.later and self.crowded():
            raise GivenWay
        self.stage, self.done = stage, min(1.0, max(0.0, done))


Work = Callable[[Task], "Work | None"]


class Queue:
    """A worker thread with a bounded queue of tasks.

    Args:
        longest: how many may wait altogether.
        each: how many may wait or run for one owner.
        idle: called when nothing waits; returns whether it had anything to do.

    >>> line = Queue()
    >>> task = line.submit(lambda task: task.tell("counting", 0.5), "me")
    >>> line.join(task)
    >>> task.state, task.done
    ('done', 1.0)
    >>> line.close()
    """

    def __init__(
        self, longest: int = 16, each: int = 4, idle: Callable[[], bool] | None = None
    ) -> None:
        self.longest, self.each, self.idle = longest, each, idle
        self._line: list[Task] = []
        self._running: Task | None = None
        self._change = Condition()
        self._closed = False
        self._cores, self._ready = torch.get_num_threads(), Event()
        self._thread = Thread(target=self._work, name="ssplain-worker", daemon=True)
        self._thread.start()
        self._ready.wait()  # from now on other threads may do with fewer cores

    def submit(self, work: Work, owner: str) -> Task:
        """Put a task at the end of the line.

        Raises:
            SSplainError: if the line is full.
        """
        with self._change:
            mine = sum(task.owner == owner for task in self._under_way())
            if mine >= self.each or len(self._line) >= self.longest:
                raise SSplainError(
                    f"{mine} of your images are waiting already and {len(self._line)} in all; wait "
                    "for one to finish, or stop one."
                )
            task = Task(work, owner, crowded=self._crowded)
            self._line.append(task)
            self._change.notify_all()
        return task

    def position(self, task: Task) -> int:
        """How many tasks come before this one; 0 if it runs or has run."""
        with self._change:
            if task not in self._line:
                return 0
            before = self._running is not None and (task.later or not self._running.later)
            return sorted(self._line, key=_later).index(task) + before

    def waiting(self) -> bool:
        """Whether somebody waits for the worker."""
        with self._change:
            return bool(self._line) or self._closed

    def stop(self, task: Task) -> None:
        """Take a task out of the line, or stop it at its next report."""
        with self._change:
            task.halt.set()
            if task in self._line:
                self._line.remove(task)
                task.state = "stopped"
            self._change.notify_all()

    def join(self, task: Task, timeout: float | None = None) -> None:
        """Wait until a task has ended."""
        with self._change:
            self._change.wait_for(lambda: task.state not in {"waiting", "running"}, timeout)

    def wake(self) -> None:
        """Tell the worker that there is idle work again."""
        with self._change:
            self._change.notify_all()

    def close(self) -> None:
        """Stop everything and end the thread."""
        with self._change:
            self._closed = True
            for task in self._under_way():
                task.halt.set()
            self._change.notify_all()
        self._thread.join(timeout=30)

    def _crowded(self) -> bool:
        with self._change:
            return any(not task.later for task in self._line)

    def _under_way(self) -> list[Task]:
        return self._line + ([self._running] if self._running else [])

    def _next(self) -> Task | None:
        with self._change:
            if self._line and not self._closed:
                self._running = min(self._line, key=_later)
                self._line.remove(self._running)
                self._running.state = "running"
                return self._running
            return None

    def _work(self) -> None:
        use_cores(self._cores)
        self._ready.set()
        while not self._closed:
            task = self._next()
            if task is not None:
                self._run(task)
            elif not self._rest():
                with self._change:
                    self._change.wait_for(lambda: self._line or self._closed, timeout=1.0)

    def _rest(self) -> bool:
        """Do a piece of idle work; return whether there was one."""
        try:
            return self.idle is not None and self.idle()
        except Exception:
            LOG.exception("Idle work failed")
            return False

    def _run(self, task: Task) -> None:
        state: State = "failed"
        left: Work | None = None
        try:
            left = task.work(task)
            state = "done"
        except GivenWay:
            left, state = task.work, "stopped"
        except Stopped:
            state = "stopped"
        except SSplainError as error:
            task.message = str(error)
        except Exception:
            # the browser gets a sentence, the log gets the rest; the worker must go on
            LOG.exception("Task %s failed", task.id)
            task.message = "Something went wrong in the program; its log says more."
        with self._change:
            self._running = None
            if left is None or self._closed:
                task.work = _nothing  # lets go of the image
                task.state, task.done = state, 1.0 if state == "done" else task.done
            else:
                task.work, task.later = left, True
                task.state = "waiting" if self._line else "running"
                self._line.append(task)
            self._change.notify_all()


def _nothing(task: Task) -> None:
    """Return what is left of a task that has ended."""


def _later(task: Task) -> bool:
    """Return what comes first in line: sorting by it keeps the order of those that are alike."""
    return task.later
