"""A task for tests: images that end their worker, need much memory, are slow, or fail late."""

import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import current_thread
from typing import Any, ClassVar

from ssplain.errors import SSplainError
from ssplain.work.task import TASKS, Item, Result, TaskKind


@dataclass(frozen=True)
class Poison:
    """Counts the bytes of each file; a file that holds "poison" ends the process."""

    name: ClassVar[str] = "poison"
    at_a_time: int = 4
    fits: int = 99
    seconds: float = 0.0

    def about(self) -> dict[str, Any]:
        return {"model": "none"}

    def group(self, item: Item) -> tuple[str, int]:
        return "", self.at_a_time

    def open(self) -> "PoisonWorker":
        return PoisonWorker(self)


class PoisonWorker:
    def __init__(self, task: Poison) -> None:
        self.task = task

    def read(self, item: Item) -> bytes:
        return Path(item.path).read_bytes()

    def check(self, item: Item, value: object) -> None:
        pass

    def work(self, items: Sequence[Item], inputs: Sequence[bytes]) -> list[Result]:
        time.sleep(self.task.seconds)
        if any(b"poison" in content for content in inputs):
            os.kill(os.getpid(), signal.SIGKILL)
        if any(b"odd" in content for content in inputs):
            raise SSplainError("It is odd.")
        if len(items) > self.task.fits:
            raise MemoryError
        return [
            Result(
                {"size": len(content), "together": len(items)},
                lambda: {"a.txt": b"done"},
                more=partial(_more, content),
            )
            for content in inputs
        ]


def _more(content: bytes) -> dict[str, Any]:
    if b"late" in content:
        raise ValueError("too late")
    return {"by": current_thread().name}


if "poison" not in TASKS:
    TASKS.add(TaskKind("poison", "tests.jobs.poison:Poison"))


def write_files(folder: Path, **contents: str) -> Path:
    """Write files that are named as images and hold a text, each another one."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (folder / f"{name}.png").write_text(f"{content} {name}")
    return folder
