"""Segmented fundus images with labels from a user's own folder or table.

A folder has one folder per class, and within it images, or one folder per infant:
`plus/anna/od.png`. A table is a CSV file with the columns path and label, and if they are known
infant and eye; paths are relative to the table. One bad file never stops the rest: it is named with
the reason in `ROPFolder.refused`.
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from ssplain.data.dicom import read_dicom
from ssplain.data.images import read_image, resize
from ssplain.errors import SSplainError
from ssplain.simulate.disease import CLASSES

SUFFIXES = (".png", ".tif", ".tiff", ".jpg", ".jpeg", ".bmp", ".dcm")
_SIZE = (224, 224)
_DARK = 8 / 255  # what compression leaves of a black background
_SPARSE = 0.4  # no segmentation covers more of an image


@dataclass(frozen=True)
class Refused:
    """A file that was not used, and why."""

    path: Path
    reason: str


@dataclass(frozen=True)
class ROPFolder:
    """The images that could be read.

    Attributes:
        images: (N, 1, 224, 224) bytes, of which 255 is 1.0; the background is exactly 0.
        labels: (N,) 0 Normal, 1 Pre-plus, 2 Plus.
        infants: whose image it is; the path itself where that is not known.
        eyes: left, right, or "" where that is not known.
        paths: the files.
        refused: the files that were not used.
    """

    images: torch.Tensor
    labels: torch.Tensor
    infants: tuple[str, ...]
    eyes: tuple[str, ...]
    paths: tuple[Path, ...]
    refused: tuple[Refused, ...]

    def split(
        self, shares: tuple[float, float] = (0.15, 0.15), seed: int = 0
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return indices of the images to train on, to validate on and to test on.

        All images of an infant are on the same side. Infants are dealt out class by class, by the
        worst label each has, so that every side has its share of every class.

        Args:
            shares: of the infants, for validation and for testing.
            seed: fixes who goes where.

        Raises:
            SSplainError: If there are too few infants to have some on every side.
        """
        worst: dict[str, int] = {}
        for infant, label in zip(self.infants, self.labels.tolist(), strict=True):
            worst[infant] = max(label, worst.get(infant, 0))
        rng = np.random.default_rng(seed)
        side: dict[str, int] = {}
        for label in range(len(CLASSES)):
            group = sorted(infant for infant, grade in worst.items() if grade == label)
            held = [round(share * len(group)) for share in shares]
            marks = [1] * held[0] + [2] * held[1]
            marks += [0] * (len(group) - len(marks))
            side |= dict(zip(group, rng.permutation(marks).tolist(), strict=True))
        sides = torch.tensor([side[infant] for infant in self.infants])
        train, validation, test = (torch.nonzero(sides == i).flatten() for i in range(3))
        if not (len(train) and len(validation) and len(test)):
            raise SSplainError(
                f"{len(worst)} infants are too few to train, validate and test on shares of "
                f"{shares}; add infants, or ask for larger shares."
            )
        return train, validation, test

    def report(self) -> str:
        """Return what was read and what was refused, one line each."""
        counts = torch.bincount(self.labels, minlength=len(CLASSES)).tolist()
        read = ", ".join(f"{count} {name}" for name, count in zip(CLASSES, counts, strict=True))
        lines = [f"{len(self.labels)} images of {len(set(self.infants))} infants read: {read}."]
        if self.refused:
            lines.append(f"{len(self.refused)} refused:")
            lines += [f"  {refused.reason}" for refused in self.refused]
        return "\n".join(lines)


@dataclass(frozen=True)
class _Entry:
    path: Path
    label: int
    infant: str
    eye: str = ""


