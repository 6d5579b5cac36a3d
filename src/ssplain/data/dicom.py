"""Reading DICOM files, with the `dicom` extra."""

from pathlib import Path
from typing import Any

import numpy as np
import torch

from ssplain.errors import SSplainError
from ssplain.pictures import MAX_PIXELS


def read_dicom(path: str | Path, page: int | None = None) -> torch.Tensor:
    """Read one image of a DICOM file, such as an ophthalmic photograph.

    Stored values are scaled by their largest possible value, turned round where the file says
    that small values are bright (MONOCHROME1), and brought to red, green and blue from the colours
    in which they are stored (YBR, palettes).

    Args:
        path: The file.
        page: Which image of a file that holds several, from 0; without it, such a file is refused.

    Returns:
        The image (C, H, W) in [0, 1] with C = 1 or 3, as 32-bit floats.

    Raises:
        SSplainError: If the `dicom` extra is missing, or the file does not hold that image.
    """
    file = read_header(path, pixels=True)
    frames = _frames(file)
    size = int(file.get("Rows", 0)) * int(file.get("Columns", 0))
    if size > MAX_PIXELS:
        raise SSplainError(
            f"{path} has more than {MAX_PIXELS // 10**6} million pixels; make it smaller, or cut "
            "out the part you need."
        )
    if frames != 1 and page is None:
        raise SSplainError(
            f"{path} holds {frames} images; export the one you mean as its own file."
        )
    if not 0 <= (page or 0) < frames:
        raise SSplainError(f"{path} holds {frames} images, so there is no image {(page or 0) + 1}.")
    try:
        values = _values(file, page or 0)
    except Exception as error:
        # pydicom and its decoders raise what they like over damaged pixels
        raise SSplainError(_unreadable(path, error)) from error
    if file.get("PhotometricInterpretation") == "MONOCHROME1":
        values = 1 - values
    if values.ndim == 2:
        values = values[..., None]
    elif (values == values[..., :1]).all():
        values = values[..., :1]
    return torch.from_numpy(np.ascontiguousarray(values.transpose(2, 0, 1))).clamp(0, 1)


def read_header(path: str | Path, *, pixels: bool = False) -> Any:  # noqa: ANN401 - pydicom has no types
    """Return a DICOM file as pydicom gives it, with its pixels only if they are asked for.

    Args:
        path: The file.
        pixels: Whether to read the pixels too.

    Raises:
        SSplainError: If the `dicom` extra is missing, or it is not such a file.
    """
    try:
        import pydicom  # noqa: PLC0415 - only with the extra
    except ImportError as error:
        raise SSplainError(
            f"{path} is a DICOM file, which needs pydicom; install it with "
            "`pip install ssplain[dicom]`."
        ) from error
    try:
        return pydicom.dcmread(path, stop_before_pixels=not pixels)
    except Exception as error:
        # of damaged files it raises nearly anything
        raise SSplainError(_unreadable(path, error)) from error


def dicom_frames(path: str | Path) -> int:
    """Return how many images a DICOM file holds; 1 if that cannot be known.

    Args:
        path: The file.

    Example:
        >>> dicom_frames("nowhere.dcm")
        1
    """
    try:
        return max(1, _frames(read_header(path)))
    except SSplainError:
        return 1  # what is wrong with it is told when it is read


def dicom_eye(path: str | Path) -> str | None:
    """Return which eye a DICOM file shows, "left" or "right"; None if it does not say one.

    Args:
        path: The file.

    Example:
        >>> dicom_eye("nowhere.dcm") is None
        True
    """
    try:
        header = read_header(path)
    except SSplainError:
        return None  # what is wrong with it is told when it is read
    told = str(header.get("ImageLaterality") or header.get("Laterality") or "")
    return {"L": "left", "R": "right"}.get(told)  # "B", both eyes, is no side


def _frames(file: Any) -> int:  # noqa: ANN401 - pydicom has no types
    try:
        return int(file.get("NumberOfFrames", 1))
    except (TypeError, ValueError):
        return 1


def _values(file: Any, page: int) -> np.ndarray:  # noqa: ANN401 - pydicom has no types
    """Return (H, W) or (H, W, 3) floats in [0, 1]."""
    from pydicom.pixels.processing import apply_color_lut  # noqa: PLC0415 - only with the extra
    from pydicom.pixels.utils import pixel_array  # noqa: PLC0415

    if "PixelData" not in file:
        raise ValueError("it holds no pixels")
    stored = np.asarray(pixel_array(file, index=page))
    if file.PhotometricInterpretation == "PALETTE COLOR":
        colours = np.asarray(apply_color_lut(stored, file))
        return (colours[..., :3] / np.float32(np.iinfo(colours.dtype).max)).astype(np.float32)
    return stored.astype(np.float32) / np.float32(2 ** int(file.BitsStored) - 1)


def _unreadable(path: str | Path, error: Exception) -> str:
    told = str(error).strip().rstrip(".").splitlines()
    return (
        f"{path} is not a readable DICOM image ({told[0] if told else type(error).__name__}); "
        "export it again."
    )
