"""What a worker does with a batch: read, compute, write; each overlaps with the others.

This runs in this process, in another one, or on another machine. It gets a task and a few paths,
and gives back a few numbers: images and maps never travel through the driver.
"""

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from importlib.metadata import version
from threading import Lock
from typing import Any, TypeVar

from ssplain.errors import SSplainError, no_memory
from ssplain.run.revision import revision
from ssplain.threads import one_core, use_cores
from ssplain.version import __version__
from ssplain.work.message import Batch, Outcome, Worked
from ssplain.work.place import Place
from ssplain.work.scribe import is_hired, scribe, write_all
from ssplain.work.task import Fitting, Item, Result, Task, Worker

T = TypeVar("T")
_Found = tuple[Item, Result | str, float]  # an image, its result or what is wrong, and seconds

_opened: dict[Task, Worker] = {}
_waiting: set[Future[Any]] = set()  # for the thread that computes
_reading = Lock()  # batches are read one after the other: the first is waited for
OVERLAP = 32  # from this many images on, a batch alone is computed in two, so that files overlap


def code_of(task: Task) -> str:
    """Return the version of the package, a hash of the code that results depend on, and torch's.

    >>> from ssplain.work.explaining import Explaining
    >>> code_of(Explaining("lenet5-mnist")).startswith(f"ssplain {__version__} ")
    True
    """
    code = revision(type(task).__module__, __name__)
    return f"ssplain {__version__} {code} on torch {_torch()}"


@cache
def _torch() -> str:
    return version("torch")  # it reads a file each time


def opened(task: Task) -> Worker:
    """Open a task, once per process."""
    if task not in _opened:  # without asking the thread that computes, which may be at it for long
        computed(_open, task)
    return _opened[task]


def _open(task: Task) -> None:
    if task not in _opened:
        _opened[task] = task.open()


def computed(do: Callable[..., T], *args: Any) -> T:  # noqa: ANN401 - whatever `do` takes
    """Return what a function does in the one thread that computes; see `ssplain.threads`.

    Raises:
        CancelledError: if `leave_waiting` was called before its turn came.
    """
    future = _computer().submit(do, *args)
    _waiting.add(future)
    try:
        return future.result()
    finally:
        _waiting.discard(future)


def leave_waiting() -> None:
    """Leave undone what waits for the thread that computes; what runs is finished."""
    for future in list(_waiting):
        future.cancel()


@cache
def _computer() -> ThreadPoolExecutor:
    with one_core() as cores:
        made = ThreadPoolExecutor(1, "computing", use_cores, (cores,))
        made.submit(int).result()
    return made


def perform(message: str) -> str:
    """Work on a batch that came as JSON, and answer in JSON.

    This is all that ever travels: a function of this module, and text.
    """
    try:
        return work(Batch.read(message)).written()
    except SSplainError as error:
        return Worked((), complaint=str(error)).written()


