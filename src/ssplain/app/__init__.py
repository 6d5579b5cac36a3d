"""The reading room as a web application: addresses, guard and page, on this machine."""

from ssplain.app.server import create

__all__ = ["create"]
