"""What a process does to files, written down by an audit hook, and whether it stayed at home."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import ssplain

# the event's arguments that hold the path and the open folder below which it is
_READS = {"os.listdir": (0, None), "os.scandir": (0, None)}
_WRITES = {
    "os.mkdir": (0, 2), "os.rmdir": (0, 1), "os.remove": (0, 1), "os.truncate": (0, None),
    "os.link": (1, 3), "os.symlink": (1, 2), "sqlite3.connect": (0, None),
}  # fmt: skip
_SYSTEM = (
    sys.prefix, sys.base_prefix, os.path.realpath(sys.prefix), "/proc", "/sys", "/dev/null",
    "/usr/lib", "/usr/share", "/etc/mime.types", "/dev/urandom", Path(ssplain.__file__).parent,
)  # fmt: skip


@dataclass(frozen=True)
class Touched:
    """A file or folder that was read, or made, changed or deleted."""

    path: str
    writes: bool


_touched: list[Touched] | None = None
_hooked = False


@contextmanager
def watching() -> Iterator[list[Touched]]:
    """Write down every file that this process touches meanwhile."""
    global _touched, _hooked  # noqa: PLW0603 - a hook cannot be taken away again
    if not _hooked:
        sys.addaudithook(_hook)
        _hooked = True
    found: list[Touched] = []
    _touched = found
    try:
        yield found
    finally:
        _touched = None


def strays(touched: Sequence[Touched], homes: Sequence[Path]) -> list[Touched]:
    """Return what was read outside the homes, Python and the package, or written outside the homes.

    Args:
        touched: what `watching` gave.
        homes: folders that may be read and written.
    """
    own = [home.resolve() for home in homes]
    read = [*own, *(Path(place).resolve() for place in _SYSTEM)]
    return [
        one
        for one in touched
        if not any(map(Path(one.path).is_relative_to, own if one.writes else read))
    ]


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    if _touched is None:
        return
    if event == "open":
        flags = arguments[2] if isinstance(arguments[2], int) else 0
        writes = bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
        _note(arguments[0], writes=writes)
    elif event == "os.rename":
        _note(arguments[0], arguments[2], writes=True)
        _note(arguments[1], arguments[3], writes=True)
    else:
        for known, writes in ((_READS, False), (_WRITES, True)):
            if event in known:
                path, folder = known[event]
                _note(arguments[path], None if folder is None else arguments[folder], writes=writes)


def _note(path: object, folder: object = None, *, writes: bool) -> None:
    if _touched is None or not isinstance(path, str | bytes | os.PathLike):
        return  # an open file, known by its number
    below = f"/proc/self/fd/{folder}" if isinstance(folder, int) and folder >= 0 else ""
    _touched.append(Touched(os.path.realpath(Path(below) / os.fsdecode(path)), writes))
