"""Ten kinds of files that are no image, though they are named as one."""

import io
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

DIGIT = (np.add.outer(np.arange(28), np.arange(28)) * 4).astype(np.uint8)


def _truncated(path: Path) -> None:
    stream = io.BytesIO()
    noise = np.random.default_rng(0).integers(0, 256, (28, 28), np.uint8)
    Image.fromarray(noise).save(stream, "PNG")
    path.write_bytes(stream.getvalue()[: len(stream.getvalue()) // 2])


def _bomb(path: Path) -> None:
    def chunk(kind: bytes, body: bytes) -> bytes:
        ends = struct.pack(">I", zlib.crc32(kind + body))
        return struct.pack(">I", len(body)) + kind + body + ends

    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 0, 0, 0, 0)
    rows = chunk(b"IDAT", zlib.compress(bytes(100_000)))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + rows + chunk(b"IEND", b""))


def _nan(path: Path) -> None:
    values = DIGIT / np.float32(255)
    values[3, 3] = np.nan
    Image.fromarray(values).save(path)


def _without_pixels(path: Path) -> None:
    import pydicom  # noqa: PLC0415

    meta = pydicom.dataset.FileMetaDataset()
    meta.TransferSyntaxUID = pydicom.uid.ExplicitVRLittleEndian
    meta.MediaStorageSOPClassUID = pydicom.uid.OphthalmicPhotography8BitImageStorage
    meta.MediaStorageSOPInstanceUID = pydicom.uid.generate_uid()
    file = pydicom.dataset.FileDataset(str(path), {}, file_meta=meta, preamble=b"\0" * 128)
    file.PatientName = "Nobody"
    file.save_as(path)


def _unreadable(path: Path) -> None:
    Image.fromarray(DIGIT).save(path)
    path.chmod(0)


def _animated(path: Path) -> None:
    frames = [Image.fromarray(DIGIT), Image.fromarray(255 - DIGIT)]
    frames[0].save(path, save_all=True, append_images=frames[1:])


# name of the file -> how it is made, and what must be said of it
BAD: dict[str, tuple[Callable[[Path], object], str]] = {
    "truncated.png": (_truncated, "is damaged"),
    "zero.png": (lambda path: path.write_bytes(b""), "is empty"),
    "words.png": (lambda path: path.write_text("These are words.\n"), "is not an image"),
    "bomb.png": (_bomb, "million pixels"),
    "nan.tif": (_nan, "outside [0, 1]"),
    "cmyk.jpg": (lambda path: Image.new("CMYK", (28, 28), (9, 9, 9, 9)).save(path), "CMYK"),
    "pixelless.dcm": (_without_pixels, "it holds no pixels"),
    "locked.png": (_unreadable, "Permission denied"),
    "animated.gif": (_animated, "is an animation of 2 images"),
    "folder.png": (lambda path: path.mkdir(), "is a folder"),
}


def write_bad(folder: Path) -> None:
    """Write one file of each kind."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (make, _) in BAD.items():
        make(folder / name)
