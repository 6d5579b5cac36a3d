"""Image files as tensors, and tensors of another size."""

from pathlib import Path

import torch
from torch.nn import functional

from ssplain.errors import SSplainError
from ssplain.pictures import read_pixels


def read_image(path: str | Path, page: int | None = None) -> torch.Tensor:
    """Read a PNG, TIFF, JPEG, BMP or GIF file.

    1-bit, 8-bit, 16-bit, palette and colour images are scaled by their largest possible value;
    32-bit floats must be in [0, 1] already. Pillow reads 16-bit colour with 8 bits. The picture is
    turned as its EXIF tag says. Transparent parts are laid on black, the background that the
    method takes for "nothing here". Colour whose channels are all equal comes out as one channel.

    Args:
        path: The file.
        page: Which image of a TIFF that holds several, from 0; such a file is refused without.

    Returns:
        The image (C, H, W) in [0, 1] with C = 1 or 3, as 32-bit floats.

    Raises:
        SSplainError: If there is no such file, or it is not one whole image of these kinds.

    Example:
        >>> import tempfile
        >>> from PIL import Image
        >>> path = Path(tempfile.mkdtemp()) / "dot.png"
        >>> Image.new("RGB", (3, 2), (255, 255, 255)).save(path)
        >>> read_image(path).shape
        torch.Size([1, 2, 3])
    """
    return torch.from_numpy(read_pixels(path, page))


def resize(image: torch.Tensor, size: tuple[int, int]) -> torch.Tensor:
    """Bring an image to another size, averaging where it shrinks so that thin lines survive.

    Args:
        image: The image (C, H, W) in [0, 1].
        size: The new height and width.

    Returns:
        The image (C, *size) in [0, 1]; the image itself if it has that size already.

    Raises:
        SSplainError: If a side of the new size is below 1.

    Example:
        >>> resize(torch.ones(1, 8, 8), (2, 4)).shape
        torch.Size([1, 2, 4])
    """
    if min(size) < 1:
        raise SSplainError(f"Cannot resize to {size[0]}x{size[1]} pixels; give sides of 1 or more.")
    if tuple(image.shape[-2:]) == tuple(size):
        return image
    scaled = functional.interpolate(image[None], size=size, mode="bilinear", antialias=True)
    return scaled[0].clamp(0, 1)
