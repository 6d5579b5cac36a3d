"""A job of `ssplain explain` or `ssplain read` as images of the room: shown, never computed again.

The job may still be running: its index is read anew every few seconds.
"""

import json
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path, PurePath
from threading import Lock
from typing import Any

import torch

from ssplain.desk.checks import complaints
from ssplain.desk.library import Prediction, courses, severity
from ssplain.desk.subject import Subject, layer, load_arrays
from ssplain.errors import SSplainError
from ssplain.explain import METHODS, Explanation
from ssplain.jobs.identity import classes_of_job
from ssplain.jobs.state import open_job
from ssplain.pages.reading import ARRAYS as READING

MOST = 5000  # images of a job that the worklist shows; those that failed come first
FRESH = 3.0  # seconds before the index is read again
# a model that needs more than its name to load cannot be asked by the room
_OWN_DOOR = ("architecture", "mean", "std", "output")


@dataclass(frozen=True)
class Entry:
    """One image of a job, as its index tells.

    Attributes:
        number: in the job's plan.
        title: its file's name.
        status: done, failed or waiting.
        error: why it failed.
        folder: of its result.
        sha256: of its file.
        probabilities: one per class; empty if it is not done.
        target: the explained class; None for eyes that were read.
        measures: all other numbers.
        seconds: that it took.
    """

    number: int
    title: str
    status: str
    error: str
    folder: str
    sha256: str
    probabilities: tuple[float, ...]
    target: int | None
    measures: Mapping[str, Any]
    seconds: float | None


