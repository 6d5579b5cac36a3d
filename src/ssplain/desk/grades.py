"""What readers think of the images: their own grades and notes, in one local SQLite file.

A grade is never changed: giving another adds a line, and the last line counts. So a study can tell
what a reader thought before and after seeing the model's decision. An image is known by the hash of
its pixels, so a moved or renamed file keeps its grades.
"""

import csv
import io
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path

from ssplain.errors import SSplainError


@dataclass(frozen=True)
class Grade:
    """One reader's opinion of one image.

    Attributes:
        image: hash of its pixels.
        title: what it was called.
        reader: who.
        grade: a class of the model, or "cannot be graded".
        note: in the reader's words.
        blind: whether it was given before decision and map were shown.
        model: whose decision was beside it.
        decision: what that model said.
        given: when, in UTC.
    """

    image: str
    title: str
    reader: str
    grade: str
    note: str
    blind: bool
    model: str
    decision: str
    given: str = ""


COLUMNS = tuple(field.name for field in fields(Grade))


class Grades:
    """All grades of a file, which is made when the first is given.

    Args:
        path: of the file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as home:
    ...     grades = Grades(Path(home) / "grades.sqlite")
    ...     one = Grade("ab12", "Eye 1", "ada", "Plus", "", True, "googlenet-rop", "Normal")
    ...     grades.give(one)
    ...     grades.last("ada")["ab12"].grade
    'Plus'
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def give(self, grade: Grade) -> None:
        """Add a grade; it counts from now on."""
        values = asdict(grade) | {"given": datetime.now(UTC).isoformat(timespec="seconds")}
        names = ", ".join(COLUMNS)
        places = ", ".join(f":{name}" for name in COLUMNS)
        with self._open() as base:
            base.execute(f"INSERT INTO grades ({names}) VALUES ({places})", values)  # noqa: S608 - names are ours

    def all(self, reader: str) -> list[Grade]:
        """Every grade of a reader, in the order in which they were given."""
        if not self.path.exists():
            return []
        names = ", ".join(COLUMNS)
        with self._open() as base:
            rows = base.execute(
                f"SELECT {names} FROM grades WHERE reader = ? ORDER BY number",  # noqa: S608
                (reader,),
            ).fetchall()
        found = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
        return [Grade(**row | {"blind": bool(row["blind"])}) for row in found]

    def last(self, reader: str) -> dict[str, Grade]:
        """Return the grades of a reader that count, by image."""
        return {grade.image: grade for grade in self.all(reader)}

    def table(self, reader: str) -> str:
        """Every grade of a reader as CSV."""
        text = io.StringIO()
        writer = csv.DictWriter(text, fieldnames=COLUMNS)
        writer.writeheader()
        for grade in self.all(reader):
            row = asdict(grade) | {"blind": "yes" if grade.blind else "no"}
            writer.writerow({name: safe_cell(str(value)) for name, value in row.items()})
        return text.getvalue()

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """Open the file for one transaction; whoever comes at the same time waits for it."""
        try:
            with closing(sqlite3.connect(self.path, timeout=20)) as base, base:
                base.execute(
                    "CREATE TABLE IF NOT EXISTS grades (number INTEGER PRIMARY KEY, image TEXT, "
                    "title TEXT, reader TEXT, grade TEXT, note TEXT, blind INTEGER, model TEXT, "
                    "decision TEXT, given TEXT)"
                )
                yield base
        except sqlite3.Error as error:
            raise SSplainError(
                f"The grades cannot be kept in {self.path.name} ({error}); start the room with "
                "another --grades file."
            ) from error


def safe_cell(text: str) -> str:
    """Return text that a spreadsheet takes for text, not for a formula.

    >>> safe_cell("=1+1"), safe_cell("eye.png")
    ("'=1+1", 'eye.png')
    """
    return f"'{text}" if text[:1] in {"=", "+", "-", "@", "\t", "\r"} else text
