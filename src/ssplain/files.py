"""Results are written whole or not at all, and never over what somebody else has written.

A folder of ours holds a `manifest.json` that names its files with their SHA-256. Only a folder in
which every file is as the manifest says may be replaced; a note that somebody put there, or a
picture that somebody drew on, keeps it as it is.
"""

import hashlib
import json
import os
import shutil
import struct
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssplain.errors import SSplainError

MANIFEST = "manifest.json"
_SMALL = 512  # bytes; of so few, deflating saves less than it costs
_AT_ONCE = 2**20  # bytes that are read at once


@contextmanager
def whole_folder(path: str | Path) -> Iterator[Path]:
    """Give a temporary folder beside `path` that becomes `path` if the block succeeds.

    Nobody ever sees half a result, and after an error nothing is left behind. A `manifest.json`
    that the block writes gets the names and SHA-256 of all files, which makes the folder ours: one
    that is ours and holds nothing else is replaced, as is an empty one; anything else is refused,
    before the block starts.

    >>> with tempfile.TemporaryDirectory() as home:
    ...     with whole_folder(Path(home) / "result") as folder:
    ...         _ = (folder / "a.txt").write_text("done")
    ...     [p.name for p in sorted(Path(home).rglob("*"))]
    ['result', 'a.txt']
    """
    target = Path(path)
    require_free(target)
    with told(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=".ssplain-", suffix=".partial", dir=target.parent))
    try:
        with told(target):
            yield temporary
            temporary.chmod(0o755)
            _seal(temporary)
            _swap(temporary, target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def write_whole(path: str | Path, content: bytes) -> None:
    """Write a file under a temporary name, then rename it.

    >>> with tempfile.TemporaryDirectory() as home:
    ...     write_whole(Path(home) / "a.txt", b"done")
    ...     (Path(home) / "a.txt").read_bytes()
    b'done'
    """
    target = Path(path)
    temporary = target.with_name(f".ssplain-{os.getpid()}-{hash_bytes(target.name)[:8]}.partial")
    with told(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            temporary.write_bytes(content)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)


class OwnFiles:
    """Files of ours in a folder that may hold other people's too, such as `--out` of a command.

    What we write is noted in `.ssplain.json` there; a file is written over only if it is noted and
    still as we left it.

    Args:
        home: the folder, which need not exist yet.

    >>> with tempfile.TemporaryDirectory() as home:
    ...     OwnFiles(home).write({"a.txt": b"done"})
    ...     OwnFiles(home).write({"a.txt": b"done again"})
    ...     (Path(home) / "a.txt").read_bytes()
    b'done again'
    """

    RECORD = ".ssplain.json"

    def __init__(self, home: str | Path) -> None:
        self.home = Path(home)

    def require_free(self, names: Iterable[str]) -> None:
        """Complain if a file of one of these names is not ours; call it before long work too."""
        noted = read_manifest(self.home, self.RECORD)
        for name in names:
            path = self.home / name
            found = _hash_or_none(path)
            if os.path.lexists(path) and (found is None or noted.get(name) != found):
                raise SSplainError(
                    f"{path} was not written by ssplain, or was changed since; it is left as it "
                    "is: move it, or give another folder."
                )

    def write(self, files: Mapping[str, bytes]) -> None:
        """Write files, each whole or not at all; none of them if one would hit another's file."""
        self.require_free(files)
        for name, content in files.items():
            write_whole(self.home / name, content)
        noted = read_manifest(self.home, self.RECORD)
        noted |= {name: hash_bytes(content) for name, content in files.items()}
        text = json.dumps(noted, indent=2, sort_keys=True) + "\n"
        write_whole(self.home / self.RECORD, text.encode())


def is_ours(folder: Path) -> bool:
    """Say whether a folder is a result of ours and holds nothing else, every file as written.

    >>> with tempfile.TemporaryDirectory() as home:
    ...     is_ours(Path(home))
    False
    """
    listed = read_manifest(folder).get("files")
    if not isinstance(listed, dict) or folder.is_symlink():
        return False
    found = _files(folder)
    return found is not None and found == listed


def read_manifest(folder: Path, name: str = MANIFEST) -> dict[str, Any]:
    """Return the manifest of a folder; an empty one if there is none that can be read.

    >>> read_manifest(Path("nowhere"))
    {}
    """
    try:
        content = json.loads((folder / name).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def require_free(folder: Path) -> None:
    """Complain unless a result may be written to a folder: it is new, empty, or ours.

    >>> require_free(Path("nowhere"))
    """
    if not os.path.lexists(folder) or is_ours(folder):
        return
    if folder.is_symlink() or not folder.is_dir():
        raise SSplainError(f"{folder} exists and is not a folder; give another name.")
    with told(folder):
        if any(folder.iterdir()):
            raise SSplainError(
                f"{folder} holds files that are not a result of ssplain, or were changed since; "
                "they are left as they are: move them, or give another name."
            )


def require_writable(folder: Path) -> None:
    """Complain unless files can be written below a folder, which need not exist yet.

    Called before long work starts; it leaves nothing behind.
    """
    if os.path.lexists(folder) and not folder.is_dir():
        raise SSplainError(f"{folder} exists and is not a folder; give another with --out.")
    there = folder.absolute()
    while not os.path.lexists(there):
        there = there.parent
    with told(folder):
        # made and removed again: permissions alone do not tell of read-only or full disks
        os.rmdir(tempfile.mkdtemp(prefix=".ssplain-", dir=there))  # noqa: PTH106


@contextmanager
def told(
    path: str | Path, deed: str = "written", advice: str = "give another place, or free some room"
) -> Iterator[None]:
    """Turn an error of the file system into a sentence that names the path.

    Args:
        path: what was to be read or written.
        deed: which of the two.
        advice: what to do about it.

    >>> with told("out"):
    ...     raise PermissionError(13, "Permission denied", "out/eye")
    Traceback (most recent call last):
        ...
    ssplain.errors.SSplainError: out cannot be written (Permission denied); give another place, or
    free some room.
    """
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise SSplainError(f"{path} cannot be {deed} ({reason}); {advice}.") from error


def npz_bytes(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return arrays as the content of an `.npz` file, compressed.

    `numpy.savez_compressed` writes the same format, but spends a third of the time that it takes to
    explain a digit on the book-keeping of its archive; this has a few lines of it. The bytes are
    the same for the same arrays, at any time of day.

    >>> import io
    >>> import numpy as np
    >>> np.load(io.BytesIO(npz_bytes({"a": np.arange(3)})))["a"]
    array([0, 1, 2])
    """
    parts, entries, at = [], [], 0
    for name, array in arrays.items():
        plain = np.asarray(array, order="C")
        raw = _npy_header(plain.dtype.str, plain.shape) + plain.tobytes()
        small = len(raw) <= _SMALL
        body = raw if small else zlib.compress(raw, 6, -zlib.MAX_WBITS)
        if max(at, len(raw)) >= 2**31:
            raise SSplainError(f"{name} is too large for one file; save fewer images at a time.")
        file = f"{name}.npy".encode()
        # version 2.0, UTF-8 names, stored or deflated, 1 January 1980
        how = 0 if small else 8
        about = (20, 0x800, how, 0, 33, zlib.crc32(raw), len(body), len(raw), len(file), 0)
        entry = struct.pack("<5H3L2H", *about)
        parts += [b"PK\3\4", entry, file, body]
        entries.append(
            b"PK\1\2\x14\3" + entry + struct.pack("<3H2L", 0, 0, 0, 0o644 << 16, at) + file
        )
        at += 4 + len(entry) + len(file) + len(body)
    listing = b"".join(entries)
    count = len(entries)
    end = b"PK\5\6" + struct.pack("<4H2LH", 0, 0, count, count, len(listing), at, 0)
    return b"".join([*parts, listing, end])


@cache
def _npy_header(kind: str, shape: tuple[int, ...]) -> bytes:
    header = BytesIO()
    about = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(header, about)
    return header.getvalue()


def require_file(path: Path) -> None:
    """Complain unless there is a file to read, saying what is there instead.

    >>> require_file(Path("nowhere.png"))
    Traceback (most recent call last):
        ...
    ssplain.errors.SSplainError: nowhere.png does not exist; give the path of an image file.
    """
    if path.is_file():
        return
    if path.is_dir():
        found = "is a folder"
    elif path.exists():
        found = "is a pipe or device, not a file"
    elif path.is_symlink():
        found = "is a loop of links, or a link to nowhere"
    else:
        found = "does not exist"
    raise SSplainError(f"{path} {found}; give the path of an image file.")


def hash_bytes(content: bytes | str) -> str:
    """Return the SHA-256 of bytes, or of a text that may hold any file name.

    >>> hash_bytes("eye")[:12]
    '47c215b5f70e'
    """
    plain = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    return hashlib.sha256(plain).hexdigest()


def hash_file(path: str | Path) -> str:
    """Return the SHA-256 of a file's content."""
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - a hundred thousand times
        # three times as fast for a digit; a device has no size, and may have no end
        if 0 < os.fstat(file.fileno()).st_size < _AT_ONCE:
            return hashlib.sha256(file.read()).hexdigest()
        return hashlib.file_digest(file, "sha256").hexdigest()


def _hash_or_none(path: Path) -> str | None:
    """Return the hash of a file; None if it is none, or cannot be read."""
    try:
        return None if path.is_symlink() or not path.is_file() else hash_file(path)
    except OSError:
        return None


def _seal(folder: Path) -> None:
    """Write the names and hashes of a folder's files into its manifest, if it has one."""
    path = folder / MANIFEST
    if path.is_file():
        content = json.loads(path.read_bytes()) | {"files": _files(folder)}
        path.write_text(json.dumps(content, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def _files(folder: Path) -> dict[str, str] | None:
    """Return the SHA-256 of each file below a folder but the manifest; None for anything odd."""
    found: dict[str, str] = {}
    folders: set[Path] = set()
    filled: set[Path] = set()
    try:
        for path in folder.rglob("*"):
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                return None
            if path.is_dir():
                folders.add(path)
            elif path != folder / MANIFEST:
                found[path.relative_to(folder).as_posix()] = hash_file(path)
                filled.update(path.parents)
    except OSError:
        return None
    return found if folders <= filled else None  # an empty folder is none of ours


def _swap(temporary: Path, target: Path) -> None:
    """Put a folder in its place; what was there goes, if it still is ours or empty."""
    require_free(target)
    if not target.exists():
        temporary.replace(target)
        return
    old = temporary.with_suffix(".old")
    target.replace(old)
    try:
        temporary.replace(target)
    except OSError:
        old.replace(target)
        raise
    shutil.rmtree(old, ignore_errors=True)
