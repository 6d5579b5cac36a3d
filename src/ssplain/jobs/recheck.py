"""Before a job goes on: is what the index says still true of the files?"""

import sqlite3
from contextlib import suppress

from ssplain.files import hash_file
from ssplain.jobs.index import Index
from ssplain.jobs.survey import stamp_of
from ssplain.work.place import Place

_RESET = (
    "status = 'waiting', same_as = NULL, error = NULL, bytes = NULL, prediction = NULL, "
    "target = NULL, probabilities = NULL, measures = NULL, seconds = NULL, finished = NULL"
)


def recheck(index: Index, place: Place) -> int:
    """Let those images wait again whose file has changed, or whose result is not there as recorded.

    A done image waits again if its content is another one, or if the folder of its result has not
    the recorded size. A failed one waits again if anything about its file has changed, permissions
    included: it may have been put right.

    Returns:
        How many wait again.
    """
    again = [
        row["number"]
        for row in index.rows("status != 'waiting'")
        if (_changed(row) if row["status"] == "done" else stamp_of(row["path"]) != row["stamp"])
        or (row["status"] == "done" and not place.has(row["file"], row["bytes"]))
    ]
    put_back(index, again)
    return len(again)


def retry_failed(index: Index) -> int:
    """Let all failed images wait again; return how many there are."""
    again = [row["number"] for row in index.rows("status = 'failed'")]
    put_back(index, again)
    return len(again)


def put_back(index: Index, numbers: list[int]) -> None:
    """Let images wait again, and those that share their content."""
    with index.change() as db:
        for number in numbers:
            # one that shared another's folder gets its own
            db.execute(
                f"UPDATE images SET file = CASE WHEN same_as IS NULL THEN file END, {_RESET} "  # noqa: S608
                "WHERE number = ?1 OR same_as = ?1",
                (number,),
            )


def _changed(row: sqlite3.Row) -> bool:
    """Say whether a done image's file has another content than it had; a missing one has not."""
    path, stamp, sha256 = row["path"], row["stamp"], row["sha256"]
    now = stamp_of(path)
    if not now or now.split()[:2] == (stamp or "").split()[:2]:
        return False
    with suppress(OSError):
        return bool(hash_file(path) != sha256)
    return False
