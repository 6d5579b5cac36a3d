"""Reading DICOM files, with the `dicom` extra."""

from pathlib import Path

import numpy as np
import torch

from ssplain.data.images import MAX_PIXELS
from ssplain.errors import SSplainError


def read_dicom(path: str | Path) -> torch.Tensor:
    """Read the single image of a DICOM file.

    Stored values are scaled by their largest possible value, and turned round where the file says
    that small values are bright (MONOCHROME1).

    Args:
        path: The file.

    Returns:
        The image (C, H, W) in [0, 1] with C = 1 or 3, as 32-bit floats.

    Raises:
        SSplainError: If the `dicom` extra is missing, or the file does not hold one whole image.
    """
    try:
        import pydicom  # noqa: PLC0415 - only with the extra
        from pydicom.errors import InvalidDicomError  # noqa: PLC0415
    except ImportError as error:
        raise SSplainError(
            f"{path} is a DICOM file, which needs pydicom; install it with "
            "`pip install ssplain[dicom]`."
        ) from error
    try:
        file = pydicom.dcmread(path)
        frames = int(file.get("NumberOfFrames", 1))
        size = int(file.get("Rows", 0)) * int(file.get("Columns", 0))
        readable = frames == 1 and size <= MAX_PIXELS
        pixels = file.pixel_array if readable else np.empty(0)
        values = pixels.astype(np.float32) / (2 ** int(file.BitsStored) - 1)
        inverted = file.get("PhotometricInterpretation") == "MONOCHROME1"
    except (
        InvalidDicomError,
        AttributeError,
        OSError,
        ValueError,
        RuntimeError,
        KeyError,
    ) as error:
        raise SSplainError(
            f"{path} is not a readable DICOM image ({error}); export it again."
        ) from error
    if not readable:
        raise SSplainError(
            f"{path} holds {frames} images of {size} pixels; export one image of at most "
            f"{MAX_PIXELS} pixels."
        )
    values = 1 - values if inverted else values
    if values.ndim == 2:
        values = values[..., None]
    elif (values == values[..., :1]).all():
        values = values[..., :1]
    return torch.from_numpy(np.ascontiguousarray(values.transpose(2, 0, 1))).clamp(0, 1)