class Job:
    """A job's images and results.

    Args:
        folder: of the job.

    Raises:
        SSplainError: if there is no job of images in it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = (folder if folder.is_dir() else folder.parent).resolve()
        with open_job(folder) as index:
            task = index.about("task") or {}
            self.classes = classes_of_job(index)
        self.kind = str(task.get("task", ""))
        if self.kind not in {"explain", "read"}:
            raise SSplainError(
                f"The job in {folder} is not one of `ssplain explain` or `ssplain read`; give the "
                "--out of such a job."
            )
        fields = task.get("fields", {})
        self.model = str(fields.get("model", ""))
        plain = fields.get("output_kind", "auto") == "auto"
        self.loadable = plain and not any(fields.get(name) is not None for name in _OWN_DOOR)
        self._entries: dict[int, Entry] = {}
        self._read_at = -FRESH
        self._total = 0
        self._results: OrderedDict[int, tuple[Subject, dict[str, Any], bytes]] = OrderedDict()
        self._lock = Lock()

    def entries(self) -> dict[int, Entry]:
        """Return what the index says, by number: at most `MOST` images, those that failed first."""
        with self._lock:
            if time.monotonic() - self._read_at >= FRESH:
                self._refresh()
            return dict(self._entries)

    def total(self) -> int:
        """How many images the whole job has."""
        self.entries()
        return self._total

    def entry(self, number: int) -> Entry:
        """Return one image.

        Raises:
            SSplainError: if there is no such image.
        """
        found = self.entries().get(number)
        if found is None:
            raise SSplainError("There is no such image here; choose one from the worklist.")
        return found

    def subject(self, number: int) -> Subject:
        """Return an image as the job took it."""
        return self._open(number)[0]

    def result(self, number: int) -> dict[str, Any]:
        """Return its result as the page shows those of its own runs."""
        return self._open(number)[1]

    def map(self, number: int) -> bytes:
        """Return its map as the page reads it."""
        return self._open(number)[2]

    def prediction(self, number: int) -> Prediction:
        """Return what the model said of it."""
        return Prediction(**self._open(number)[1]["prediction"])

    def file(self, number: int, name: str) -> bytes:
        """Return a file of its result."""
        try:
            return (self._home(self.entry(number)) / name).read_bytes()
        except OSError as error:
            raise SSplainError(f"This image has no {name} in the job.") from error

    def files(self, number: int) -> set[str]:
        """Return the names of the files of its result."""
        home = self._home(self.entry(number))
        return {path.name for path in home.iterdir()} if home.is_dir() else set()

    def names(self, count: int) -> list[str]:
        """Return the names of the classes."""
        return list(self.classes) or [str(i) for i in range(count)]

    def _refresh(self) -> None:
        with open_job(self.folder) as index:
            order = "status = 'failed'", "status != 'failed'"
            rows = [row for where in order for row in index.rows(where, limit=MOST)][:MOST]
            self._total = sum(index.counts().values())
            self._entries = {row["number"]: _entry(row) for row in sorted(rows, key=_number)}
        self._read_at = time.monotonic()

    def _home(self, entry: Entry) -> Path:
        home = (self.root / entry.folder).resolve()
        if not entry.folder or not home.is_relative_to(self.root):
            raise SSplainError(f"{entry.title} has no result in this job.")
        return home

    def _open(self, number: int) -> tuple[Subject, dict[str, Any], bytes]:
        with self._lock:
            if number in self._results:
                self._results.move_to_end(number)
                return self._results[number]
        entry = self.entry(number)
        if entry.status == "failed":
            raise SSplainError(f"{entry.title} was refused. {entry.error}")
        if entry.status != "done":
            raise SSplainError(f"{entry.title} has no result yet; the job has not reached it.")
        home = self._home(entry)
        try:
            made = (self._eye if self.kind == "read" else self._image)(entry, home)
        except (SSplainError, OSError, ValueError, KeyError) as error:
            # the page need not know where the job is
            raise SSplainError(
                f"The result of {entry.title} is missing or damaged; run its job again."
            ) from error
        with self._lock:
            self._results[number] = made
            while len(self._results) > 8:
                self._results.popitem(last=False)
        return made

    def _image(self, entry: Entry, home: Path) -> tuple[Subject, dict[str, Any], bytes]:
        found = Explanation.load(home)
        image, support = found.images[0], found.support[0]
        subject = Subject(image, image, support[0])
        probabilities = tuple(found.probabilities[0].tolist())
        said = Prediction(probabilities, None, None, severity(self.classes, probabilities), "")
        measures = entry.measures
        target = int(found.target[0])
        parts = (probabilities[target], *(measures.get(f"probability_{x}_mask") for x in _PARTS))
        name = str(found.settings.get("explainer", "ssplain-0"))
        one = self._map(entry, name, found.scores[0], support, parts)
        one |= {"settings": dict(found.settings), "history": courses(found.history)}
        planes = layer(subject, found.scores[0], found.mask[0] > 0)
        return subject, self._shown(entry, subject, said, target, one), planes

    def _eye(self, entry: Entry, home: Path) -> tuple[Subject, dict[str, Any], bytes]:
        stored = load_arrays(home / READING)
        reading = json.loads((home / "reading.json").read_text(encoding="utf-8"))
        subject = Subject.of_eye(stored, reading)
        said = Prediction.of_reading(reading)
        scores = torch.from_numpy(stored["scores"])[None]
        kept = torch.from_numpy(stored["mask"])[None] > 0
        one = self._map(entry, "ssplain-ranking", scores, subject.taken > 0, None)
        return (
            subject,
            self._shown(entry, subject, said, said.winner, one),
            layer(subject, scores, kept),
        )

    def _map(
        self,
        entry: Entry,
        name: str,
        scores: torch.Tensor,
        support: torch.Tensor,
        parts: tuple[Any, ...] | None,
    ) -> dict[str, Any]:
        inside = scores[support]
        made: dict[str, Any] = {
            "name": name,
            "title": METHODS[name].title if name in METHODS else name,
            "file": 0,
            "seconds": entry.seconds,
            "low": float(inside.min()),
            "high": float(inside.max()),
        }
        if parts is not None and None not in parts:
            whole, only, without = parts
            made["checks"] = {
                "whole": whole,
                "only": only,
                "without": without,
                "order": None,
                "steady": None,
                "complaints": list(complaints(only, without)),
            }
        return made

    def _shown(
        self,
        entry: Entry,
        subject: Subject,
        said: Prediction,
        target: int,
        one: dict[str, Any],
    ) -> dict[str, Any]:
        return {
            "image": f"job/{entry.number}",
            "title": entry.title,
            "label": None,
            "model": self.model,
            "classes": self.names(len(said.probabilities)),
            "size": list(subject.shown.shape),
            "prediction": asdict(said),
            "target": target,
            "reading": subject.reading,
            "settings": {},
            "explainers": [one["name"]],
            "maps": [one],
        }


_PARTS = ("only", "without")


def _number(row: Any) -> int:  # noqa: ANN401 - sqlite3.Row
    return int(row["number"])


def _entry(row: Any) -> Entry:  # noqa: ANN401 - sqlite3.Row
    """Read a row of the index; the page is told names of files, never where they are."""
    path = str(row["path"])
    page = "" if row["page"] is None else f", image {row['page'] + 1}"
    dicom = PurePath(path).suffix.lower() == ".dcm"  # such names often are patients'
    title = f"DICOM image {row['number']}" if dicom else PurePath(path).name + page
    error = str(row["error"] or "")
    for name in (path, str(row["given"])):
        error = error.replace(name, title) if len(name) > 1 else error
    return Entry(
        number=row["number"],
        title=title,
        status=row["status"],
        error=error,
        folder=row["file"] or "",
        sha256=row["sha256"] or "",
        probabilities=tuple(json.loads(row["probabilities"] or "[]")),
        target=row["target"],
        measures=json.loads(row["measures"] or "{}"),
        seconds=row["seconds"],
    )
