"""One browser, one session, one folder: nobody sees another's images, and nothing stays at the end.

A session is a cookie that cannot be guessed. Its folder is made when something is first kept in it
and deleted when the room closes, when the session has not been used for half a day, or when
newer sessions need its place.
"""

import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from ssplain.desk.queue import Task
from ssplain.errors import SSplainError

COOKIE = "ssplain-room"
_ID = re.compile(r"[0-9a-f]{32}")


@dataclass(eq=False)
class Session:
    """One browser's place.

    Attributes:
        id: the cookie.
        folder: where its images and results are.
        used: when it was last seen.
        titles: what its uploads are called, by their name in the folder.
        eyes: which eye an upload says that it shows, left or right, by the same name.
        tasks: its runs, by their address.
    """

    id: str
    folder: Path
    used: float
    titles: dict[str, str] = field(default_factory=dict)
    eyes: dict[str, str] = field(default_factory=dict)
    tasks: dict[str, Task] = field(default_factory=dict)

    def home(self, kind: str) -> Path:
        """Return the folder of one kind of things, made if need be."""
        place = self.folder / kind
        place.mkdir(parents=True, exist_ok=True)
        return place

    def find(self, kind: str, name: str) -> Path:
        """Return what was kept under a name of ours, never anything else.

        Raises:
            SSplainError: if this session keeps no such thing.
        """
        place = self.folder / kind / name
        if not _ID.fullmatch(name) or not place.exists():
            raise SSplainError("This is not here: it was deleted, or belongs to another browser.")
        return place


class Sessions:
    """All sessions of a room.

    Args:
        most: how many there can be; the one unused longest makes room.
        rest: seconds after which an unused one is deleted.
        clock: tells the time.

    >>> sessions = Sessions()
    >>> one = sessions.get(None)
    >>> sessions.get(one.id) is one, sessions.get("../..") is one
    (True, False)
    >>> sessions.close()
    """

    def __init__(
        self, most: int = 200, rest: float = 43_200, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="ssplain-room-"))
        self.most, self.rest, self.clock = most, rest, clock
        self._known: dict[str, Session] = {}
        self._lock = Lock()

    def find(self, cookie: str | None) -> Session | None:
        """Return the session of a cookie, if there is one."""
        with self._lock:
            found = self._known.get(cookie or "")
            if found is not None:
                found.used = self.clock()
            return found

    def get(self, cookie: str | None) -> Session:
        """Return the session of a cookie, or a new one."""
        found = self.find(cookie)
        if found is not None:
            return found
        with self._lock:
            now = self.clock()
            self._make_room(now)
            name = secrets.token_hex(16)
            self._known[name] = Session(name, self.root / name, now)
            return self._known[name]

    def close(self) -> None:
        """Delete everything."""
        with self._lock:
            self._known.clear()
            shutil.rmtree(self.root, ignore_errors=True)

    def _make_room(self, now: float) -> None:
        # those that keep nothing go first: a flood of visitors does not drive a reader out
        oldest = sorted(self._known.values(), key=lambda one: (one.folder.exists(), one.used))
        crowded = oldest[: max(0, len(oldest) - self.most + 1)]
        for one in {*crowded, *(s for s in oldest if now - s.used > self.rest)}:
            del self._known[one.id]
            shutil.rmtree(one.folder, ignore_errors=True)