def work(batch: Batch) -> Worked:
    """Work on a batch and write its results.

    A bad image fails alone; whatever makes work impossible for all images is raised.
    """
    if (own := code_of(batch.task)) != batch.code:
        raise SSplainError(
            f"This worker has {own} and the job was started with {batch.code}; install the same "
            "on all machines."
        )
    worker = opened(batch.task)
    size = batch.at_once or len(batch.items)
    if size > OVERLAP and size == len(batch.items) and not batch.company:
        size = -(-size // 2)
    place, fits = Place(batch.root), size
    apart = batch.company and len(batch.items) >= OVERLAP
    early = apart and is_hired()  # the first images are read before it is ready
    if apart:
        scribe()
    # One thread each, and whole pieces for it: threads that wait for the interpreter's lock, and
    # every call that gives it up, slow the computing down (measured: by a third with two of each).
    with one_core(), ThreadPoolExecutor(1) as readers, ThreadPoolExecutor(1) as writers:
        coming = [
            readers.submit(_read, worker, piece, apart=early)
            for piece in _pieces(batch.items, size)
        ]
        outcomes: list[Outcome] = []
        written: list[Future[list[Outcome]]] = []
        for future in coming:
            read, bad = future.result()
            outcomes += bad
            for found, fitted in computed(_compute, worker, read, fits):
                fits = min(fits, fitted)
                written.append(writers.submit(_write, place, found, apart=apart))
        outcomes += [outcome for future in written for outcome in future.result()]
    halved = fits if fits < size else batch.at_once
    return Worked(tuple(outcomes), halved)


def _read(
    worker: Worker, items: Sequence[Item], *, apart: bool
) -> tuple[list[tuple[Item, Any]], list[Outcome]]:
    """Read images, in a process of its own if they are to be read apart and can be."""
    good, bad = [], []
    fit = worker.fit if apart and isinstance(worker, Fitting) else None
    with _reading:
        pixels = [None] * len(items) if fit is None else scribe().read(items)
        for item, one in zip(items, pixels, strict=True):
            try:
                value = worker.read(item) if fit is None or one is None else fit(item, one)
                good.append((item, value))
            except SSplainError as error:
                bad.append(Outcome(item, _named(item, str(error))))
            except Exception as error:  # noqa: BLE001 - one odd file must not stop the others
                bad.append(Outcome(item, f"{item.path} cannot be read: {_name(error)}."))
    return good, bad


def _compute(
    worker: Worker, read: Sequence[tuple[Item, Any]], fits: int
) -> list[tuple[list[_Found], int]]:
    """Return images with their results or errors and seconds, and how many fitted at a time.

    Out of memory, the batch is halved; after any other error too, until the image at fault is
    alone.
    """
    done: list[tuple[list[_Found], int]] = []
    waiting = _pieces(read, fits)
    while waiting:
        piece = waiting.pop(0)
        started = time.perf_counter()
        try:
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always", ResourceWarning)
                results = worker.work([item for item, _ in piece], [value for _, value in piece])
        except Exception as error:  # noqa: BLE001 - one odd image must not stop the others
            if len(piece) == 1:
                done.append(([(piece[0][0], _named(piece[0][0], _said(error)), 0.0)], fits))
                continue
            middle = len(piece) // 2
            if no_memory(error):
                fits = middle
            waiting = [piece[:middle], piece[middle:], *waiting]
            continue
        if any("Out of memory" in str(one.message) for one in told):
            fits = max(1, len(piece) // 2)  # the explainer has halved it by itself
        each = (time.perf_counter() - started) / len(piece)
        found: list[_Found] = [
            (item, one, each) for (item, _), one in zip(piece, results, strict=True)
        ]
        done.append((found, fits))
    return done


def _write(place: Place, found: Sequence[_Found], *, apart: bool) -> list[Outcome]:
    """Ask for more numbers and write results, in the process for that where they can go there."""
    bad = [Outcome(item, one) for item, one, _ in found if isinstance(one, str)]
    good: list[tuple[Item, Result, Mapping[str, Any], float]] = []
    for item, one, each in found:
        if isinstance(one, Result):
            try:
                good.append((item, one, {**one.numbers, **one.more()}, each))
            except Exception as error:  # noqa: BLE001 - one odd image must not stop the others
                bad.append(Outcome(item, _named(item, _said(error))))
    letters = [(item, one.files, one.manifest) for item, one, _, _ in good]
    apart = apart and all(one.portable for _, one, _, _ in good)
    written = scribe().write(place, letters) if apart else write_all(place, letters)
    return bad + [
        Outcome(item, size) if isinstance(size, str) else Outcome(item, None, numbers, size, each)
        for (item, _, numbers, each), size in zip(good, written, strict=True)
    ]


def _pieces(things: Sequence[T], size: int) -> list[Sequence[T]]:
    return [things[at : at + size] for at in range(0, len(things), max(1, size))]


def _named(item: Item, text: str) -> str:
    return text if item.path in text or item.given in text else f"{item.path}: {text}"


def _said(error: Exception) -> str:
    return str(error) if isinstance(error, SSplainError) else f"{_name(error)}."


def _name(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".strip().rstrip(".:")
