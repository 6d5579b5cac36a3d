"""The worklist: every image of a set with what the model says, filled while nobody else needs it.

Rows are made one at a time by the room's worker when its line is empty, so a folder of thousands
of images never keeps a user waiting.
"""

from contextlib import suppress
from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING, Literal

from ssplain.desk.job import Entry, Job
from ssplain.desk.library import Library, Prediction, severity
from ssplain.desk.photographs import Photographs
from ssplain.desk.queue import Stopped
from ssplain.desk.sources import Picture, Sources, suggested
from ssplain.errors import SSplainError
from ssplain.models.fingerprint import hash_tensor

if TYPE_CHECKING:
    from collections.abc import Callable

LIKELY = 0.7  # a decision below this probability is called uncertain
State = Literal["waiting", "read", "refused"]


@dataclass(frozen=True)
class Row:
    """One image of a worklist.

    Attributes:
        image: its name in the room.
        title: what it is called.
        state: waiting, read, or refused.
        message: why it was refused.
        key: hash of its pixels, by which grades know it.
        model: who decided.
        classes: what it can be.
        decision: the class with the highest probability.
        probability: of that class.
        severity: 1 to 9 for models that grade eyes.
        uncertain: whether the decision is weak or changes under small changes of the image.
        label: the true class, if known.
    """

    image: str
    title: str
    state: State = "waiting"
    message: str = ""
    key: str = ""
    model: str = ""
    classes: tuple[str, ...] = ()
    decision: str = ""
    probability: float | None = None
    severity: float | None = None
    uncertain: bool = False
    label: str | None = None


class Worklist:
    """Rows of every set of a room, each made once.

    Args:
        library: models.
        sources: images.
        photographs: those that were read; without, a photograph is refused.

    >>> from ssplain.desk.sources import Sources
    >>> work = Worklist(Library(["lenet5-mnist"]), Sources())
    >>> len(work.rows("mnist")), work.step(), work.rows("mnist")[0].decision
    (500, True, '7')
    """

    def __init__(
        self, library: Library, sources: Sources, photographs: Photographs | None = None
    ) -> None:
        self.library, self.sources, self.photographs = library, sources, photographs
        self.busy: Callable[[], bool] = lambda: False  # whether somebody waits for the worker
        self.attended: Callable[[], bool] = lambda: False  # whether somebody asks meanwhile
        self._rows: dict[str, list[Row]] = {}
        self._lock = Lock()

    def rows(self, source: str) -> list[Row]:
        """Return what is known of a set so far; asking for it puts it on the list of what to do."""
        if source == "job" and self.sources.job is not None:
            job = self.sources.job
            return [_of_job(job, entry) for entry in job.entries().values()]
        counts = self.sources.counts()
        if source not in counts:
            raise SSplainError(f"There is no set {source!r} here; choose one from the first page.")
        with self._lock:
            if source not in self._rows:
                self._rows[source] = [
                    Row(f"{source}/{i}", self.sources.title(source, i))
                    for i in range(counts[source])
                ]
            return list(self._rows[source])

    def row(self, image: str) -> Row:
        """Return the row of an image, made at once if need be.

        A photograph that is still to be read stays so, but its row has the key of its grades.
        """
        source, _, at = image.partition("/")
        if not (at.isascii() and at.isdecimal() and len(at) < 9):
            raise SSplainError("There is no such image here; choose one from the worklist.")
        index = int(at)
        if source == "job" and self.sources.job is not None:
            return _of_job(self.sources.job, self.sources.job.entry(index))
        rows = self.rows(source)
        if index >= len(rows):
            raise SSplainError("There is no such image here; choose one from the worklist.")
        return rows[index] if rows[index].state != "waiting" else self._make(source, index)

    def step(self) -> bool:
        """Make the next row; return whether one was made: not while people ask the models."""
        if self.attended():
            return False
        with self._lock:
            waiting = (
                (source, i)
                for source, rows in self._rows.items()
                for i, row in enumerate(rows)
                if row.state == "waiting"
            )
            found = next(waiting, None)
        if found is None:
            return False
        with suppress(Stopped):  # somebody needs the worker; the photograph is read another time
            self._make(*found, photographs=True)
        return True

    def _make(self, source: str, index: int, *, photographs: bool = False) -> Row:
        with self._lock:
            row = self._rows[source][index]
        try:
            made = self._read(row, photographs=photographs)
        except SSplainError as error:
            made = replace(row, state="refused", message=str(error))
        with self._lock:
            self._rows[source][index] = made
        return made

    def _read(self, row: Row, *, photographs: bool) -> Row:
        picture = self.sources.picture(row.image, None)
        model = suggested(picture, self.library.sources)
        known = replace(
            row,
            key=hash_tensor(picture.image),
            model=model,
            classes=tuple(self.library.about(model)["classes"]),
        )
        if self.photographs and Photographs.is_one(self.library, model, picture.image):
            said = self._of_photograph(self.photographs, picture, model, read=photographs)
        else:
            said = self.library.predict(model, self.library.fit(model, picture.image))
        if said is None:
            return known
        classes = known.classes or tuple(str(i) for i in range(len(said.probabilities)))
        label = None if picture.label is None else classes[picture.label]
        return _decided(replace(known, classes=classes, label=label), said)

    def _of_photograph(
        self, photographs: Photographs, picture: Picture, model: str, *, read: bool
    ) -> Prediction | None:
        """Return what was read in a photograph; None if it is to be read another time."""
        eye = photographs.find(picture, model, None)
        if eye is None and read:
            eye = photographs.read(picture, model, None, self._give_way)
        reading = None if eye is None else eye.subject.reading
        return None if reading is None else Prediction.of_reading(reading)

    def _give_way(self, done: float, total: float, what: str = "", /) -> None:
        """Let somebody who waits have the worker; what is nearly done is finished."""
        del what
        if done < total and self.busy():
            raise Stopped


def _decided(row: Row, said: Prediction) -> Row:
    p = said.probabilities[said.winner]
    return replace(
        row,
        state="read",
        decision=row.classes[said.winner],
        probability=p,
        severity=said.severity,
        uncertain=p < LIKELY or (said.stays is not None and said.stays < 1),
    )


def _of_job(job: Job, entry: Entry) -> Row:
    """Return an image of a job: what the job found, nothing is computed."""
    classes = tuple(job.names(len(entry.probabilities)))
    row = Row(
        f"job/{entry.number}",
        entry.title,
        message=entry.error,
        key=f"file {entry.sha256}" if entry.sha256 else "",
        model=job.model,
        classes=classes,
    )
    if entry.status == "failed":
        return replace(row, state="refused")
    if entry.status != "done":
        return row
    severe = entry.measures.get("severity", severity(classes, entry.probabilities))
    steady = entry.measures.get("steady")
    said = Prediction(entry.probabilities, None, None if steady is None else float(steady), severe)
    return _decided(row, said)
