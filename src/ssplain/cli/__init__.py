"""The command line: one thin file per command."""

from ssplain.cli.app import main

__all__ = ["main"]
