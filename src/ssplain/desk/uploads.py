"""Files from the browser: limited, judged by their content, kept as bare pixels.

What is kept of a file is the decoded image, under a name of our own. The file itself, its metadata
and a DICOM file's identifiers are gone when the request ends; the title shown is the file's name
for pictures and "DICOM image" for DICOM, whose names often are patients'.
"""

import secrets
from collections.abc import AsyncIterable
from pathlib import Path
from typing import IO

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from ssplain.data import read_image
from ssplain.data.dicom import dicom_eye, read_dicom
from ssplain.desk.session import Session
from ssplain.errors import SSplainError

MOST_BYTES = 64 * 2**20
MOST_PIXELS = 16_000_000
MOST_FILES = 100
_DICOM_AT, _DICOM = 128, b"DICM"


async def receive(stream: AsyncIterable[bytes], file: IO[bytes], most: int = MOST_BYTES) -> None:
    """Write a request's body to a file, and stop as soon as it is too large.

    Raises:
        SSplainError: if it is.
    """
    size = 0
    async for piece in stream:
        size += len(piece)
        if size > most:
            raise SSplainError(
                f"The file is larger than {most // 2**20} MB; make it smaller, or cut out the part "
                "you need."
            )
        file.write(piece)
    file.flush()


def keep(session: Session, path: Path, name: str) -> str:
    """Decode a received file and keep its pixels in the session's folder.

    Args:
        session: whose it is.
        path: the received file.
        name: what the user calls it; shown, never used as a path.

    Returns:
        The name under which `read` finds it.

    Raises:
        SSplainError: if it is not one image that can be read.
    """
    place = session.home("uploads")
    if len(session.titles) >= MOST_FILES:
        raise SSplainError(f"You have {MOST_FILES} images here; reload the room to begin anew.")
    title = clean(name)
    try:
        image, dicom = decode(path)
    except SSplainError as error:
        raise SSplainError(str(error).replace(str(path), title)) from error
    key = secrets.token_hex(16)
    with (place / key).open("wb") as file:
        np.save(file, (image * 65535).round().numpy().astype(np.uint16), allow_pickle=False)
    session.titles[key] = "DICOM image" if dicom else title
    if dicom and (eye := dicom_eye(path)) is not None:
        session.eyes[key] = eye
    return key


def read(session: Session, key: str) -> Tensor:
    """Return the pixels `(C, H, W)` of an upload of this session."""
    with session.find("uploads", key).open("rb") as file:
        pixels = np.load(file, allow_pickle=False)
    return torch.from_numpy(pixels.astype(np.float32) / 65535)


def decode(path: Path) -> tuple[Tensor, bool]:
    """Return the pixels of a file by what it is, and whether that is DICOM.

    The size is read from the header before anything is unpacked.
    """
    with path.open("rb") as file:
        head = file.read(_DICOM_AT + len(_DICOM))
    if head[_DICOM_AT:] == _DICOM:
        image = read_dicom(path)
        if image.shape[1] * image.shape[2] > MOST_PIXELS:
            raise SSplainError(_too_many(path))
        return image, True
    try:
        with Image.open(path) as probe:
            pixels = probe.width * probe.height
    except Image.DecompressionBombError as error:
        raise SSplainError(_too_many(path)) from error
    except (OSError, SyntaxError, ValueError, TypeError, LookupError, OverflowError):
        pixels = 0  # whatever is wrong with it, the reader has a sentence for it
    if pixels > MOST_PIXELS:
        raise SSplainError(_too_many(path))
    return read_image(path), False


def clean(name: str) -> str:
    """Return a file's name for showing: no folders, nothing unprintable, not too long.

    >>> clean("../../etc/eye.png")
    'eye.png'
    """
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    shown = "".join(letter for letter in last if letter.isprintable()).strip(" .")
    return shown[:80] or "image"


def _too_many(path: Path) -> str:
    return (
        f"{path} has more than {MOST_PIXELS // 10**6} million pixels; make it smaller, or cut out "
        "the part you need."
    )
