"""The index of a job: one SQLite file that knows what became of each image.

Only the driver writes to it, so there is one writer. What it says is always true of the files: a
result is written whole first and recorded then, in one transaction per batch.
"""

import fcntl
import json
import os
import sqlite3
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Self

from ssplain.errors import SSplainError
from ssplain.work.task import Item

NAME = "index.sqlite"
STATES = ("done", "failed", "waiting")
# file systems on which SQLite's locks or its shared memory cannot be trusted
_REMOTE = (
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "lustre", "gpfs", "beegfs", "glusterfs", "ceph", "afs",
    "9p", "fuse.sshfs", "fuse.glusterfs", "fuse.s3fs", "fuse.gcsfuse", "fuse.rclone",
)  # fmt: skip
_SCHEMA = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS images (
    number INTEGER PRIMARY KEY,
    path TEXT NOT NULL,          -- absolute
    given TEXT NOT NULL,         -- as the user wrote it
    page INTEGER,                -- of a file that holds several images
    id TEXT,                     -- the user's own name for it
    wanted TEXT,                 -- the target that the user named
    stamp TEXT,                  -- size and times of the file when it was looked at
    sha256 TEXT,
    shape TEXT,                  -- what images that go together share
    same_as INTEGER,             -- the image of the same content that is worked on instead
    status TEXT NOT NULL DEFAULT 'waiting',
    file TEXT,                   -- folder of the result, below the job's
    bytes INTEGER,
    prediction INTEGER,
    target INTEGER,
    probabilities TEXT,
    measures TEXT,
    error TEXT,
    tries INTEGER NOT NULL DEFAULT 0,
    seconds REAL,
    finished TEXT
);
CREATE INDEX IF NOT EXISTS by_path ON images (path);
CREATE INDEX IF NOT EXISTS by_content ON images (sha256);
CREATE INDEX IF NOT EXISTS by_status ON images (status, number);
CREATE INDEX IF NOT EXISTS by_original ON images (same_as) WHERE same_as IS NOT NULL;
"""


class Index:
    """The images of a job and what became of them.

    Args:
        path: the file; made if it is missing.
        write: whether to write; a job has one writer, a second one is refused.

    >>> import tempfile
    >>> with Index(Path(tempfile.mkdtemp()) / "index.sqlite") as index:
    ...     index.add([("/a.png", "a.png", None, None), ("/b.png", "b.png", None, "3")])
    ...     index.counts()
    2
    {'done': 0, 'failed': 0, 'waiting': 2}
    """

    def __init__(self, path: Path, *, write: bool = True) -> None:
        self.path, self._lock = path, None
        if write:
            require_local(path)
            self._lock = _only_writer(path)
        try:
            self._open(write=write)
        except sqlite3.Error as error:
            self.close()
            raise SSplainError(_say(path, error)) from error

    def _open(self, *, write: bool) -> None:
        mode = "rwc" if write else "ro"
        self.db = sqlite3.connect(
            f"{self.path.absolute().as_uri()}?mode={mode}",
            uri=True,
            timeout=30,
            isolation_level=None,
        )
        self.db.row_factory = sqlite3.Row
        self.db.text_factory = os.fsdecode  # names may hold bytes that are no text
        tables = {row[0] for row in self.db.execute("SELECT name FROM sqlite_master")}
        if tables and not {"about", "images"} <= tables:
            raise sqlite3.DatabaseError("it is of another program")
        if write:
            self.db.execute("PRAGMA journal_mode=WAL")
            self.db.execute("PRAGMA synchronous=NORMAL")
            self.db.executescript(_SCHEMA)
        self.db.execute("SELECT count(*) FROM about").fetchone()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; what is recorded stays."""
        if hasattr(self, "db"):
            if self._lock is not None:
                with suppress(sqlite3.Error):  # somebody reads: then the log stays beside it
                    self.db.execute("PRAGMA busy_timeout=0")
                    self.db.execute("PRAGMA journal_mode=DELETE")
            self.db.close()
        if self._lock is not None:  # after SQLite's: closing any handle would drop its locks too
            self._lock.close()
            self._lock = None

    @contextmanager
    def change(self) -> Iterator[sqlite3.Connection]:
        """Make several changes as one: all are recorded, or none; inside another, part of it."""
        if self.db.in_transaction:
            yield self.db
            return
        try:
            self.db.execute("BEGIN IMMEDIATE")
            yield self.db
            self.db.execute("COMMIT")
        except sqlite3.Error as error:
            raise SSplainError(_say(self.path, error)) from error
        finally:
            self._undo()

    def _undo(self) -> None:
        if self.db.in_transaction:
            with suppress(sqlite3.Error):  # a full disk has undone it already
                self.db.execute("ROLLBACK")

    def about(self, name: str) -> Any:  # noqa: ANN401 - whatever JSON holds
        """Return a remark on the whole job, None if there is none."""
        row = self.db.execute("SELECT value FROM about WHERE name = ?", (name,)).fetchone()
        return None if row is None else json.loads(row[0])

    def note(self, **remarks: object) -> None:
        """Keep remarks on the whole job, as JSON."""
        with self.change() as db:
            db.executemany(
                "INSERT OR REPLACE INTO about VALUES (?, ?)",
                [(name, json.dumps(value, sort_keys=True)) for name, value in remarks.items()],
            )

    def add(self, entries: Iterable[tuple[str, str, str | None, str | None]]) -> int:
        """Plan images: path, path as given, the user's id and target; known ones are passed over.

        Returns:
            How many are new.
        """
        sql = """INSERT INTO images (path, given, id, wanted)
            SELECT CAST(?1 AS TEXT), CAST(?2 AS TEXT), ?3, ?4 WHERE NOT EXISTS
            (SELECT 1 FROM images WHERE path = CAST(?1 AS TEXT) AND id IS ?3 AND wanted IS ?4)"""
        coded = ((os.fsencode(path), os.fsencode(given), *more) for path, given, *more in entries)
        with self.change() as db:
            before = db.total_changes
            db.executemany(sql, coded)
            return db.total_changes - before

    def counts(self) -> dict[str, int]:
        """Return how many images are done, failed and waiting."""
        rows = self.db.execute("SELECT status, count(*) FROM images GROUP BY status")
        return dict.fromkeys(STATES, 0) | {row[0]: row[1] for row in rows}

    def rows(
        self, where: str = "1", values: Sequence[object] = (), limit: int = -1
    ) -> Iterator[sqlite3.Row]:
        """Yield images in the plan's order, all or those of which a condition holds."""
        sql = f"SELECT * FROM images WHERE {where} ORDER BY number LIMIT {limit:d}"  # noqa: S608
        yield from self.db.execute(sql, values)

    def original(self, sha256: str, page: int | None, wanted: str | None) -> int | None:
        """Return the first image of this content and target, None if there is none."""
        row = self.db.execute(
            "SELECT number FROM images WHERE sha256 = ? AND page IS ? AND wanted IS ? AND "
            "same_as IS NULL AND status != 'failed' ORDER BY number LIMIT 1",
            (sha256, page, wanted),
        ).fetchone()
        return None if row is None else int(row[0])

    def record(self, outcomes: Sequence[Mapping[str, Any]]) -> None:
        """Record what became of images, and of those that have the same content."""
        # the plus keeps SQLite from looking through all that wait, once for each image
        sql = """UPDATE images SET status = :status, bytes = :bytes, prediction = :prediction,
            target = :target, probabilities = :probabilities, measures = :measures,
            error = replace(CAST(:error AS TEXT), CAST(:path AS TEXT), path),
            tries = tries + 1, seconds = :seconds,
            finished = :finished, file = :file
            WHERE (number = :number OR same_as = :number) AND +status = 'waiting'"""
        with self.change() as db:
            db.executemany(sql, [_coded(one) for one in outcomes])

    def copy(self) -> bytes:
        """Return the whole index as a file of its own."""
        with tempfile.TemporaryDirectory() as home:
            path = Path(home, NAME)
            self.db.execute("VACUUM INTO ?", (str(path),))
            return path.read_bytes()


