"""Results are written in a process of their own, beside the one that computes.

Packing, hashing and writing a digit's result takes a sixth of the time of explaining it. Done by a
thread it takes that time from the computing: whenever PyTorch has finished an operation it waits
for the interpreter's lock until the writing thread gives it up. The process that writes loads no
PyTorch, so it is ready before the first results are; if it is lost, its work is done here.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, Pipe
from typing import Any

from numpy.typing import NDArray

from ssplain.errors import SSplainError
from ssplain.files import npz_bytes
from ssplain.names import Source
from ssplain.work.place import NoRoom, Place
from ssplain.work.task import Files, Item

Letter = tuple[Item, Callable[[], Files], Mapping[str, Any]]  # an image, its files, how it was made
_BEGIN = """
import sys
boss, handle, *sys.path = sys.argv[1:]
from ssplain.work.scribe import serve
serve(int(boss), int(handle))
"""


def packed(name: str, arrays: Mapping[str, NDArray[Any]], row: int) -> dict[str, bytes]:
    """Return one image's share of the arrays of a batch, as an `.npz` file of this name.

    >>> import numpy as np
    >>> list(packed("a.npz", {"target": np.arange(3)}, 1))
    ['a.npz']
    """
    return {name: npz_bytes({key: array[row : row + 1] for key, array in arrays.items()})}


def write_all(
    place: Place, letters: Sequence[Letter], stop: Callable[[], bool] = lambda: False
) -> list[int | str]:
    """Write results; return the number of bytes of each, or what is wrong with it.

    Args:
        place: where they go.
        letters: what to write.
        stop: asked before each result whether to end.

    Raises:
        NoRoom: if nothing can be written there.
    """
    done: list[int | str] = []
    for item, files, manifest in letters:
        if stop():
            break
        source = Source(item.given, item.path, item.sha256).about()
        if item.page is not None:
            source["page"] = str(item.page)
        try:
            done.append(place.write(item.where, files(), {**manifest, "source": source}))
        except NoRoom:
            raise
        except SSplainError as error:
            done.append(str(error))
    return done


class Scribe:
    """A process that writes results.

    >>> import tempfile
    >>> place, scribe = Place(tempfile.mkdtemp()), Scribe()
    >>> scribe.write(place, [(Item(1, "/od.png", where="od"), dict, {})])
    [74]
    >>> scribe.dismiss()
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._here, there = Pipe()
        handle = there.fileno()
        command = [sys.executable, "-c", _BEGIN, str(os.getpid()), str(handle), *sys.path]
        self._process: subprocess.Popen[bytes] | None = None
        with suppress(OSError):  # without it, results are written here
            self._process = subprocess.Popen(  # noqa: S603 - ourselves
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(handle,),
                start_new_session=True,  # Ctrl-C is for the driver
                env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
            )
        there.close()

    @property
    def pid(self) -> int | None:
        """The number of the process, None if it could not be started."""
        return None if self._process is None else self._process.pid

    def write(self, place: Place, letters: Sequence[Letter]) -> list[int | str]:
        """Have results written, as `write_all` does."""
        try:
            with self._lock:
                self._here.send((place, letters))
                answer = self._here.recv()
        except (OSError, EOFError):  # it is gone; what it has written is written again
            return write_all(place, letters)
        if isinstance(answer, Exception):
            raise answer
        return list(answer)

    def dismiss(self) -> None:
        """End the process, after what it is at."""
        with self._lock:
            self._here.close()
        if self._process is not None:
            self._process.wait()


def serve(boss: int, handle: int) -> None:
    """Write what comes in until nobody is there to send it.

    Args:
        boss: the process to write for.
        handle: of the connection to it.
    """
    here: Connection[Any, Any] = Connection(handle)
    with suppress(EOFError, OSError):
        while True:
            place, letters = here.recv()
            try:
                # a killed driver is taken up again by another, which must have its folder alone
                answer: object = write_all(place, letters, lambda: os.getppid() != boss)
            except Exception as error:  # noqa: BLE001 - raised where it was asked for
                answer = error
            here.send(answer)


_hiring = threading.Lock()
_jobs = 0
_hired: Scribe | None = None


@contextmanager
def at_work() -> Iterator[None]:
    """Keep the process that writes, once it is wanted, until the last job in this one has ended."""
    global _jobs, _hired  # noqa: PLW0603 - one for all jobs of a process
    with _hiring:
        _jobs += 1
    try:
        yield
    finally:
        with _hiring:
            _jobs -= 1
            if not _jobs and _hired is not None:
                _hired.dismiss()
                _hired = None


def scribe() -> Scribe:
    """Return the process that writes, inside `at_work`."""
    global _hired  # noqa: PLW0603
    with _hiring:
        if _hired is None:
            _hired = Scribe()
        return _hired
