"""What a driver learns of each image before it is worked on, and how images become batches."""

import os
import sqlite3
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from ssplain.data import pages_of
from ssplain.errors import SSplainError
from ssplain.files import hash_file
from ssplain.jobs.index import Index, item_of
from ssplain.names import Folders, Source, safe_name
from ssplain.work.place import Place
from ssplain.work.task import Item, Task

PART = 1000  # results in one folder
SMALL = 900  # jobs of up to this many images need no parts
_TOGETHER = 64  # images that are looked at in one transaction
_AHEAD = 8  # such groups that are read ahead
_HELD = 20_000  # images that wait for others of their shape
_FIRST = 64  # images of the first batch; the next may be as large as all before it, and so on
_MOST = 256  # images of a batch, so that a long job takes no more memory than a short one


class Seen(NamedTuple):
    """What a look at a file tells."""

    stamp: str
    sha256: str = ""
    pages: int = 1
    error: str | None = None


def stamp_of(path: str) -> str:
    """Return size and times of a file: changed, and changed in permissions.

    >>> stamp_of("nowhere")
    ''
    """
    try:
        found = os.stat(path)  # noqa: PTH116 - a hundred thousand times
    except OSError:
        return ""
    return f"{found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"


def look(path: str) -> Seen:
    """Read a file to know its content's SHA-256 and how many images it holds."""
    stamp = stamp_of(path)
    try:
        return Seen(stamp, hash_file(path), pages_of(path))
    except SSplainError as error:
        return Seen(stamp, error=str(error))
    except IsADirectoryError:
        error_text = f"{path} is a folder; give the path of an image file."
    except FileNotFoundError:
        error_text = f"{path} does not exist; give the path of an image file."
    except OSError as error:
        error_text = f"{path} cannot be read ({error.strerror}); check the file."
    return Seen(stamp, error=error_text)


def _look_at(paths: list[str]) -> list[Seen]:
    return [look(path) for path in paths]


