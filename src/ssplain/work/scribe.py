"""Pictures are read and results written in a process of its own, beside the one that computes.

Reading a digit, and packing, hashing and writing its result, takes a quarter of the time of
explaining it. Done by a thread it takes that time from the computing: whenever PyTorch has finished
an operation it waits for the interpreter's lock until the other thread gives it up. The process
that reads and writes loads no PyTorch, so it is ready before the first results are. If it is lost,
what it was at is done here, and the next batch has a new one; no image is blamed.
"""

import math
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssplain.errors import SSplainError
from ssplain.files import npz_bytes
from ssplain.names import Source
from ssplain.pictures import SUFFIXES, read_pixels
from ssplain.work.place import NoRoom, Place
from ssplain.work.task import Files, Item

Letter = tuple[Item, Callable[[], Files], Mapping[str, Any]]  # an image, its files, how it was made
Pixels = NDArray[np.float32]
_BEGIN = """
import os, sys
boss, reads, writes, *sys.path = sys.argv[1:]
from ssplain.work.scribe import serve
serve(int(boss), int(reads), int(writes))
os._exit(0)  # the job waits for it, and tidying up takes longer than most batches
"""


def packed(name: str, arrays: Mapping[str, NDArray[Any]], row: int) -> dict[str, bytes]:
    """Return one image's share of the arrays of a batch, as an `.npz` file of this name.

    >>> import numpy as np
    >>> list(packed("a.npz", {"target": np.arange(3)}, 1))
    ['a.npz']
    """
    return {name: npz_bytes({key: array[row : row + 1] for key, array in arrays.items()})}


def read_all(items: Sequence[Item]) -> list[Pixels | None]:
    """Return the pixels of picture files; None for bad ones and for files of other kinds.

    >>> read_all([Item(1, "/nowhere.png"), Item(2, "/scans.npz")])
    [None, None]
    """
    return [_pixels(item) for item in items]


def _pixels(item: Item) -> Pixels | None:
    with suppress(Exception):  # who reads it again says what is wrong with it
        if item.path.lower().endswith(SUFFIXES):
            return read_pixels(item.path, item.page)
    return None


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


class _Line:
    """A connection to another process that one thread at a time may use.

    Attributes:
        far: the other process's end.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._near, self.far = Pipe()

    def __enter__(self) -> "Connection[Any, Any]":
        self._lock.acquire()
        return self._near

    def __exit__(self, *_: object) -> None:
        self._lock.release()


class Scribe:
    """A process that reads pictures and writes results.

    Attributes:
        lost: whether it was found to be gone.

    >>> import tempfile
    >>> place, scribe = Place(tempfile.mkdtemp()), Scribe()
    >>> scribe.write(place, [(Item(1, "/od.png", where="od"), dict, {})])
    [74]
    >>> scribe.dismiss()
    """

    def __init__(self) -> None:
        self.lost = False
        # a line for each: on a slow disk results are written for as long as the next are computed,
        # and the pictures after those must not wait for it, or nothing is computed meanwhile
        self._reads, self._writes = _Line(), _Line()
        far = [line.far for line in (self._reads, self._writes)]
        handles = [end.fileno() for end in far]
        numbers = map(str, (os.getpid(), *handles))
        command = [sys.executable, "-c", _BEGIN, *numbers, *sys.path]
        self._process: subprocess.Popen[bytes] | None = None
        with suppress(OSError):  # without it, results are written here
            self._process = subprocess.Popen(  # noqa: S603 - ourselves
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=handles,
                start_new_session=True,  # Ctrl-C is for the driver
                env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
            )
        for end in far:
            end.close()

    @property
    def pid(self) -> int | None:
        """The number of the process, None if it could not be started."""
        return None if self._process is None else self._process.pid

    def read(self, items: Sequence[Item]) -> list[Pixels | None]:
        """Have pictures read, as `read_all` does; what is None is to be read here."""
        try:
            with self._reads as line:
                line.send(items)
                shapes: list[tuple[int, ...] | None] = line.recv()
                sizes = [0 if shape is None else math.prod(shape) for shape in shapes]
                values = np.empty(sum(sizes), np.float32)
                line.recv_bytes_into(values)
        except (OSError, EOFError):
            self.lost = True
            return [None] * len(items)
        parts = np.split(values, np.cumsum(sizes))  # and one without anything at the end
        return [
            None if shape is None else part.reshape(shape)
            for shape, part in zip(shapes, parts, strict=False)
        ]

    def write(self, place: Place, letters: Sequence[Letter]) -> list[int | str]:
        """Have results written, as `write_all` does."""
        try:
            with self._writes as line:
                line.send((place, letters))
                answer = line.recv()
        except (OSError, EOFError):  # what it has written is written again
            self.lost = True
            return write_all(place, letters)
        if isinstance(answer, Exception):
            raise answer
        return list(answer)

    def dismiss(self) -> None:
        """End the process, after what it is at."""
        for line in (self._writes, self._reads):  # what is being written comes first
            with line as here:
                here.close()
        if self._process is not None:
            self._process.wait()


def serve(boss: int, reads: int, writes: int) -> None:
    """Read and write what is asked for until nobody is there to ask.

    Args:
        boss: the process to work for.
        reads: handle of the connection for pictures, which come before results.
        writes: handle of the connection for results.
    """
    pictures: Connection[Any, Any] = Connection(reads)
    results: Connection[Any, Any] = Connection(writes)

    def ended() -> bool:
        while pictures.poll():
            _hand_over(pictures, read_all(pictures.recv()))
        # a killed driver is taken up again by another, which must have its folder alone
        return os.getppid() != boss

    with suppress(EOFError, OSError):
        while not ended():
            if results not in wait([pictures, results]):
                continue
            place, letters = results.recv()
            try:
                answer: object = write_all(place, letters, ended)
            except Exception as error:  # noqa: BLE001 - raised where it was asked for
                answer = error
            results.send(answer)


def _hand_over(here: "Connection[Any, Any]", found: Sequence[Pixels | None]) -> None:
    """Send the shapes of images, and then the values of all at once."""
    here.send([None if one is None else one.shape for one in found])
    here.send_bytes(b"".join(one.tobytes() for one in found if one is not None))


_hiring = threading.Lock()
_jobs = 0
_hired: Scribe | None = None


@contextmanager
def at_work() -> Iterator[None]:
    """Keep the other process, once it is wanted, until the last job in this one has ended."""
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
    """Return the process that reads and writes, inside `at_work`; a lost one is replaced."""
    global _hired  # noqa: PLW0603
    with _hiring:
        if _hired is not None and _hired.lost:
            _hired.dismiss()
            _hired = None
        if _hired is None:
            _hired = Scribe()
        return _hired


def is_hired() -> bool:
    """Say whether that process has been started; it takes .3 seconds until it answers."""
    return _hired is not None
