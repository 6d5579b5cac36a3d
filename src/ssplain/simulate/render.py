"""Draws vessel courses as a segmentation network would: soft edges on an exactly black ground."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, zoom

from ssplain.simulate.anatomy import SIZE, Array
from ssplain.simulate.appearance import Appearance
from ssplain.simulate.discs import depths

_CLOSE = 1.2  # pixels between two samples; bent vessels are stretched further


@dataclass(frozen=True)
class Drawing:
    """One drawn tree.

    Attributes:
        image: (H, W) float32, multiples of 1/255, exactly zero off the vessels.
        owner: (H, W) index of the vessel drawn at each pixel, -1 off the vessels.
        sample: (H, W) index of the sample of that vessel nearest to the pixel.
    """

    image: NDArray[np.float32]
    owner: NDArray[np.int32]
    sample: NDArray[np.int32]

    def only(self, count: int) -> "Drawing":
        """Return the same with none but the first `count` vessels known as such."""
        known = self.owner < count
        return Drawing(
            self.image, np.where(known, self.owner, -1), np.where(known, self.sample, -1)
        )


def draw(
    rng: np.random.Generator,
    points: Sequence[Array],
    widths: Sequence[Array],
    lights: Sequence[Array],
    *,
    look: Appearance,
    visible: NDArray[np.bool_],
) -> Drawing:
    """Draw courses, given in image coordinates (column, row), inside the field of view.

    A pixel at distance d from a sample of half-width r lies `r - d` deep in the vessel. The largest
    depth over all samples decides to which vessel the pixel belongs; a logistic of it times the
    light there is the segmentation's certainty c, and `gain c^gamma` its value, 0 where c is below
    the threshold. Samples without light are not drawn.

    Example:
        >>> from ssplain.simulate.appearance import draw_appearance
        >>> line = np.stack([np.arange(20.0, 200), np.full(180, 100.0)], axis=1)
        >>> seen = np.ones((224, 224), bool)
        >>> rng = np.random.default_rng(0)
        >>> look = draw_appearance(rng)
        >>> width, light = np.full(180, 4.0), np.ones(180)
        >>> drawing = draw(rng, [line], [width], [light], look=look, visible=seen)
        >>> bool(drawing.image[100, 100] > 0.4), float(drawing.image[110, 100])
        (True, 0.0)
    """
    places = [_places(p) for p in points]
    light = np.concatenate([_at(x, at) for x, at in zip(lights, places, strict=True)])
    lit = light > 0.02
    discs = np.concatenate([_at(p, at) for p, at in zip(points, places, strict=True)])[lit]
    radii = np.concatenate([_at(w, at) for w, at in zip(widths, places, strict=True)])[lit] / 2
    depth, nearest = depths(discs, radii, (SIZE, SIZE), 3 * look.softness)
    vessel = np.repeat(np.arange(len(places)), [len(at) for at in places])[lit]
    within = np.rint(np.concatenate(places)).astype(int)[lit]
    soft = light[lit][nearest] / (1 + np.exp(-np.clip(depth / look.softness, -20, 20)))
    soft *= _texture(rng, look.grain)
    soft[(soft < look.threshold) | ~visible] = 0
    value = (soft > 0) * 1.0 if look.binary else look.gain * np.clip(soft, 0, 1) ** look.gamma
    image = (np.rint(255 * np.clip(value, 0, 1)) / 255).astype(np.float32)
    shown = image > 0
    return Drawing(
        image,
        np.where(shown, vessel[nearest], -1).astype(np.int32),
        np.where(shown, within[nearest], -1).astype(np.int32),
    )


def _places(points: Array) -> Array:
    """Places along a course, in samples, that are so close that discs there leave no gaps."""
    pace = np.hypot(*np.diff(points, axis=0).T)
    finer = max(1, math.ceil(pace.max() - _CLOSE + 1))
    return np.linspace(0, len(points) - 1, finer * (len(points) - 1) + 1)


def _at(values: Array, places: Array) -> Array:
    """Values of samples, one or two each, interpolated at places between them."""
    before = places.astype(int)
    share = (places - before).reshape(-1, *[1] * (values.ndim - 1))
    after = np.minimum(before + 1, len(values) - 1)
    between: Array = (1 - share) * values[before] + share * values[after]
    return between


def _texture(rng: np.random.Generator, grain: float) -> Array:
    """Unevenness of a network's output: slow over the image, and a little from pixel to pixel."""
    slow = zoom(rng.standard_normal((8, 8)), SIZE / 8, order=1)
    fast = gaussian_filter(rng.standard_normal((SIZE, SIZE)), 0.7)
    return 1 + grain * (slow + 1.2 * fast)
