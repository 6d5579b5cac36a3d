"""MNIST and Fashion-MNIST from their IDX files, plain or gzipped.

The format (LeCun, Cortes and Burges, http://yann.lecun.com/exdb/mnist): two zero bytes, a byte
for the type (8 = unsigned byte), a byte for the number of dimensions, each dimension as a
big-endian 32-bit integer, then the values with the last dimension running fastest.
"""

import gzip
import math
import os
import struct
import zlib
from pathlib import Path
from typing import BinaryIO, Literal, cast

import numpy as np
import torch

from ssplain.errors import SSplainError

# data set -> its sub-folder of the data folder
FOLDERS = {"mnist": "mnist", "fmnist": "fashion-mnist"}
CLASSES = {
    "mnist": tuple("0123456789"),
    "fmnist": (
        "T-shirt/top",
        "Trouser",
        "Pullover",
        "Dress",
        "Coat",
        "Sandal",
        "Shirt",
        "Sneaker",
        "Bag",
        "Ankle boot",
    ),
}
SIZE = (28, 28)

_PREFIX = {"train": "train", "test": "t10k"}
_UNSIGNED_BYTE = 8
# Deflate cannot shrink anything by more than this, so a header that promises more is a lie.
_BEST_COMPRESSION = 1032
_AGAIN = "; fetch the file again"


def load(
    dataset: str, folder: str | Path | None = None, split: Literal["train", "test"] = "train"
) -> tuple[torch.Tensor, torch.Tensor]:
    """Read one split of MNIST or Fashion-MNIST.

    Args:
        dataset: "mnist" or "fmnist".
        folder: Holds `mnist/` and `fashion-mnist/`, or the four IDX files themselves; None takes
            the folder that the environment variable SSPLAIN_DATA names.
        split: "train" (60,000 images) or "test" (10,000).

    Returns:
        Images (N, 28, 28) as unsigned bytes, and labels (N,) as 64-bit integers.

    Raises:
        SSplainError: If a file is missing, or is not what its name says.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> header = bytes([0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 28, 0, 0, 0, 28])
        >>> _ = (folder / "t10k-images-idx3-ubyte").write_bytes(header + bytes(28 * 28))
        >>> _ = (folder / "t10k-labels-idx1-ubyte").write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 1, 7]))
        >>> images, labels = load("mnist", folder, split="test")
        >>> images.shape, labels
        (torch.Size([1, 28, 28]), tensor([7]))
    """
    if dataset not in FOLDERS:
        raise SSplainError(
            f"There is no data set {dataset!r} of IDX files; choose one of: {', '.join(FOLDERS)}."
        )
    if split not in _PREFIX:
        raise SSplainError(f"There is no split {split!r}; choose one of: {', '.join(_PREFIX)}.")
    image_path = _find(dataset, folder, f"{_PREFIX[split]}-images-idx3-ubyte")
    label_path = _find(dataset, folder, f"{_PREFIX[split]}-labels-idx1-ubyte")
    images, labels = read_idx(image_path, dimensions=3), read_idx(label_path, dimensions=1)
    if images.shape[1:] != SIZE:
        raise SSplainError(
            f"{image_path} holds images of {images.shape[1]}x{images.shape[2]} pixels, not 28x28; "
            f"give a folder with the files of {dataset}."
        )
    if len(images) != len(labels) or not len(images):
        raise SSplainError(
            f"{image_path} holds {len(images)} images but {label_path} holds {len(labels)} labels; "
            "give two files of the same split."
        )
    if labels.max() >= len(CLASSES[dataset]):
        raise SSplainError(
            f"{label_path} holds the label {labels.max()}, but {dataset} has classes 0 to "
            f"{len(CLASSES[dataset]) - 1}{_AGAIN}."
        )
    return torch.from_numpy(images), torch.from_numpy(labels.astype(np.int64))


def read_idx(path: str | Path, dimensions: int) -> np.ndarray:
    """Read an IDX file of unsigned bytes, checking its header against its length.

    Args:
        path: The file; it is unpacked if it starts like a gzip file, whatever its name.
        dimensions: How many dimensions the array must have.

    Returns:
        A writable array of unsigned bytes.

    Raises:
        SSplainError: If the file is missing, damaged, cut off, too long, or holds something else.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "labels"
        >>> _ = path.write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 3, 7, 2, 1]))
        >>> read_idx(path, dimensions=1)
        array([7, 2, 1], dtype=uint8)
    """
    path = Path(path)
    try:
        with path.open("rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            stream = cast("BinaryIO", gzip.GzipFile(fileobj=raw)) if packed else raw
            return _read(stream, path, dimensions)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise SSplainError(f"{path} is a damaged gzip file ({error}){_AGAIN}.") from error
    except OSError as error:
        raise SSplainError(
            f"{path} cannot be read ({error.strerror}); check the path and its permissions."
        ) from error


def _read(stream: BinaryIO, path: Path, dimensions: int) -> np.ndarray:
    head = stream.read(4)
    if len(head) < 4 or head[:2] != b"\0\0":
        raise SSplainError(
            f"{path} starts with {head.hex(' ') or 'nothing'} instead of the two zero bytes of an "
            f"IDX file{_AGAIN}."
        )
    if head[2] != _UNSIGNED_BYTE:
        raise SSplainError(
            f"{path} holds IDX type 0x{head[2]:02x}, not unsigned bytes (0x08){_AGAIN}."
        )
    if head[3] != dimensions:
        raise SSplainError(
            f"{path} holds {head[3]} dimension(s) where {dimensions} are needed; check that images "
            "and labels have not been swapped."
        )
    sizes = stream.read(4 * dimensions)
    if len(sizes) < 4 * dimensions:
        raise SSplainError(f"{path} ends within its header{_AGAIN}.")
    shape = struct.unpack(f">{dimensions}I", sizes)
    count = math.prod(shape)
    values = b""
    if count <= _BEST_COMPRESSION * path.stat().st_size:
        values = stream.read(count + 1)
    if len(values) != count:
        found = "more" if len(values) > count else f"only {len(values)}"
        raise SSplainError(
            f"{path} promises {' x '.join(map(str, shape))} = {count} bytes of data but holds "
            f"{found}{_AGAIN}."
        )
    return np.frombuffer(bytearray(values), dtype=np.uint8).reshape(shape)


def _find(dataset: str, folder: str | Path | None, name: str) -> Path:
    folder = folder or os.environ.get("SSPLAIN_DATA")
    if not folder:
        raise SSplainError(
            f"The {dataset} files are needed: give their folder with --data (folder= in Python), "
            "or set SSPLAIN_DATA to it."
        )
    places = [
        parent / file
        for parent in (Path(folder) / FOLDERS[dataset], Path(folder))
        for file in (f"{name}.gz", name)
    ]
    found = [place for place in places if place.is_file()]
    if not found:
        raise SSplainError(
            f"Found no {name} or {name}.gz in {folder} or {places[0].parent}; give the folder that "
            f"holds the IDX files of {dataset}."
        )
    return found[0]
