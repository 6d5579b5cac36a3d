"""A job: plan, hand out, record, go on. The same call takes up what an earlier one left."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from ssplain.errors import SSplainError
from ssplain.files import hash_file, require_writable
from ssplain.jobs.driver import Driver, State
from ssplain.jobs.engine import start
from ssplain.jobs.identity import hold, identity
from ssplain.jobs.index import NAME, Index
from ssplain.jobs.plan import Entry, entries, in_shard, shard_folder
from ssplain.jobs.recheck import recheck
from ssplain.jobs.survey import SMALL
from ssplain.names import Folders, Source
from ssplain.threads import one_core
from ssplain.work.place import Place
from ssplain.work.task import Item, Task, describe
from ssplain.work.worker import computed, opened

MOST = 1_000_000  # images of one job: a thousand folders of a thousand results


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
        inputs: files, folders, patterns, lists (see `ssplain.jobs.plan.entries`); none goes on with
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
    >>> from ssplain.work.explaining import Explaining
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
        _require_apart(inputs, place.root)
        require_writable(Path(place.root))
        place = Place(os.path.abspath(place.root))  # noqa: PTH100 - as workers see it
    path = _index_path(place, index)
    planned = (e for e in entries(inputs) if shard is None or in_shard(e, shard))
    about = identity(task)
    if not path.exists():
        preflight(task, place, islice(entries(inputs), 20))
    with (
        one_core(),
        start(engine, workers, scheduler, patience) as running,
        hold(path, about) as kept,
    ):
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


def _require_apart(inputs: Sequence[str | Path], root: str) -> None:
    """Complain if results would go among the images, which a later search could not tell apart."""
    for given in inputs:
        with suppress(OSError):
            if Path(given).samefile(root):
                raise SSplainError(
                    f"--out {root} is the folder of the images; give another for the results."
                )


def preflight(task: Task, place: Place, first: Iterator[Entry]) -> None:
    """Complain, before anything is written, about what would fail for every image of the job.

    The first images are read and shown to the task; one that is good is enough.
    """
    worker = opened(task)
    complaint: SSplainError | None = None
    for entry in first:
        item = Item(0, entry.path, entry.given, target=entry.target)
        try:
            value = worker.read(item)
        except SSplainError:
            continue  # the job reports bad images
        try:
            if not place.is_url:
                source = Source(entry.given, entry.path, hash_file(entry.path))
                Folders(place.root, Path(entry.path).parent).of(source)
            computed(worker.check, item, value)
        except SSplainError as error:
            complaint = complaint or error
        else:
            return
    if complaint is not None:
        raise complaint


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
