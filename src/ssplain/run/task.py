"""What a job does with an image: a task that any worker can open by itself.

A task is a frozen dataclass of plain values: names, files and settings, no tensors. It travels to
other processes and machines as it is; models are loaded there, once per worker. It is kept with the
job as JSON, so that a job can be taken up again without its first command.
"""

import dataclasses
import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from ssplain.errors import SSplainError

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
    """

    numbers: Mapping[str, Any]
    files: Callable[[], Files]
    manifest: Mapping[str, Any] = field(default_factory=dict)


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


class Task(Protocol):
    """What is done with each image of a job."""

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


def describe(task: Task) -> dict[str, Any]:
    """Return a task as JSON can hold it.

    >>> from ssplain.run.explaining import Explaining
    >>> revive(describe(Explaining("lenet5-mnist"))) == Explaining("lenet5-mnist")
    True
    """
    kind = type(task)
    return {"task": f"{kind.__module__}:{kind.__qualname__}", "fields": dataclasses.asdict(task)}


def revive(description: Mapping[str, Any]) -> Task:
    """Make the task again that `describe` described; only tasks of this package are made."""
    module, _, name = str(description["task"]).partition(":")
    if not module.startswith("ssplain."):
        raise SSplainError(f"The job's task {module}:{name} is not one of ssplain; start it anew.")
    try:
        made: Task = getattr(importlib.import_module(module), name)(**description["fields"])
    except (ImportError, AttributeError, TypeError) as error:
        raise SSplainError(
            f"This version of ssplain does not know the job's task ({error}); go on with the "
            "version that began it, or start it anew in another folder."
        ) from error
    return made
