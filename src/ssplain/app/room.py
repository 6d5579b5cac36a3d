"""What a room holds: models, images, users, and one worker."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import BoundedSemaphore

from ssplain.app.eye import Tracer
from ssplain.app.library import Library
from ssplain.app.queue import Queue
from ssplain.app.session import Sessions
from ssplain.app.sources import Sources
from ssplain.models.card import BUNDLED


@dataclass(eq=False)
class Room:
    """Everything that a room has.

    Attributes:
        library: its models.
        sources: its images.
        sessions: its users.
        queue: its one worker.
        tracer: the vessels of images.
        places: how many may ask for something quick at once.
    """

    library: Library
    sources: Sources
    sessions: Sessions = field(default_factory=Sessions)
    queue: Queue = field(default_factory=Queue)
    tracer: Tracer = field(default_factory=Tracer)
    places: BoundedSemaphore = field(default_factory=lambda: BoundedSemaphore(8))

    @classmethod
    def furnish(cls, models: Sequence[str] = (), images: Path | None = None) -> "Room":
        """Make a room with these models (all bundled ones if none is named) and images."""
        return cls(Library(models or BUNDLED), Sources(images))

    def close(self) -> None:
        """Stop the work and delete what the sessions kept."""
        self.queue.close()
        self.sessions.close()
