"""What a room holds: models, images, users, one worker, a worklist and the readers' grades."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import BoundedSemaphore

from ssplain.app.eye import Tracer
from ssplain.app.grades import Grades
from ssplain.app.library import Library
from ssplain.app.queue import Queue
from ssplain.app.session import Sessions
from ssplain.app.sources import Sources
from ssplain.app.worklist import Worklist
from ssplain.models.card import BUNDLED

GRADES = Path("ssplain-grades.sqlite")  # in the folder where the room was started


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
        tracer: the vessels of images.
        places: how many may ask for something quick at once.
    """

    library: Library
    sources: Sources
    worklist: Worklist
    grades: Grades
    queue: Queue
    sessions: Sessions = field(default_factory=Sessions)
    tracer: Tracer = field(default_factory=Tracer)
    places: BoundedSemaphore = field(default_factory=lambda: BoundedSemaphore(8))

    @classmethod
    def furnish(
        cls, models: Sequence[str] = (), images: Path | None = None, grades: Path = GRADES
    ) -> "Room":
        """Make a room with these models (all bundled ones if none is named), images and grades."""
        library, sources = Library(models or BUNDLED), Sources(images)
        work = Worklist(library, sources)
        return cls(library, sources, work, Grades(grades), Queue(idle=work.step))

    def close(self) -> None:
        """Stop the work and delete what the sessions kept."""
        self.queue.close()
        self.sessions.close()
