"""What goes to a worker and what comes back, as JSON: nothing of ours is ever pickled.

A task goes by its name in the register and its settings; the worker makes it again from these.
"""

import json
from dataclasses import dataclass
from typing import Any

from ssplain.errors import SSplainError
from ssplain.work.task import Item, Task, describe, revive


@dataclass(frozen=True)
class Batch:
    """Images that are worked on together.

    Attributes:
        task: what to do.
        items: with which images.
        root: where results go.
        code: that planned it, from `code_of`; a worker with other code refuses.
        at_once: how many images may be in memory, where less than all are known to fit.
        company: whether another batch is on its way in the same process, so that files are read and
            written while that one is computed.
    """

    task: Task
    items: tuple[Item, ...]
    root: str
    code: str
    at_once: int | None = None
    company: bool = False

    def written(self) -> str:
        """Return it as JSON.

        >>> from ssplain.work.explaining import Explaining
        >>> batch = Batch(Explaining("lenet5-mnist"), (Item(1, "/e.png"),), "/out", "1.0", 4, True)
        >>> Batch.read(batch.written()) == batch
        True
        """
        items = [tuple(vars(item).values()) for item in self.items]
        rest = {name: getattr(self, name) for name in ("root", "code", "at_once", "company")}
        return json.dumps({"task": describe(self.task), "items": items, **rest})

    @staticmethod
    def read(text: str) -> "Batch":
        """Read what `written` wrote."""
        found = json.loads(text)
        items = tuple(Item(*item) for item in found.pop("items"))
        return Batch(revive(found.pop("task")), items, **found)


@dataclass(frozen=True)
class Outcome:
    """What became of one image.

    Attributes:
        item: the image.
        error: why it failed; None if it is done.
        numbers: as in `Result`.
        bytes: of its files.
        seconds: its share of the computing.
    """

    item: Item
    error: str | None = None
    numbers: Any = None
    bytes: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class Worked:
    """What became of a batch.

    Attributes:
        outcomes: one for each image.
        at_once: how many images went at a time, if fewer than asked for fitted into memory.
        complaint: what keeps all images from being worked on; there are no outcomes then.
    """

    outcomes: tuple[Outcome, ...]
    at_once: int | None = None
    complaint: str | None = None

    def written(self) -> str:
        """Return it as JSON.

        >>> worked = Worked((Outcome(Item(1, "/eye.png"), None, {"size": 3}, 118),), 4)
        >>> Worked.read(worked.written()) == worked
        True
        """
        # asdict copies all numbers one by one, which takes as long as a third of a digit's map
        outcomes = [vars(one) | {"item": vars(one.item)} for one in self.outcomes]
        return json.dumps(vars(self) | {"outcomes": outcomes})

    @staticmethod
    def read(text: str) -> "Worked":
        """Read what `written` wrote, or raise the complaint as it was raised in the worker."""
        found = json.loads(text)
        if found["complaint"] is not None:
            raise SSplainError(found["complaint"])
        outcomes = (Outcome(Item(**one.pop("item")), **one) for one in found["outcomes"])
        return Worked(tuple(outcomes), found["at_once"])
