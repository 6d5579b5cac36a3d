"""What is odd about an image that was read: the haze of JPEG, and bits that are not used.

Neither is an error, and both change what is explained: haze doubles the support of a sparse image,
and 12 bits in a file of 16 make it sixteen times too dark.
"""

from pathlib import Path

import numpy as np
import torch
from PIL import Image

FAINT = 8 / 255  # of the brightest pixel: what compression leaves of a black ground is no brighter
HAZY = 0.25  # share of faint pixels among those that are not black
_DARK_GROUND = 0.5  # below this share of black and faint pixels it is no sparse image
_TWELVE_BITS = 4095.5 / 65535


def haze(image: torch.Tensor) -> float:
    """Return the share of nearly black pixels among those that are not black.

    Strokes on black have few of them; what JPEG leaves around strokes is nothing else. An image
    that is not mostly black has no haze, however dark some of it is.

    Args:
        image: `(C, H, W)` in [0, 1].

    >>> image = torch.zeros(1, 4, 4)
    >>> image[0, 1] = 1.0
    >>> image[0, 2] = 0.01
    >>> haze(image)
    0.5
    """
    # in NumPy: on a digit, and a hundred thousand of them, PyTorch's calls cost more than the sums
    values = image.numpy(force=True)
    brightest = values[0] if len(values) == 1 else values.max(0)
    lit = brightest > 0
    dark = brightest <= FAINT * brightest.max()
    count = np.count_nonzero(lit)
    if not count or np.count_nonzero(dark) < _DARK_GROUND * dark.size:
        return 0.0
    return float(np.count_nonzero(lit & dark) / count)


def is_jpeg(path: str | Path) -> bool:
    """Say whether a file is a JPEG, whatever it is called.

    >>> is_jpeg("nowhere.jpg")
    False
    """
    try:
        with Path(path).open("rb") as file:
            return file.read(3) == b"\xff\xd8\xff"
    except OSError:
        return False


def unused_bits(image: torch.Tensor, path: str | Path) -> str | None:
    """Say that a file of 16 bits uses 12 of them at most; None if it does not.

    Args:
        image: as it was read.
        path: the file.
    """
    most = float(image.numpy(force=True).max())
    if not 255 / 65535 < most <= _TWELVE_BITS or not _has_sixteen_bits(Path(path)):
        return None
    return (
        f"its brightest pixel is {round(most * 65535)} of 65535, so it seems to hold 12 bits in a "
        "file of 16 and is read sixteen times too dark; multiply its values by 16 and save it again"
    )


def _has_sixteen_bits(path: Path) -> bool:
    try:
        if path.suffix.lower() == ".npz":
            with np.load(path, allow_pickle=False) as stored:
                return any(stored[name].dtype == np.uint16 for name in stored.files)
        with Image.open(path) as file:
            return file.mode.startswith("I;16")
    except Exception:  # noqa: BLE001 - a DICOM file, say, which names its bits itself
        return False