def batch_limit(handed: int, waiting: int, workers: int) -> int:
    """Return how large the next batch may be: small at both ends of a job, and two for all workers.

    Nothing is computed while the first images are read, nor while the last results are written.

    Args:
        handed: images that were handed out before.
        waiting: images that waited when the job was started.
        workers: how many share the work.

    >>> [batch_limit(handed, 5000, 1) for handed in (0, 64, 192, 448, 4700, 4850, 4930)]
    [64, 128, 256, 256, 150, 75, 70]
    >>> batch_limit(0, 20, 2)
    5
    """
    least = max(1, min(_FIRST, -(-waiting // (2 * workers))))
    left = waiting - handed  # files with several images may leave more
    batches = max(1, min(2 * workers, left // least))
    return max(least, min(-(-left // batches), _FIRST + handed // workers, _MOST))


@dataclass
class Survey:
    """Looks at the waiting images in the plan's order and puts them into batches.

    Attributes:
        index: the job's.
        task: tells which images go together.
        place: where results go.
        base: names of results are relative to this folder.
        waiting: how many images wait.
        workers: how many share the work.
    """

    index: Index
    task: Task
    place: Place
    base: Path
    waiting: int
    workers: int
    _handed: int = 0
    _groups: dict[str, list[Item]] = field(default_factory=dict)
    _folders: dict[str, Folders] = field(default_factory=dict)

    def batches(self) -> Iterator[tuple[Item, ...]]:
        """Yield batches until no image waits."""
        for looked in self._looks():
            with self.index.change():
                taken = [one for row, seen in looked for one in self._take(row, seen)]
            for item, key, size in taken:
                group = self._groups.setdefault(key, [])
                group.append(item)
                if len(group) >= min(size, batch_limit(self._handed, self.waiting, self.workers)):
                    self._handed += len(group)
                    yield tuple(self._groups.pop(key))
            while sum(map(len, self._groups.values())) > _HELD:
                yield tuple(self._groups.pop(max(self._groups, key=lambda k: len(self._groups[k]))))
        while self._groups:
            yield tuple(self._groups.pop(next(iter(self._groups))))

    def _looks(self) -> Iterator[list[tuple[sqlite3.Row, Seen]]]:
        """Yield the waiting images, some at a time, with what files tell; a thread reads ahead."""
        coming: deque[tuple[list[sqlite3.Row], Future[list[Seen]]]] = deque()
        last, more = 0, True
        readers = ThreadPoolExecutor(1)
        try:
            while True:
                while more and len(coming) < _AHEAD:
                    condition = "status = 'waiting' AND same_as IS NULL AND number > ?"
                    rows = list(self.index.rows(condition, (last,), _TOGETHER))
                    coming.append((rows, readers.submit(_look_at, [row["path"] for row in rows])))
                    more, last = bool(rows), rows[-1]["number"] if rows else last
                if not coming:
                    return
                rows, seen = coming.popleft()
                if rows:
                    yield list(zip(rows, seen.result(), strict=True))
                    more = True  # files with several images have made the plan longer
        finally:
            readers.shutdown(wait=False, cancel_futures=True)

    def _take(self, row: sqlite3.Row, seen: Seen) -> list[tuple[Item, str, int]]:
        """Record what was seen; return the image with what it goes together with, if it is good."""
        number, page = row["number"], row["page"]
        with self.index.change() as db:
            if seen.pages > 1 and page is None:
                page = 0
                self._spread(row, seen)
            original = (
                self.index.original(seen.sha256, page, row["wanted"]) if seen.sha256 else None
            )
            item = item_of(row, seen.sha256, page)
            error = seen.error
            taken: list[tuple[Item, str, int]] = []
            if error is None and original in (None, number):
                try:
                    if not item.where:
                        item = replace(item, where=self.folder_of(item, row["id"]))
                    taken = [(item, *self.task.group(item))]
                except SSplainError as complaint:
                    error = str(complaint)
            # once for each image: a statement costs as much as looking at the file
            db.execute(
                "UPDATE images SET stamp = ?, sha256 = ?, page = ?, file = ? WHERE number = ?",
                (seen.stamp, seen.sha256 or None, page, item.where or None, number),
            )
            if error is not None:
                self._fail(row, error)
            elif original is not None and original != number:
                self._same(number, original)
        return taken

    def folder_of(self, item: Item, name: str | None = None) -> str:
        """Return the folder of an image's result, below the job's: its own for good.

        Raises:
            SSplainError: If something that is not ours is in the way.
        """
        part = self._part(item.number)
        if part not in self._folders:
            self._folders.clear()  # one part at a time is enough to remember
            self._folders[part] = self._known(part)
        below = self._folders[part].name_of(self._source(item, name))
        return f"{part}/{below}" if part else below

    def _known(self, part: str) -> Folders:
        """Return the names of a part, with all that the index has given already."""
        folders = Folders(Path(self.place.root) / part, self.base)
        first = (int(part[-3:]) * PART) if part else 0
        for row in self.index.rows(
            "number > ? AND number <= ? AND file IS NOT NULL AND same_as IS NULL",
            (first, first + PART),
        ):
            where = row["file"].removeprefix(f"{part}/") if part else row["file"]
            folders.reserve(where, self._source(item_of(row), row["id"]))
        return folders

    def _source(self, item: Item, name: str | None) -> Source:
        """Return what a result is named after: the user's id, or the path and the page."""
        path = item.path if name is None else os.path.join(self.base, f"{safe_name(name)}.x")  # noqa: PTH118
        if item.page is not None:
            path = f"{os.path.splitext(path)[0]}-{item.page + 1}.x"  # noqa: PTH122 - names are text
        # a file may be explained for several targets
        return Source(item.given, path, f"{item.sha256}{item.target or ''}")

    @cached_property
    def _in_parts(self) -> bool:
        return bool(self.index.about("parts"))

    def _part(self, number: int) -> str:
        if number <= SMALL and not self._in_parts:
            return ""
        return f"part-{(number - 1) // PART:03d}"

    def _spread(self, row: sqlite3.Row, seen: Seen) -> None:
        """Give each image of a file with several a row of its own, at the end of the plan."""
        with self.index.change() as db:
            db.executemany(
                "INSERT INTO images (path, given, page, id, wanted) "
                "SELECT path, given, ?, id, wanted FROM images WHERE number = ?",
                [(page, row["number"]) for page in range(1, seen.pages)],
            )

    def _same(self, number: int, original: int) -> None:
        """Let an image share what becomes of another with the same content."""
        with self.index.change() as db:
            db.execute("UPDATE images SET same_as = ? WHERE number = ?", (original, number))
            db.execute(
                "UPDATE images SET (status, file, bytes, prediction, target, probabilities, "
                "measures, seconds, finished) = (SELECT status, file, bytes, prediction, target, "
                "probabilities, measures, seconds, finished FROM images WHERE number = ?) "
                "WHERE number = ? AND (SELECT status FROM images WHERE number = ?) = 'done'",
                (original, number, original),
            )

    def _fail(self, row: sqlite3.Row, error: str) -> None:
        outcome = {"number": row["number"], "status": "failed", "error": error, "path": row["path"]}
        self.index.record([outcome])
