"""What a room holds: models, images, users, one worker, a worklist and the readers' grades."""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import BoundedSemaphore

from ssplain.desk.eye import Tracer
from ssplain.desk.grades import Grades
from ssplain.desk.job import Job
from ssplain.desk.library import Library, Map, Prediction
from ssplain.desk.photographs import Photographs
from ssplain.desk.queue import Queue
from ssplain.desk.session import Session, Sessions
from ssplain.desk.sources import Picture, Sources, suggested
from ssplain.desk.subject import Subject
from ssplain.desk.worklist import Worklist
from ssplain.models.card import BUNDLED
from ssplain.progress import Progress

MOMENT = 1.0  # seconds after a question in which the worklist does not go on
GRADES = Path("ssplain-grades.sqlite")  # in the folder where the room was started


@dataclass(frozen=True, eq=False)
class Looked:
    """An image that somebody looks at.

    Attributes:
        picture: as it came.
        model: whose decision is wanted.
        subject: as it is shown and taken; None for a photograph that is still to be read.
        maps: that are there already, by the explainer's name.
    """

    picture: Picture
    model: str
    subject: Subject | None
    maps: Mapping[str, Map] = field(default_factory=dict)


@dataclass(eq=False)
class Room:
    """Everything that a room has.

    Attributes:
        library: its models.
        sources: its images.
        worklist: what its models say of its images.
        grades: what its readers say of them.
        queue: its one worker.
        sessions: its users.
        photographs: those that were read.
        tracer: the vessels of images.
        places: how many may ask for something quick at once.
    """

    library: Library
    sources: Sources
    worklist: Worklist
    grades: Grades
    queue: Queue
    sessions: Sessions
    photographs: Photographs
    tracer: Tracer = field(default_factory=Tracer)
    places: BoundedSemaphore = field(default_factory=lambda: BoundedSemaphore(8))
    _asked: float = field(default=-math.inf, init=False)
    _expects: bool = field(default=False, init=False)

    @classmethod
    def furnish(
        cls,
        models: Sequence[str] = (),
        images: Path | None = None,
        grades: Path = GRADES,
        job: Path | None = None,
    ) -> "Room":
        """Make a room.

        Args:
            models: to offer; the bundled ones if none is named, and that of the job.
            images: folder of images.
            grades: file of the readers' grades.
            job: folder of a job.
        """
        done = None if job is None else Job(job)
        known = [done.model] if done is not None and done.loadable and not models else []
        library = Library(models or (*known, *BUNDLED))
        sources, sessions = Sources(images, done), Sessions()
        photographs = Photographs(sessions.root)
        work = Worklist(library, sources, photographs)
        queue = Queue()
        work.busy = queue.waiting
        room = cls(library, sources, work, Grades(grades), queue, sessions, photographs)
        work.attended = room.attended
        queue.idle = room._rest
        return room

    def expect(self) -> None:
        """Somebody will come: the models are made ready, one after the other."""
        self._expects = True
        self.queue.wake()

    def _rest(self) -> bool:
        """Do what can be done while nobody waits; return whether there was anything."""
        return (self._expects and self.library.prepare()) or self.worklist.step()

    def attend(self) -> None:
        """Somebody wants an answer at once: what is not urgent holds back for a moment."""
        self._asked = time.monotonic()

    def attended(self) -> bool:
        """Whether somebody wanted an answer a moment ago."""
        return time.monotonic() - self._asked < MOMENT

    def look_at(self, session: Session, image: str, model: str = "") -> Looked:
        """Return what is known of an image, without long work."""
        picture = self.sources.picture(image, session)
        source = model or suggested(picture, self.library.sources)
        if picture.subject is not None and source == picture.model:
            return Looked(picture, source, picture.subject)
        if self.photographs.is_one(self.library, source, picture.image):
            eye = self.photographs.find(picture, source, session)
            return Looked(
                picture,
                source,
                None if eye is None else eye.subject,
                {} if eye is None else {eye.map.name: eye.map},
            )
        return Looked(picture, source, Subject.plain(self.library.fit(source, picture.image)))

    def bring(
        self, session: Session, image: str, model: str, progress: Progress
    ) -> tuple[Subject, Mapping[str, Map]]:
        """Return an image and the maps that are there already; a photograph is read if need be."""
        looked = self.look_at(session, image, model)
        if looked.subject is not None:
            return looked.subject, looked.maps
        eye = self.photographs.read(looked.picture, looked.model, session, progress)
        return eye.subject, {eye.map.name: eye.map}

    def prediction(self, looked: Looked) -> Prediction | None:
        """Return what the model says of an image; None of a photograph that is not read yet."""
        if looked.subject is None:
            return None
        if looked.subject.reading is not None:
            return Prediction.of_reading(looked.subject.reading)
        if looked.subject is looked.picture.subject and self.sources.job is not None:
            return self.sources.job.prediction(int(looked.picture.name.partition("/")[2]))
        return self.library.predict(looked.model, looked.subject.taken)

    def classes(self, looked: Looked, count: int) -> list[str]:
        """Return the names of the classes that an image can belong to."""
        if looked.subject is looked.picture.subject and self.sources.job is not None:
            return self.sources.job.names(count)
        return self.library.about(looked.model)["classes"] or [str(i) for i in range(count)]

    def close(self) -> None:
        """Stop the work and delete what the sessions kept."""
        self.queue.close()
        self.sessions.close()
