"""The plate: a photograph as the networks see it, at one scale and without its lighting."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import ndimage

from ssplain.fundus.field import Field, field
from ssplain.fundus.photo import Photo, Pixels, as_photo, canonical_size, flat, resized

_RIM = 0.012  # share of the diameter at the rim of the field, where the lens shows
_EDGE = 0.004  # the same where the frame cuts the eye off


@dataclass(frozen=True)
class Plate:
    """A photograph at a scale at which its field of view has a given diameter.

    Attributes:
        photo: (h, w, 3) in [0, 1].
        inside: (h, w), the field of view without its rim.
        field: the field of view in the pixels of the photograph that was given.
        scale: pixels of the plate per pixel of the photograph.
    """

    photo: Pixels
    inside: NDArray[np.bool_]
    field: Field
    scale: float

    def tensor(self, reach: float) -> torch.Tensor:
        """Return the plate as a network's input (3, h, w), see `ssplain.fundus.photo.flat`."""
        even = flat(self.photo, self.inside, reach)
        return torch.from_numpy(np.ascontiguousarray(even.transpose(2, 0, 1)))


def plate(photo: Photo, diameter: float, view: Field | None = None) -> Plate:
    """Bring a photograph to the scale at which its field of view has a diameter in px.

    Args:
        photo: see `ssplain.fundus.photo.as_photo`.
        diameter: of the field of view in px of the plate.
        view: the field of view, if it is known; found otherwise.

    Example:
        >>> plate(np.full((100, 120, 3), 0.5), 640).photo.shape
        (410, 492, 3)
    """
    pixels = as_photo(photo)
    view = field(pixels) if view is None else view
    size = canonical_size((pixels.shape[0], pixels.shape[1]), view, diameter)
    inside = resized(view.mask.astype(np.float32)[..., None], size)[..., 0] > 0.5
    deep = ndimage.distance_transform_edt(np.pad(inside, 1))[1:-1, 1:-1]
    inside = deep > (_RIM if view.bounded else _EDGE) * diameter
    return Plate(resized(pixels, size), inside, view, diameter / (2 * view.radius))
