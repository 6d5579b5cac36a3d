"""What the reading room does, without the web: images, models, runs, a worklist and grades."""

from ssplain.desk.room import Room

__all__ = ["Room"]
