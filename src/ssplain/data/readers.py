"""One call for every kind of image file: pictures, DICOM, and arrays of NumPy."""

from functools import lru_cache
from io import BytesIO
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
import torch
from PIL import Image

from ssplain.data.dicom import dicom_eye, dicom_frames, read_dicom
from ssplain.data.images import read_image
from ssplain.errors import SSplainError
from ssplain.files import require_file
from ssplain.pictures import MAX_PIXELS, TIFF
from ssplain.pictures import SUFFIXES as PICTURES

_DICOM = (".dcm", ".dicom")
# what files are looked for in folders
SUFFIXES = (*PICTURES, ".npz", *_DICOM)


def read_any(path: str | Path, page: int | None = None) -> torch.Tensor:
    """Read one image of a file.

    Args:
        path: PNG, TIFF, JPEG, BMP, GIF, DICOM or NPZ. The array of an NPZ file, or the one named
            `images`, is `(H, W)`, `(N, H, W)` or `(N, C, H, W)`: bytes, 16-bit integers, or floats
            in [0, 1].
        page: Which image of a file that holds several, from 0.

    Returns:
        The image (C, H, W) in [0, 1] with C = 1 or 3, as 32-bit floats.

    Raises:
        SSplainError: If the file does not hold that image.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "two.npz"
        >>> np.savez(path, images=np.full((2, 4, 3), 255, np.uint8))
        >>> pages_of(path), read_any(path, page=1).shape
        (2, torch.Size([1, 4, 3]))
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix == ".npz":
        return _from_arrays(path, page)
    if suffix in _DICOM or (not suffix and path.is_file()):
        return read_dicom(path, page)
    return read_image(path, page)


def pages_of(path: str | Path) -> int:
    """Return how many images a file holds, as far as its beginning tells; 1 for damaged ones.

    Args:
        path: The file.

    Example:
        >>> pages_of("eye.png")
        1
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix == ".npz":
        return len(_images_in(path)) if path.is_file() else 1
    if suffix in _DICOM or not suffix:
        return dicom_frames(path)
    if suffix in TIFF:
        try:
            with Image.open(path, formats=("TIFF",)) as image:
                return int(getattr(image, "n_frames", 1))
        except Exception:  # noqa: BLE001 - what is wrong with it is told when it is read
            return 1
    return 1


def eye_of(path: str | Path) -> str | None:
    """Return which eye a file says that it shows, "left" or "right"; only DICOM files say it.

    Args:
        path: The file.

    Example:
        >>> eye_of("eye.png") is None
        True
    """
    path = Path(path)
    return dicom_eye(path) if path.suffix.lower() in (*_DICOM, "") and path.is_file() else None


def size_of(path: str | Path, page: int | None = None) -> tuple[int, ...]:
    """Return height and width of an image without reading all of it; () if that fails.

    Images of one size need not have the same number of channels.

    Args:
        path: The file.
        page: Which image of a file that holds several.
    """
    path = Path(path)
    if path.suffix.lower() in (".npz", *_DICOM, ""):
        return tuple(read_any(path, page).shape[1:])
    try:
        with Image.open(path) as image:
            if page is not None:
                image.seek(page)
            turned = image.getexif().get(0x0112, 1) in (5, 6, 7, 8)
            return image.size if turned else image.size[::-1]
    except Exception:  # noqa: BLE001 - what is wrong with it is told when it is read
        return ()


def _from_arrays(path: Path, page: int | None) -> torch.Tensor:
    images = _images_in(path)
    if page is None and len(images) != 1:
        raise SSplainError(f"{path} holds {len(images)} images; say which one is meant.")
    at = page or 0
    if at >= len(images):
        raise SSplainError(f"{path} holds {len(images)} images, so there is no image {at + 1}.")
    one = images[at] if images.ndim == 4 else images[at][None]
    if one.shape[0] not in (1, 3) or 0 in one.shape or one[0].size > MAX_PIXELS:
        raise SSplainError(
            f"{path} holds an array of shape {images.shape}; save (H, W), (N, H, W) or "
            "(N, C, H, W) with 1 or 3 channels."
        )
    if one.dtype.kind in "ub" or one.dtype == np.int16:
        most = 1 if one.dtype == bool else np.iinfo(one.dtype).max
        values = one.astype(np.float32) / most
    else:
        values = one.astype(np.float32)
    if (one.dtype.itemsize > 2 and one.dtype.kind != "f") or not (
        (values >= 0) & (values <= 1)
    ).all():
        raise SSplainError(
            f"{path} holds {one.dtype} values that are not in [0, 1]; scale them, or save bytes."
        )
    if len(values) == 3 and (values == values[:1]).all():
        values = values[:1]
    return torch.from_numpy(np.ascontiguousarray(values))


def _images_in(path: Path) -> np.ndarray:
    """Return the array of images of a file, `(N, H, W)` or `(N, C, H, W)`."""
    require_file(path)
    stat = path.stat()
    return _load(path, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=2)  # each batch asks for some images of the same file
def _load(path: Path, _changed: int, _size: int) -> np.ndarray:
    try:
        with np.load(BytesIO(path.read_bytes()), allow_pickle=False) as stored:
            names = stored.files
            chosen = "images" if "images" in names else names[0] if len(names) == 1 else None
            array = None if chosen is None else np.asarray(stored[chosen])
    except (OSError, ValueError, KeyError, EOFError, BadZipFile, MemoryError) as error:
        raise SSplainError(
            f"{path} is not a readable NPZ file ({error}); save it again."
        ) from error
    if array is None:
        raise SSplainError(f"{path} holds several arrays or none; name the one meant 'images'.")
    if array.ndim == 2:
        array = array[None]
    if array.ndim not in (3, 4) or not len(array):
        raise SSplainError(
            f"{path} holds an array of shape {array.shape}; save (H, W), (N, H, W) or (N, C, H, W)."
        )
    return array
