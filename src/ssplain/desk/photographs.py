"""Photographs of eyes: read once by `ssplain.read`, kept, and shown from then on.

Reading takes a while (vessels, disc, grade, how firm it is, explanation), so it is the worker's;
what came out is kept where the image is: in the session's folder for an upload, else in the room's.
"""

import json
import time
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import torch
from torch import Tensor

from ssplain.data.kind import is_photograph
from ssplain.desk.library import Library, Map, courses
from ssplain.desk.session import Session
from ssplain.desk.sources import Picture
from ssplain.desk.subject import Subject, load_arrays
from ssplain.errors import SSplainError
from ssplain.files import hash_bytes, npz_bytes, write_whole
from ssplain.metrics import rank_pixels
from ssplain.pages.reading import arrays
from ssplain.progress import Progress
from ssplain.reading.eye import EXPLAINER, Reader
from ssplain.reading.opinion import GRADES
from ssplain.reading.table import as_json

MOST = 200  # kept in one place; the oldest make room


@dataclass(frozen=True, eq=False)
class Eye:
    """A photograph that was read, and the map that came with it."""

    subject: Subject
    map: Map


class Photographs:
    """Photographs that were read.

    Args:
        root: folder for those that all sessions share.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._known: OrderedDict[Path, Eye] = OrderedDict()
        self._lock = Lock()

    @staticmethod
    def is_one(library: Library, source: str, image: Tensor) -> bool:
        """Whether an image is a photograph that must be read before a model can take it."""
        about = library.about(source)
        grades = tuple(about["classes"]) == tuple(GRADES) and about["channels"] == 1
        return grades and is_photograph(image)

    def find(self, picture: Picture, source: str, session: Session | None) -> Eye | None:
        """Return a photograph as it was read; None if that is still to be done."""
        path = self._path(picture, source, session)
        with self._lock:
            if path in self._known:
                self._known.move_to_end(path)
                return self._known[path]
        if not path.with_suffix(".json").is_file():
            return None
        about = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        stored = load_arrays(path)
        return self._keep(path, _eye(stored, about))

    def read(
        self,
        picture: Picture,
        source: str,
        session: Session | None,
        progress: Progress | None = None,
    ) -> Eye:
        """Read a photograph, or return what an earlier reading found.

        Raises:
            SSplainError: if it cannot be read; the sentence says why.
        """
        known = self.find(picture, source, session)
        if known is not None:
            return known
        started = time.perf_counter()
        try:
            reading = Reader.of(source).read(picture.image, eye=picture.eye, progress=progress)
        except SSplainError as error:
            raise SSplainError(f"{picture.title} was refused. {error}") from error
        about = {
            "reading": as_json(reading),
            "seconds": time.perf_counter() - started,
            "settings": dict(reading.explanation.settings),
            "history": courses(reading.explanation.history),
        }
        found = arrays(reading)
        path = self._path(picture, source, session)
        path.parent.mkdir(parents=True, exist_ok=True)
        oldest = sorted(path.parent.glob("*.npz"), key=lambda one: one.stat().st_mtime)
        for old in oldest[: max(0, len(oldest) - MOST + 1)]:
            old.with_suffix(".json").unlink(missing_ok=True)
            old.unlink(missing_ok=True)
        write_whole(path, npz_bytes(found))
        write_whole(path.with_suffix(".json"), json.dumps(about).encode())  # last: all is there
        return self._keep(path, _eye(found, about))

    def _path(self, picture: Picture, source: str, session: Session | None) -> Path:
        own = session is not None and picture.name.startswith("upload/")
        home = session.folder if own and session is not None else self.root
        return home / "eyes" / f"{hash_bytes(f'{picture.name} {source}')[:32]}.npz"

    def _keep(self, path: Path, eye: Eye) -> Eye:
        with self._lock:
            self._known[path] = eye
            while len(self._known) > 8:
                self._known.popitem(last=False)
        return eye


def _eye(stored: dict[str, Any], about: dict[str, Any]) -> Eye:
    subject = Subject.of_eye(stored, about["reading"])
    scores = torch.from_numpy(stored["scores"])[None]
    inside = subject.taken > 0
    rank = rank_pixels(scores[None], inside[None]).rank.reshape(scores.shape)
    kept = torch.from_numpy(stored["mask"])[None] > 0
    found = Map(
        EXPLAINER, scores, kept, rank, about["seconds"], about["settings"], about["history"]
    )
    return Eye(subject, found)
