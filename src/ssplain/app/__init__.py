"""The reading room: a web page to look at images, decisions and maps, on this machine."""

from ssplain.app.room import Room
from ssplain.app.server import create

__all__ = ["Room", "create"]
