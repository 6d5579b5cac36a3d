"""The reading room: a web page to look at images, decisions and maps, on this machine."""

from ssplain.app.server import Room, create

__all__ = ["Room", "create"]
