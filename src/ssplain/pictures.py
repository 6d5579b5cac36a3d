"""The pixels of picture files; every way in which a file can be bad is told in one sentence.

Without PyTorch: jobs read pictures in a process that has not loaded it (`ssplain.work.scribe`).
"""

import struct
import zlib
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from ssplain.errors import SSplainError
from ssplain.files import require_file

TIFF = (".tif", ".tiff")
SUFFIXES = (".png", *TIFF, ".jpg", ".jpeg", ".bmp", ".gif")
_SMALL = 2**20  # bytes that are read at once
MAX_PIXELS = 89_478_485  # where Pillow itself starts to warn of decompression bombs
_FORMATS = ("PNG", "TIFF", "JPEG", "BMP", "GIF")
_DAMAGE = (OSError, SyntaxError, ValueError, TypeError, LookupError, EOFError, OverflowError)


def read_pixels(path: str | Path, page: int | None = None) -> NDArray[np.float32]:
    """Read a PNG, TIFF, JPEG, BMP or GIF file; `ssplain.data.read_image` says how.

    Args:
        path: The file.
        page: Which image of a TIFF that holds several, from 0; such a file is refused without.

    Returns:
        The image (C, H, W) in [0, 1] with C = 1 or 3.

    Raises:
        SSplainError: If there is no such file, or it is not one whole image of these kinds.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "dot.png"
        >>> Image.new("RGB", (3, 2), (255, 255, 255)).save(path)
        >>> read_pixels(path).tolist()
        [[[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]]
    """
    path = Path(path)
    require_file(path)
    size = path.stat().st_size
    if not size:
        raise SSplainError(f"{path} is empty; save the image again.")
    try:
        # Pillow reads in many small steps, and after each the computing of a job has to wait for
        # the interpreter's lock; measured on digits, a tenth of a job's time
        file = BytesIO(path.read_bytes()) if size < _SMALL else path
        with Image.open(file, formats=_FORMATS) as image:
            _check(image, path, page)
            values = _values(_upright(image), path)
    except SSplainError:
        raise
    except UnidentifiedImageError as error:
        raise SSplainError(
            f"{path} is not an image of one of {', '.join(_FORMATS)}; convert it to PNG."
        ) from error
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise SSplainError(_too_large(path)) from error
    except (*_DAMAGE, struct.error, zlib.error) as error:
        raise SSplainError(
            f"{path} is damaged or cannot be read ({error}); save the image again."
        ) from error
    if values.ndim == 2:
        values = values[..., None]
    elif (values == values[..., :1]).all():
        values = values[..., :1]
    return np.ascontiguousarray(values.transpose(2, 0, 1))


def _check(image: Image.Image, path: Path, page: int | None) -> None:
    """Refuse what is no single image of ours, and go to the page that is meant."""
    if image.width * image.height > MAX_PIXELS:
        raise SSplainError(_too_large(path))
    if image.mode == "CMYK":
        raise SSplainError(f"{path} is in CMYK, the colours of print; save it as RGB or grey.")
    frames = getattr(image, "n_frames", 1)
    if frames != 1 and image.format == "GIF":
        raise SSplainError(f"{path} is an animation of {frames} images; save the one you mean.")
    if page is not None:
        if not 0 <= page < frames:
            raise SSplainError(f"{path} holds {frames} images, so there is no image {page + 1}.")
        image.seek(page)
        if image.width * image.height > MAX_PIXELS:
            raise SSplainError(_too_large(path))
    elif frames != 1:
        raise SSplainError(f"{path} holds {frames} images; save the one you mean as its own file.")


def _upright(image: Image.Image) -> Image.Image:
    """Turn a picture as its EXIF tag says."""
    image.load()  # only then a PNG file has told all that it has to tell
    told = " ".join(map(str, image.info)).lower()
    if image.format == "PNG" and "exif" not in told and "xmp" not in told:
        return image
    return ImageOps.exif_transpose(image)


def _too_large(path: Path) -> str:
    return (
        f"{path} has more than {MAX_PIXELS // 10**6} million pixels; make it smaller, or cut out "
        "the part you need."
    )


def _values(image: Image.Image, path: Path) -> NDArray[np.float32]:
    """Return (H, W) or (H, W, 3) floats in [0, 1]."""
    if image.mode.startswith("I;16"):
        return np.asarray(image).astype(np.float32) / np.float32(65535)
    if image.mode == "F":
        values = np.asarray(image).astype(np.float32)
        if not ((values >= 0) & (values <= 1)).all():  # also refuses NaN
            raise SSplainError(
                f"{path} holds floats outside [0, 1]; scale them, or save it with 8 or 16 bits."
            )
        return values
    if image.mode == "I":
        raise SSplainError(f"{path} holds 32-bit integers; save it with 8 or 16 bits.")
    if image.has_transparency_data:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "black"), image)
    plain = "L" if image.mode in {"1", "L"} else "RGB"
    if image.mode != plain:  # or else Pillow copies it
        image = image.convert(plain)
    return np.asarray(image).astype(np.float32) / np.float32(255)
