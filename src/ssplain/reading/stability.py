"""How far a grade moves when the picture changes a little, as between two shots of one eye."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from ssplain.reading.opinion import Opinion

Image = NDArray[np.float32]  # (H, W) or (H, W, 3)


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
    """Make slightly changed pictures: brightness, blur, rotation, scale.

    Args:
        image: (H, W) vessels or (H, W, 3) photograph in [0, 1].
        scale: px of the blur; what counts as little depends on the resolution.

    Returns:
        The changed pictures by name; what is black stays exactly 0.

    Example:
        >>> found = changes(np.ones((8, 8), np.float32))
        >>> sorted(found)
        ['10 % brighter', '10 % darker', 'blurred', 'larger by 5 %', 'smaller by 5 %',
         'turned by +5°', 'turned by -5°']
    """
    flat = (0.0,) * (image.ndim - 2)
    made: dict[str, Callable[[], NDArray[np.floating]]] = {
        "10 % darker": lambda: 0.9 * image,
        "10 % brighter": lambda: 1.1 * image,
        "blurred": lambda: _cut(ndimage.gaussian_filter(image, (scale, scale, *flat))),
        "turned by +5°": lambda: _warped(image, 5.0, 1.0),
        "turned by -5°": lambda: _warped(image, -5.0, 1.0),
        "larger by 5 %": lambda: _warped(image, 0.0, 1.05),
        "smaller by 5 %": lambda: _warped(image, 0.0, 1 / 1.05),
    }
    return {name: np.clip(make(), 0, 1).astype(np.float32) for name, make in made.items()}


def _warped(image: Image, degrees: float, zoom: float) -> NDArray[np.floating]:
    """Turn and enlarge around the middle; what comes from outside is black."""
    angle = np.radians(degrees)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) / zoom
    middle = (np.array(image.shape[:2]) - 1) / 2
    offset = middle - turn @ middle
    planes = image[..., None] if image.ndim == 2 else image
    moved = [
        ndimage.affine_transform(planes[..., at], turn, offset, order=1)
        for at in range(planes.shape[2])
    ]
    return _cut(np.stack(moved, axis=-1).reshape(image.shape))


def _cut(image: NDArray[np.floating]) -> NDArray[np.floating]:
    """Interpolation leaves a faint rim; the ground stays black."""
    return np.where(image < 0.02, 0.0, image)
