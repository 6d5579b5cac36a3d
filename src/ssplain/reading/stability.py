"""How far a grade moves when the picture changes a little, as between two shots of one eye."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import ndimage
from torch.nn import functional

from ssplain.reading.opinion import Opinion

Image = NDArray[np.float32]  # (H, W) or (H, W, 3)
MIRRORED = (
    "mirrored"  # a left eye seen as a right one; of all these changes the one that tells most
)


@dataclass(frozen=True)
class Stability:
    """What the network says of slightly changed pictures.

    Attributes:
        opinions: by the name of the change.
        lowest: the lowest severity among them and the picture itself.
        highest: the highest.
        steady: whether the grade is the same for all.
    """

    opinions: Mapping[str, Opinion]
    lowest: float
    highest: float
    steady: bool

    @staticmethod
    def of(whole: Opinion, opinions: Mapping[str, Opinion]) -> "Stability":
        """Sum up.

        >>> one = Opinion((0.0, 1.0, 0.0), "Pre-plus", 5.0)
        >>> found = Stability.of(one, {"darker": Opinion((0.0, 0.5, 0.5), "Pre-plus", 7.0)})
        >>> found.lowest, found.highest, found.steady
        (5.0, 7.0, True)
        """
        every = [whole, *opinions.values()]
        severities = [opinion.severity for opinion in every]
        same = len({opinion.grade for opinion in every}) == 1
        return Stability(dict(opinions), min(severities), max(severities), same)


def changes(image: Image, scale: float = 1.0) -> dict[str, Image]:
    """Make slightly changed pictures: brightness, blur, rotation, scale, mirrored.

    Args:
        image: (H, W) vessels or (H, W, 3) photograph in [0, 1].
        scale: px of the blur; what counts as little depends on the resolution.

    Returns:
        The changed pictures by name; what is black stays exactly 0.

    Example:
        >>> found = changes(np.ones((8, 8), np.float32))
        >>> sorted(found)
        ['10 % brighter', '10 % darker', 'blurred', 'larger by 5 %', 'mirrored',
         'smaller by 5 %', 'turned by 5°']
    """
    flat = (0.0,) * (image.ndim - 2)
    made: dict[str, Callable[[], NDArray[np.floating]]] = {
        "10 % darker": lambda: 0.9 * image,
        "10 % brighter": lambda: 1.1 * image,
        "blurred": lambda: _cut(ndimage.gaussian_filter(image, (scale, scale, *flat))),
        "turned by 5°": lambda: _warped(image, 5.0, 1.0),
        "larger by 5 %": lambda: _warped(image, 0.0, 1.05),
        "smaller by 5 %": lambda: _warped(image, 0.0, 1 / 1.05),
        MIRRORED: lambda: image[:, ::-1],
    }
    return {name: np.clip(make(), 0, 1).astype(np.float32) for name, make in made.items()}


def _warped(image: Image, degrees: float, zoom: float) -> NDArray[np.floating]:
    """Turn and enlarge around the middle; what comes from outside is black."""
    height, width = image.shape[:2]
    sine, cosine = np.sin(np.radians(degrees)) / zoom, np.cos(np.radians(degrees)) / zoom
    # columns before rows, both from -1 to 1
    turn = [
        [cosine, sine * (height - 1) / (width - 1), 0],
        [-sine * (width - 1) / (height - 1), cosine, 0],
    ]
    grid = functional.affine_grid(
        torch.tensor([turn], dtype=torch.float32), [1, 1, height, width], align_corners=True
    )
    planes = torch.from_numpy(image.reshape(1, height, width, -1)).permute(0, 3, 1, 2)
    moved = functional.grid_sample(planes, grid, align_corners=True)
    return _cut(moved[0].permute(1, 2, 0).numpy().reshape(image.shape))


def _cut(image: NDArray[np.floating]) -> NDArray[np.floating]:
    """Interpolation leaves a faint rim; the ground stays black."""
    return np.where(image < 0.02, 0.0, image)
