"""From what the user names to the images of a job: files, folders, patterns, lists."""

import csv
import glob
import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ssplain.data import SUFFIXES
from ssplain.errors import SSplainError
from ssplain.explain.result import ARRAYS
from ssplain.files import MANIFEST
from ssplain.jobs.index import NAME


class Entry(NamedTuple):
    """One image file of the plan, as `Index.add` takes it."""

    path: str
    given: str
    id: str | None = None
    target: str | None = None


def entries(inputs: Iterable[str | Path]) -> Iterator[Entry]:
    """Yield the image files that are meant, in a fixed order; each is looked at later.

    Args:
        inputs: files; folders, which are searched with all below them for files that are named as
            images are; patterns such as `scans/*/od.png`; and `.csv` files with a column `path`
            (relative to the list) and, if wanted, `target` and `id`.

    >>> [Path(entry.path).name for entry in entries(["b.png", "a.dcm"])]
    ['b.png', 'a.dcm']
    """
    for given in inputs:
        text = str(given)
        path = Path(text)
        if path.suffix.lower() == ".csv":
            yield from _listed(path)
        elif path.is_dir() and not is_image_name(path.name):
            found = False
            for found_path in _inside(path):
                found = True
                yield _entry(found_path)
            if not found:
                raise SSplainError(
                    f"{text} holds no images; files ending in {', '.join(SUFFIXES)} are looked for."
                )
        elif glob.has_magic(text) and not path.exists():
            matches = sorted(glob.glob(text, recursive=True))  # noqa: PTH207 - text may be absolute
            if not matches:
                raise SSplainError(f"No file matches {text}; check the pattern.")
            yield from entries(matches)
        elif not is_image_name(path.name) and not path.exists():
            # a mistyped folder would stay in the job's index as an image that failed
            raise SSplainError(f"{text} does not exist; name image files, folders or a list.")
        else:
            yield _entry(text)


def is_image_name(name: str) -> bool:
    """Say whether a file is named as images are.

    >>> is_image_name("OD.TIFF"), is_image_name("notes.txt")
    (True, False)
    """
    return os.path.splitext(name)[1].lower() in SUFFIXES  # noqa: PTH122 - ".png" has no stem


def parse_shard(text: str) -> tuple[int, int]:
    """Read `i/n`, from 1 on.

    >>> parse_shard("3/10")
    (3, 10)
    """
    index, _, count = text.partition("/")
    if index.isdigit() and count.isdigit() and 1 <= int(index) <= int(count):
        return int(index), int(count)
    raise SSplainError(f"--shard {text} is not understood; give i/n with i from 1 to n, as 3/10.")


def shard_folder(out: str, shard: tuple[int, int]) -> str:
    """Return the folder of a shard, a job of its own.

    >>> shard_folder("out", (3, 10))
    'out/shard-3-of-10'
    """
    return f"{out.rstrip('/')}/shard-{shard[0]}-of-{shard[1]}"


def in_shard(entry: Entry, shard: tuple[int, int]) -> bool:
    """Say whether an image belongs to a shard: by its path alone, so that no shard asks another.

    >>> sum(in_shard(Entry("/a.png", "a.png"), (i, 5)) for i in range(1, 6))
    1
    """
    return zlib.crc32(os.fsencode(entry.path)) % shard[1] == shard[0] - 1


def _entry(given: str, target: str | None = None, name: str | None = None) -> Entry:
    # no links are followed: a result is found again under the name that the user knows
    return Entry(os.path.abspath(given), str(Path(given)), name, target)  # noqa: PTH100


def _inside(folder: Path) -> Iterator[str]:
    """Yield the images below a folder by name, also DICOM files that have no ending."""
    try:
        found = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        raise SSplainError(f"{folder} cannot be searched ({error.strerror}).") from error
    names = {entry.name for entry in found}
    if NAME in names or {MANIFEST, ARRAYS} <= names:
        return  # results of ours, such as the pictures of an earlier job
    for entry in found:
        if entry.name.startswith("."):
            continue
        if is_image_name(entry.name):  # a folder of such a name is told of as a bad image
            yield entry.path
        elif entry.is_dir(follow_symlinks=False):
            yield from _inside(Path(entry.path))
        elif "." not in entry.name and entry.is_file() and _is_dicom(entry.path):
            yield entry.path


def _is_dicom(path: str) -> bool:
    try:
        with Path(path).open("rb") as file:
            return file.read(132)[128:] == b"DICM"
    except OSError:
        return False


def _listed(path: Path) -> Iterator[Entry]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = csv.DictReader(file, skipinitialspace=True)
            # "path, target": a target that goes unseen would be explained as the prediction
            rows.fieldnames = [name.strip().lower() for name in rows.fieldnames or ()]
            if "path" not in rows.fieldnames:
                raise SSplainError(
                    f"{path} has no column 'path'; give a first line with path and, if wanted, "
                    "target and id."
                )
            for row in rows:
                if named := (row["path"] or "").rstrip():
                    given = os.path.join(path.parent, named)  # noqa: PTH118 - may be absolute
                    target, name = ((row.get(key) or "").strip() for key in ("target", "id"))
                    yield _entry(given, target or None, name or None)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SSplainError(f"{path} is not a readable list ({error}); save it as CSV.") from error
