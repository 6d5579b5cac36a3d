"""Images of one's own with their labels: a folder per class, or a table."""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ssplain.data.readers import SUFFIXES
from ssplain.errors import SSplainError


@dataclass(frozen=True)
class LabelledFile:
    """An image file, its class, and the picture of its diseased pixels if there is one."""

    path: Path
    label: int
    truth: Path | None = None


@dataclass(frozen=True)
class LabelledFiles:
    """Files with labels, and the name of each class."""

    files: tuple[LabelledFile, ...]
    classes: tuple[str, ...]


def labelled_files(
    source: Path, classes: Sequence[str] = (), truth: Path | None = None
) -> LabelledFiles:
    r"""Find images with labels.

    Args:
        source: a folder with one folder per class, or a CSV file with the columns `path` (relative
            to it), `label` (a class by name or number) and, if there is any, `truth` (the picture
            of the diseased pixels).
        classes: the model's names of its classes, if they are known. Labels are looked up there,
            whatever their capitals and signs; without them, names that are numbers count as such,
            and others in alphabetic order.
        truth: for a folder: another one with pictures of the diseased pixels under the same names.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as home:
    ...     table = Path(home) / "eyes.csv"
    ...     _ = table.write_text("path,label\na.png,Plus\nb.png,Normal\n")
    ...     found = labelled_files(table)
    >>> [(one.path.name, one.label) for one in found.files], found.classes
    ([('a.png', 1), ('b.png', 0)], ('Normal', 'Plus'))
    """
    if source.is_dir():
        rows = _from_folder(source, truth)
    elif source.is_file():
        rows = _from_table(source)
    else:
        raise SSplainError(f"There is no folder or table {source}; check the path.")
    if not rows:
        raise SSplainError(
            f"{source} holds no labelled image; give a folder with one folder of images "
            f"({', '.join(SUFFIXES)}) per class, or a CSV file with the columns path and label."
        )
    known = tuple(classes) or _known([name for _, name, _ in rows])
    numbers = {_plain(name): at for at, name in enumerate(known)}
    numbers |= {str(at): at for at in range(len(known)) if str(at) not in numbers}
    strange = [(path, name) for path, name, _ in rows if _plain(name) not in numbers]
    if strange:
        path, name = strange[0]
        raise SSplainError(
            f"{path} has the label {name!r}, which is no class of the model; use one of: "
            f"{', '.join(known)}, or their numbers from 0."
        )
    return LabelledFiles(
        tuple(LabelledFile(path, numbers[_plain(name)], mask) for path, name, mask in rows), known
    )


def _plain(name: str) -> str:
    """Return a name without what a folder's name may lack: capitals, slashes and the like."""
    return re.sub(r"[\W_]+", " ", name.casefold()).strip()


def _known(names: Sequence[str]) -> tuple[str, ...]:
    """Return the classes that labels speak of: as many as the highest number, or the names."""
    found = sorted(set(names))
    if all(name.isdecimal() for name in found):
        return tuple(str(at) for at in range(1 + max(map(int, found))))
    return tuple(found)


def _from_folder(home: Path, truth: Path | None) -> list[tuple[Path, str, Path | None]]:
    rows: list[tuple[Path, str, Path | None]] = []
    for path in sorted(home.glob("*/*")):
        if path.suffix.lower() not in SUFFIXES or path.name.startswith("."):
            continue
        mask = None if truth is None else _beside(truth / path.relative_to(home))
        rows.append((path, path.parent.name, mask))
    return rows


def _beside(path: Path) -> Path | None:
    """Return the file of this name, whatever its suffix."""
    return next((one for one in sorted(path.parent.glob(f"{path.stem}.*"))), None)


def _from_table(table: Path) -> list[tuple[Path, str, Path | None]]:
    try:
        with table.open(newline="", encoding="utf-8-sig") as file:
            lines = list(csv.DictReader(file))
    except (UnicodeDecodeError, csv.Error) as error:
        raise SSplainError(f"{table} is no readable CSV file ({error}); save it as UTF-8.") from (
            error
        )
    if lines and not {"path", "label"} <= lines[0].keys():
        raise SSplainError(
            f"{table} has the columns {', '.join(map(str, lines[0]))}; it needs path and label."
        )
    rows: list[tuple[Path, str, Path | None]] = []
    for line in lines:
        name = (line.get("truth") or "").strip()
        mask = table.parent / name if name else None
        path, label = ((line[key] or "").strip() for key in ("path", "label"))
        if not path or not label:
            words = ",".join(word or "" for word in line.values())
            raise SSplainError(f"{table} has a line without path or label: {words}; fill it in.")
        rows.append((table.parent / path, label, mask))
    return rows