_EMPTY = dict.fromkeys(
    ("bytes", "prediction", "target", "probabilities", "measures", "error", "seconds", "file"),
    None,
) | {"path": ""}


def _coded(outcome: Mapping[str, Any]) -> dict[str, Any]:
    """Return an outcome as the index takes it: complete, and names as bytes."""
    whole = _EMPTY | {"finished": now()} | dict(outcome)
    names = {name: whole[name] for name in ("path", "error")}
    return whole | {n: v if v is None else os.fsencode(v) for n, v in names.items()}


def item_of(row: sqlite3.Row, sha256: str | None = None, page: int | None = None) -> Item:
    """Return an image of the index as a worker needs it.

    Args:
        row: of the index.
        sha256: of the file's content, if it is known better than the index knows it.
        page: likewise.
    """
    return Item(
        row["number"],
        row["path"],
        row["given"],
        sha256 or row["sha256"] or "",
        row["page"] if page is None else page,
        row["wanted"],
        row["file"] or "",
    )


def now() -> str:
    """Return the time as the index holds it, in UTC.

    >>> now()[10], now()[-1]
    ('T', 'Z')
    """
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def require_local(path: Path, mounts: Path = Path("/proc/self/mounts")) -> None:
    """Complain if a file would be on a network file system, where SQLite is not safe."""
    try:
        lines = [line.split() for line in mounts.read_text().splitlines()]
    except OSError:
        return  # not Linux: nothing is known
    there = path.absolute()
    while not there.exists() and there != there.parent:
        there = there.parent
    real = there.resolve()
    found = [
        (len(at), kind)
        for _, at, kind, *_ in lines
        if real.is_relative_to(at.replace("\\040", " "))
    ]
    kind = max(found, default=(0, ""))[1]
    if kind in _REMOTE:
        raise SSplainError(
            f"{path} is on a network file system ({kind}), where the job's index is not safe; keep "
            "the index on a disk of this machine with --index FILE: the results stay where they "
            "are, and a copy of the index is put next to them."
        )


def _only_writer(path: Path) -> IO[bytes]:
    """Hold a job's index for this process; the system lets go of it when the process ends."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = path.open("ab")
    except OSError as error:
        raise SSplainError(
            f"{path} cannot be written ({error.strerror}); give another place, or free some room."
        ) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        handle.close()
        raise SSplainError(
            f"Another run works on {path.parent} (its index is in use); wait for it, or stop it "
            "first."
        ) from error
    return handle


def _say(path: Path, error: sqlite3.Error) -> str:
    if "full" in str(error) or "I/O" in str(error):
        return (
            f"{path} cannot be written ({error}); free some room and give the same command again: "
            "nothing that was recorded is lost."
        )
    return f"{path} is not a usable index of a job ({error}); give the folder of `ssplain explain`."
