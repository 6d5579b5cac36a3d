"""Arrays on disk, each made once and found again by what it was made from."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from ssplain.files import npz_bytes, write_whole

Arrays = Mapping[str, NDArray[Any]]
About = Mapping[str, object] | None
_ABOUT = "__about__"


@dataclass(frozen=True)
class Store:
    """A folder of results. A result is written whole, so a killed run leaves only finished ones.

    Attributes:
        folder: where they are; made when the first is written.
    """

    folder: Path

    def once(self, name: str, about: About, make: Callable[[], Arrays]) -> dict[str, NDArray[Any]]:
        """Return the arrays made before from just this, or make and keep them.

        Args:
            name: readable beginning of the file's name, for whoever looks into the folder.
            about: all that the arrays depend on. Where it is None, or JSON cannot hold it, they
                could not be told from others, and are made without being kept.
            make: gives the arrays by their names.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as home:
        ...     store = Store(Path(home))
        ...     first = store.once("sum", {"of": [1, 2]}, lambda: {"total": np.array(3)})
        ...     again = store.once("sum", {"of": [1, 2]}, lambda: {"total": np.array(-1)})
        >>> int(again["total"])
        3
        """
        text = _text(about)
        if text is None:
            return dict(make())
        path = self._path(name, text)
        kept = _read(path, text)
        if kept is not None:
            return kept
        arrays = dict(make())
        write_whole(path, npz_bytes({**arrays, _ABOUT: np.array(text)}))
        return arrays

    def _path(self, name: str, text: str) -> Path:
        return self.folder / f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:16]}.npz"


def _text(about: About) -> str | None:
    try:
        return None if about is None else json.dumps(about, sort_keys=True)
    except TypeError:
        return None


def _read(path: Path, text: str) -> dict[str, NDArray[Any]] | None:
    """Read a result; None if there is none, it is broken, or it was made from something else."""
    try:
        with np.load(BytesIO(path.read_bytes()), allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return None
    return arrays if str(arrays.pop(_ABOUT, "")) == text else None
