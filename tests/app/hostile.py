"""Files that nobody should send, made here: name -> content, or a stream of it."""

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator

import numpy as np
from PIL import Image

SCRIPT = b"<svg xmlns='http://www.w3.org/2000/svg'><script>fetch('/api/room')</script></svg>"


def picture(kind: str = "PNG", size: tuple[int, int] = (28, 28), **options: object) -> bytes:
    """Return a good picture."""
    buffer = io.BytesIO()
    values = np.zeros((size[1], size[0]), np.uint8)
    values[4:20, 12:16] = 255
    Image.fromarray(values).save(buffer, kind, **options)
    return buffer.getvalue()


def png(width: int, height: int, body: bytes, *, colour: int = 0, bits: int = 8) -> bytes:
    """Return a PNG file with this header and body, whether they belong together or not."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")
    )


def bomb(side: int) -> bytes:
    """Return a small PNG file that unpacks to side x side pixels."""
    packer = zlib.compressobj(9)
    row = bytes(1 + side)
    body = b"".join(packer.compress(row) for _ in range(side)) + packer.flush()
    return png(side, side, body)


def frames(kind: str = "TIFF") -> bytes:
    """Return a file of several images."""
    buffer = io.BytesIO()
    pages = [Image.new("L", (8, 8), 9 * at) for at in range(3)]
    pages[0].save(buffer, kind, save_all=True, append_images=pages[1:])
    return buffer.getvalue()


def zipped() -> bytes:
    """Return a zip file whose member wants to leave its folder."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("../../outside.png", picture())
    return buffer.getvalue()


def endless(size: int) -> Iterator[bytes]:
    """Return a body of so many bytes, a megabyte at a time."""
    piece = bytes(2**20)
    for _ in range(size // len(piece)):
        yield piece


REFUSED: dict[str, bytes] = {
    "empty.png": b"",
    "one-byte.png": b"\x89",
    "text.png": b"this is no image",
    "script.svg": SCRIPT,
    "svg-as.png": SCRIPT,
    "page.html": b"<html><script>alert(1)</script></html>",
    "pickle.png": b"\x80\x04\x8c\x05posix\x94\x8c\x06system\x94\x93.",
    "zip.png": zipped(),
    "program.png": b"\x7fELF" + bytes(200),
    "cut.png": picture()[:60],
    "cut.jpg": picture("JPEG")[:-20],
    "lying-size.png": png(60_000, 60_000, zlib.compress(bytes(10))),
    "no-pixels.png": png(0, 0, b""),
    "huge-side.png": png(2**31 - 1, 1, zlib.compress(bytes(10))),
    "bad-body.png": png(28, 28, b"not compressed"),
    "short-body.png": png(28, 28, zlib.compress(bytes(20))),
    "bomb-25-megapixels.png": bomb(5_000),
    "frames.tif": frames(),
    "icon.ico": picture("ICO", (32, 32)),
    "moving.gif": frames("GIF"),
    "empty-dicom.dcm": bytes(128) + b"DICM",
    "false-dicom.dcm": bytes(128) + b"DICM" + b"\xff" * 500,
    "black.png": picture()[:0] + png(28, 28, zlib.compress(bytes(29 * 28))),
}

# good pictures under bad names, or with something behind them: taken, as the pixels that they are
TAKEN: dict[str, bytes] = {
    "../../../../etc/cron.d/evil.png": picture(),
    "..\\..\\windows\\evil.png": picture(),
    "C:evil.png\x00.exe": picture(),
    "<img src=x onerror=alert(1)>.png": picture(),
    "=cmd|' /C calc'!A0.png": picture(),
    "no-suffix": picture("BMP"),
    "picture.exe": picture("JPEG"),
    "polyglot.html": picture() + SCRIPT,
    "polyglot.zip": picture() + zipped(),
    "a" * 900 + ".png": picture(),
}
