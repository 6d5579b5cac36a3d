"""Where results go: a folder, or anything that fsspec reaches, each result whole or not at all."""

import errno
import itertools
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ssplain.errors import SSplainError
from ssplain.files import MANIFEST, hash_bytes, require_free

PARTIAL = ".partial"  # what is being written; a killed run leaves some here, the next clears it
_count = itertools.count()
_ENCODER = json.JSONEncoder(sort_keys=True)


class NoRoom(SSplainError):  # noqa: N818 - what happened, as a name
    """Results cannot be written at all: the job stops, no image is to blame."""


@dataclass(frozen=True)
class Place:
    """The folder of a job.

    Attributes:
        root: a path, or a URL such as `s3://bucket/job`.

    >>> import tempfile
    >>> place = Place(tempfile.mkdtemp())
    >>> place.write("p1/od", {"a.txt": b"done"}, {"settings": {}})
    111
    >>> place.has("p1/od", 111), place.has("p1/od", 5), place.has("p1/os", 111)
    (True, False, False)
    """

    root: str

    @property
    def is_url(self) -> bool:
        """Whether it is reached by fsspec."""
        return "://" in self.root

    def write(self, where: str, files: Mapping[str, bytes], manifest: Mapping[str, Any]) -> int:
        """Write one result and its manifest, which names the files and their SHA-256.

        Returns:
            The number of bytes.

        Raises:
            NoRoom: If nothing can be written there.
            SSplainError: If a folder that is not ours is in the way.
        """
        about = dict(manifest) | {"files": {name: hash_bytes(files[name]) for name in files}}
        # the manifest last: it says that all is there
        content = {**files, MANIFEST: _lines(about).encode()}
        try:
            self._upload(where, content) if self.is_url else self._rename(where, content)
        except OSError as error:
            reason = error.strerror or str(error) or type(error).__name__
            raise NoRoom(
                f"{self.root}/{where} cannot be written ({reason}); free some room or set the "
                "permissions, and give the same command again: nothing that was recorded is lost."
            ) from error
        return sum(map(len, content.values()))

    def has(self, where: str, size: int) -> bool:
        """Say whether a result is there with so many bytes."""
        try:
            if self.is_url:
                found = self._system.find(self._path(where), detail=True)
                return sum(int(file["size"]) for file in found.values()) == size
            with os.scandir(Path(self.root, where)) as entries:
                return sum(entry.stat().st_size for entry in entries) == size
        except OSError:
            return False

    def put(self, name: str, content: bytes) -> None:
        """Write a single file, whole."""
        if self.is_url:
            self._system.pipe_file(self._path(name), content)
            return
        temporary = Path(self.root, f".{name}.partial")
        temporary.write_bytes(content)
        temporary.replace(Path(self.root, name))

    def get(self, name: str) -> bytes | None:
        """Read a single file, None if there is none."""
        try:
            if self.is_url:
                return bytes(self._system.cat_file(self._path(name)))
            return Path(self.root, name).read_bytes()
        except OSError:
            return None

    def clear(self) -> None:
        """Remove what a killed run left half-written."""
        if not self.is_url:
            shutil.rmtree(Path(self.root, PARTIAL), ignore_errors=True)

    def _rename(self, where: str, content: Mapping[str, bytes]) -> None:
        target = os.path.join(self.root, where)  # noqa: PTH118 - a hundred thousand times
        partial = f"{self.root}/{PARTIAL}/{os.uname().nodename}-{os.getpid()}-{next(_count)}"
        try:
            try:
                os.mkdir(partial)  # noqa: PTH102
            except FileNotFoundError:
                os.makedirs(partial)  # noqa: PTH103
            for name, body in content.items():
                with open(f"{partial}/{name}", "wb", buffering=0) as file:  # noqa: PTH123
                    rest = memoryview(body)
                    while rest:
                        rest = rest[file.write(rest) :]
            try:
                os.rename(partial, target)  # noqa: PTH104
            except FileNotFoundError:
                os.makedirs(os.path.dirname(target), exist_ok=True)  # noqa: PTH103, PTH120
                os.rename(partial, target)  # noqa: PTH104
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                    raise
                require_free(Path(target))  # written but not recorded by a run that was killed
                shutil.rmtree(target)
                os.rename(partial, target)  # noqa: PTH104
        finally:
            if os.path.lexists(partial):
                shutil.rmtree(partial, ignore_errors=True)

    def _upload(self, where: str, content: Mapping[str, bytes]) -> None:
        for name, body in content.items():
            self._system.pipe_file(self._path(f"{where}/{name}"), body)

    def _path(self, name: str) -> str:
        return f"{self.root.rstrip('/')}/{name}"

    @cached_property
    def _system(self) -> Any:  # noqa: ANN401 - fsspec has no types
        try:
            import fsspec  # noqa: PLC0415 - only with the extra

            local = self.root.startswith(("file:", "local:"))
            return fsspec.url_to_fs(self.root, **({"auto_mkdir": True} if local else {}))[0]
        except ImportError as error:
            raise SSplainError(
                f"{self.root} needs a package ({error}); install it with "
                "`pip install ssplain[cluster]`, and whatever else fsspec asks for."
            ) from error
        except ValueError as error:
            raise SSplainError(f"{self.root} is no place that fsspec knows ({error}).") from error


def _lines(about: Mapping[str, Any]) -> str:
    """Return JSON with a line for each entry; indented throughout it would take ten times as long.

    >>> print(_lines({"b": [1, 2], "a": {"c": None}}), end="")
    {
    "a": {"c": null},
    "b": [1, 2]
    }
    """
    rows = (f'"{name}": {_ENCODER.encode(about[name])}' for name in sorted(about))
    return "{\n" + ",\n".join(rows) + "\n}\n"
