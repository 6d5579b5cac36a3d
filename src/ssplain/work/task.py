"""What a job does with an image: a task that any worker can open by itself.

A task is a frozen dataclass of plain values: names, files and settings, no tensors. It travels to
other processes and machines as JSON, and is kept with the job as such, so that a job can be taken
up again without its first command; models are loaded in each worker, once. Which tasks there are
is in a register, to which an installed package may add its own (entry points `ssplain.tasks`).
"""

import dataclasses
import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ssplain.errors import SSplainError
from ssplain.register import Register

Files = Mapping[str, bytes]


@dataclass(frozen=True)
class Item:
    """One image of a job.

    Attributes:
        number: its place in the plan, from 1.
        path: the file, absolute.
        given: the path as it was given.
        sha256: of the file's content.
        page: which image of a file that holds several, from 0; None where it holds one.
        target: what the user asked to explain in it; None leaves that to the task.
        where: its folder, below the job's.
    """

    number: int
    path: str
    given: str = ""
    sha256: str = ""
    page: int | None = None
    target: str | None = None
    where: str = ""


@dataclass(frozen=True, eq=False)
class Result:
    """What became of one image.

    Attributes:
        numbers: for the index, ready for JSON. "prediction", "target" and "probabilities" have
            columns of their own, all others are its measures.
        files: gives the files of its folder by name; called by a writer, after the computing.
        manifest: how it was made, for the folder's `manifest.json`; the engine adds where the image
            came from and the hashes of the files.
        portable: whether files and manifest can go to a process that has not loaded PyTorch.
        more: gives further numbers; called once by a writer, with one core, while the next images
            are computed.
    """

    numbers: Mapping[str, Any]
    files: Callable[[], Files]
    manifest: Mapping[str, Any] = field(default_factory=dict)
    portable: bool = False
    more: Callable[[], Mapping[str, Any]] = dict


class Worker(Protocol):
    """A task with its models loaded, in one process."""

    def read(self, item: Item) -> Any:  # noqa: ANN401 - what a task reads is its own affair
        """Read one image, in a thread of readers; an `SSplainError` marks it as bad."""
        ...

    def check(self, item: Item, value: Any) -> None:  # noqa: ANN401
        """Complain about settings that do not fit the model, with an image that was read.

        Called for the first images of a new job, before anything is written; quick.
        """
        ...

    def work(self, items: Sequence[Item], inputs: Sequence[Any]) -> Sequence[Result]:
        """Work on images of one group, one result for each."""
        ...


@runtime_checkable
class Fitting(Protocol):
    """A worker that takes images as they are in their files; another process may read them then."""

    def fit(self, item: Item, pixels: NDArray[np.float32]) -> Any:  # noqa: ANN401 - as of `read`
        """Return what `read` returns, of an image `(C, H, W)` that was read already."""
        ...


class Task(Protocol):
    """What is done with each image of a job.

    Attributes:
        name: of its kind, in `TASKS`.
    """

    name: ClassVar[str]
    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]

    def __hash__(self) -> int: ...

    def about(self) -> dict[str, Any]:
        """Return all that the results depend on, ready for JSON: models by fingerprint, settings.

        A job goes on only if this is what it was.
        """
        ...

    def group(self, item: Item) -> tuple[str, int]:
        """Return what images must share to be worked on together, and how many at a time."""
        ...

    def open(self) -> Worker:
        """Load what is needed; called once per process."""
        ...


@dataclass(frozen=True)
class TaskKind:
    """A kind of task by name; where its class is, is looked up when it is needed.

    Attributes:
        name: the tasks' own, too.
        home: of the class, as `package.module:Class`.
    """

    name: str
    home: str

    def load(self) -> type[Any]:
        """Import the class."""
        module, _, name = self.home.partition(":")
        try:
            return cast("type[Any]", getattr(importlib.import_module(module), name))
        except (ImportError, AttributeError) as error:
            raise SSplainError(
                f"The task {self.name!r} is not where it is said to be ({error})."
            ) from error


TASKS: Register[TaskKind] = Register(
    "task",
    "ssplain.tasks",
    TaskKind,
    [
        TaskKind("explain", "ssplain.work.explaining:Explaining"),
        TaskKind("read", "ssplain.work.reading:ReadingEyes"),
    ],
)


def describe(task: Task) -> dict[str, Any]:
    """Return a task as JSON can hold it.

    >>> from ssplain.work.explaining import Explaining
    >>> revive(describe(Explaining("lenet5-mnist"))) == Explaining("lenet5-mnist")
    True
    """
    TASKS.find(task.name)  # what no worker could make again is not sent
    return {"task": task.name, "fields": dataclasses.asdict(task)}


def revive(description: Mapping[str, Any]) -> Task:
    """Make the task again that `describe` described; only tasks in the register are made."""
    kind = TASKS.find(str(description["task"])).load()
    # JSON knows no tuples, and a task holds no lists
    fields = {k: tuple(v) if isinstance(v, list) else v for k, v in description["fields"].items()}
    try:
        return cast("Task", kind(**fields))
    except TypeError as error:
        raise SSplainError(
            f"This version of ssplain does not know the job's task ({error}); go on with the "
            "version that began it, or start it anew in another folder."
        ) from error
