"""The worklist: every image of a set with what the model says, filled while nobody else needs it.

Rows are made one at a time by the room's worker when its line is empty, so a folder of thousands
of images never keeps a user waiting.
"""

from dataclasses import dataclass, replace
from threading import Lock
from typing import Literal

from ssplain.app.library import Library
from ssplain.app.sources import Sources, suggested
from ssplain.errors import SSplainError
from ssplain.models.fingerprint import hash_tensor

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

    >>> from ssplain.app.sources import Sources
    >>> work = Worklist(Library(["lenet5-mnist"]), Sources())
    >>> len(work.rows("mnist")), work.step(), work.rows("mnist")[0].decision
    (500, True, '7')
    """

    def __init__(self, library: Library, sources: Sources) -> None:
        self.library, self.sources = library, sources
        self._rows: dict[str, list[Row]] = {}
        self._lock = Lock()

    def rows(self, source: str) -> list[Row]:
        """What is known of a set so far; asking for it puts it on the list of things to do."""
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
        """Return the row of an image, made at once if need be."""
        source, _, at = image.partition("/")
        rows = self.rows(source)
        if not at.isdecimal() or int(at) >= len(rows):
            raise SSplainError("There is no such image here; choose one from the worklist.")
        index = int(at)
        return rows[index] if rows[index].state != "waiting" else self._make(source, index)

    def step(self) -> bool:
        """Make the next row; return whether there was one to make."""
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
        self._make(*found)
        return True

    def _make(self, source: str, index: int) -> Row:
        with self._lock:
            row = self._rows[source][index]
        try:
            made = self._read(row)
        except SSplainError as error:
            made = replace(row, state="refused", message=str(error))
        with self._lock:
            self._rows[source][index] = made
        return made

    def _read(self, row: Row) -> Row:
        picture = self.sources.picture(row.image, None)
        key = hash_tensor(picture.image)
        model = suggested(picture, self.library.sources)
        prediction = self.library.predict(model, self.library.fit(model, picture.image))
        p = prediction.probabilities
        classes = self.library.about(model)["classes"] or [str(i) for i in range(len(p))]
        winner = max(range(len(p)), key=p.__getitem__)
        return replace(
            row,
            state="read",
            key=key,
            model=model,
            classes=tuple(classes),
            decision=classes[winner],
            probability=p[winner],
            severity=prediction.severity,
            uncertain=p[winner] < LIKELY or prediction.stays < 1,
            label=None if picture.label is None else classes[picture.label],
        )
