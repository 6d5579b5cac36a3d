"""Where images come from: what the package carries, a folder, a finished job, the user's uploads.

An image is named by its source and its place in it, such as `rop/3` or `upload/<key>`. A name leads
to an image of that source and nowhere else: no name is ever used as a path.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from torch import Tensor

from ssplain import data
from ssplain.data.dicom import read_dicom
from ssplain.data.readers import eye_of
from ssplain.desk import uploads
from ssplain.desk.job import Job
from ssplain.desk.session import Session
from ssplain.desk.subject import Subject
from ssplain.errors import SSplainError

# name -> what the set is called, what one of it is called, and the model for it
SETS: Mapping[str, tuple[str, str, str]] = {
    "rop": ("Simulated eyes", "Eye", "googlenet-rop"),
    "mnist": ("Digits", "Digit", "lenet5-mnist"),
    "fmnist": ("Garments", "Garment", "lenet5-fmnist"),
}
_SUFFIXES = {".png", ".tif", ".tiff", ".jpg", ".jpeg", ".bmp", ".dcm"}


@dataclass(frozen=True, eq=False)
class Picture:
    """One image of a source.

    Attributes:
        name: how the page asks for it.
        title: what the page shows.
        image: `(C, H, W)` in [0, 1].
        label: its true class, if known.
        model: the model that it suggests, if any.
        subject: what a job has made of it with that model; None otherwise.
        eye: which eye its file says that it shows, left or right; None if it does not.
    """

    name: str
    title: str
    image: Tensor
    label: int | None = None
    model: str | None = None
    subject: Subject | None = None
    eye: str | None = None


class Sources:
    """All images that a room offers.

    Args:
        folder: of image files.
        job: of `ssplain explain` or `ssplain read`.

    >>> room = Sources()
    >>> room.counts()["mnist"], room.picture("mnist/0", None).label
    (500, 7)
    """

    def __init__(self, folder: Path | None = None, job: Job | None = None) -> None:
        self.job = job
        self.files: Sequence[Path] = ()
        if folder is not None:
            if not folder.is_dir():
                raise SSplainError(f"{folder} is not a folder; give a folder of images.")
            self.files = sorted(p for p in folder.rglob("*") if p.suffix.lower() in _SUFFIXES)
            if not self.files:
                raise SSplainError(
                    f"{folder} holds no images; give a folder of PNG, TIFF, JPEG, BMP or DICOM "
                    "files."
                )
        self.folder = folder

    def counts(self) -> dict[str, int]:
        """How many images each shared source has."""
        found = {name: len(_bundled(name)[0]) for name in SETS}
        found |= {"folder": len(self.files)} if self.files else {}
        return found | ({"job": self.job.total()} if self.job is not None else {})

    def title(self, source: str, index: int) -> str:
        """Return what the page calls an image of a shared source."""
        if source in SETS:
            return f"{SETS[source][1]} {index + 1}"
        path = self.files[index]
        if path.suffix.lower() == ".dcm":  # such names often are patients'
            return f"DICOM image {index + 1}"
        return path.relative_to(self.folder or path.parent).as_posix()

    def picture(self, name: str, session: Session | None) -> Picture:
        """Return the image of a name.

        Raises:
            SSplainError: if there is none, or this session may not see it, or it is damaged.
        """
        source, _, key = name.partition("/")
        if source == "upload" and session is not None:
            image = uploads.read(session, key)
            return Picture(name, session.titles.get(key, "image"), image, eye=session.eyes.get(key))
        if source in self.counts() and key.isascii() and key.isdecimal() and len(key) < 9:
            index = int(key)
            if source == "job" and self.job is not None:
                return self._of_job(self.job, index)
            if source == "folder" and index < len(self.files):
                eye = eye_of(self.files[index])
                return Picture(name, self.title(source, index), self._read(index), eye=eye)
            if source in SETS and index < len(_bundled(source)[0]):
                images, labels = _bundled(source)
                shown, model = self.title(source, index), SETS[source][2]
                return Picture(name, shown, images[index], int(labels[index]), model)
        raise SSplainError("There is no such image here; choose one from the first page.")

    def _of_job(self, job: Job, number: int) -> Picture:
        entry, subject = job.entry(number), job.subject(number)
        return Picture(f"job/{number}", entry.title, subject.shown, None, job.model, subject)

    def _read(self, index: int) -> Tensor:
        path = self.files[index]
        try:
            if path.suffix.lower() == ".dcm":
                return read_dicom(path)
            return data.read_image(path)
        except SSplainError as error:  # the page need not know where the folder is
            raise SSplainError(
                str(error).replace(str(path), self.title("folder", index))
            ) from error


def suggested(picture: Picture, offered: Sequence[str]) -> str:
    """Return the model for an image when nobody names one: its set's, or by its size."""
    if picture.model in offered or picture.subject is not None:
        return str(picture.model)
    wanted = "lenet5-mnist" if max(picture.image.shape[1:]) <= 64 else "googlenet-rop"
    return wanted if wanted in offered else offered[0]


def truth(name: str) -> Tensor | None:
    """Return the planted disease `(H, W)` of a simulated eye, 0 where healthy; else None."""
    source, _, key = name.partition("/")
    if source != "rop" or not key.isdecimal():
        return None
    return _truth().relevance[int(key), 0]


@lru_cache
def _bundled(name: str) -> tuple[Tensor, Tensor]:
    return data.bundled(name)


@lru_cache
def _truth() -> data.Truth:
    return data.bundled_truth("rop")


def as_bytes(image: Tensor) -> bytes:
    """Return an image `(C, H, W)` in [0, 1] as one byte per value.

    >>> import torch
    >>> list(as_bytes(torch.tensor([[[0.0, 1.0]]])))
    [0, 255]
    """
    return (image.clamp(0, 1) * 255).round().numpy().astype(np.uint8).tobytes()