def read_rop(source: str | Path) -> ROPFolder:
    """Read a folder of classes, or a CSV table.

    Args:
        source: the folder or the table.

    Raises:
        SSplainError: If there is no such folder or table, or nothing in it can be used.
    """
    source = Path(source)
    if source.is_dir():
        found = _from_folders(source)
    elif source.is_file():
        found = _from_table(source)
    else:
        raise SSplainError(f"There is no folder or table {source}; check the path.")
    entries: list[_Entry] = []
    images: list[torch.Tensor] = []
    refused: list[Refused] = []
    for item in found:
        try:
            if isinstance(item, Refused):
                refused.append(item)
            else:
                images.append(read_segmentation(item.path))
                entries.append(item)
        except SSplainError as error:
            refused.append(Refused(item.path, str(error)))
    if not images:
        first = f" The first reason: {refused[0].reason}" if refused else ""
        raise SSplainError(
            f"{source} holds no image that can be used ({len(refused)} refused); give a folder per "
            f"class ({', '.join(CLASSES)}) or a CSV table with the columns path and label.{first}"
        )
    return ROPFolder(
        images=torch.stack(images),
        labels=torch.tensor([entry.label for entry in entries]),
        infants=tuple(entry.infant for entry in entries),
        eyes=tuple(entry.eye for entry in entries),
        paths=tuple(entry.path for entry in entries),
        refused=tuple(refused),
    )


def read_segmentation(path: Path) -> torch.Tensor:
    """Read a segmented fundus image as bytes (1, 224, 224) with an exactly black background.

    Raises:
        SSplainError: If the file cannot be read or does not look like segmented vessels.

    Example:
        >>> import tempfile
        >>> from PIL import Image
        >>> path = Path(tempfile.mkdtemp()) / "photograph.png"
        >>> Image.new("L", (64, 48), 120).save(path)
        >>> read_segmentation(path)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ssplain.errors.SSplainError: ...photograph.png is not black outside of vessels (100% ...
    """
    image = read_dicom(path) if path.suffix.lower() == ".dcm" else read_image(path)
    lit = (image > _DARK).any(dim=0).float().mean().item()
    if lit > _SPARSE:
        raise SSplainError(
            f"{path} is not black outside of vessels ({lit:.0%} of it is lit), so it looks like a "
            "fundus photograph; segment its vessels first and give the segmentation."
        )
    if len(image) != 1:
        raise SSplainError(
            f"{path} has colours, so it is not a segmentation; give white vessels on black."
        )
    image = resize(torch.where(image > _DARK, image, 0.0), _SIZE)
    stored = (255 * image).round().to(torch.uint8)
    if not stored.any():
        raise SSplainError(f"{path} is black all over; leave it out, or segment it again.")
    return stored


def class_of(name: str) -> int | None:
    """Return the class that a label names, in any spelling, or as its number.

    Example:
        >>> class_of("Pre-Plus"), class_of("preplus"), class_of("2"), class_of("severe")
        (1, 1, 2, None)
    """
    plain = "".join(letter for letter in name.lower() if letter.isalnum())
    names = ["".join(letter for letter in label.lower() if letter.isalnum()) for label in CLASSES]
    if plain in names:
        return names.index(plain)
    return int(plain) if plain in {"0", "1", "2"} else None


def _from_folders(source: Path) -> Iterator[_Entry | Refused]:
    for folder in sorted(path for path in source.iterdir() if path.is_dir()):
        label = class_of(folder.name)
        if label is None:
            yield Refused(folder, f"{folder} names no class; call it one of {', '.join(CLASSES)}.")
            continue
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        if not files:
            yield Refused(folder, f"{folder} holds no images; fill it, or leave it out.")
        for path in files:
            if path.suffix.lower() not in SUFFIXES:
                known = ", ".join(SUFFIXES)
                yield Refused(path, f"{path} is not an image of a known kind ({known}).")
                continue
            inner = path.relative_to(folder).parts
            yield _Entry(path, label, inner[0] if len(inner) > 1 else str(path))


def _from_table(source: Path) -> Iterator[_Entry | Refused]:
    try:
        with source.open(newline="", encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(file))
    except (UnicodeDecodeError, csv.Error, OSError) as error:
        raise SSplainError(
            f"{source} is not a readable CSV table ({error}); save it as CSV in UTF-8."
        ) from error
    columns = set(rows[0]) if rows else set()
    if not {"path", "label"} <= columns:
        raise SSplainError(
            f"{source} lacks the columns path and label; its first line must name path,label and, "
            "if they are known, infant and eye."
        )
    for number, row in enumerate(rows, start=2):
        path = source.parent / (row["path"] or "")
        label = class_of(row["label"] or "")
        if label is None:
            yield Refused(
                path,
                f"{source}, line {number}: the label {row['label']!r} is unknown; use one of "
                f"{', '.join(CLASSES)}.",
            )
        else:
            yield _Entry(path, label, row.get("infant") or str(path), row.get("eye") or "")
