"""The optic disc of a photograph, by a small U-Net."""

from functools import cache

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import ndimage

from ssplain.fundus.field import Field
from ssplain.fundus.photo import Photo
from ssplain.fundus.plate import plate
from ssplain.fundus.segment import probabilities
from ssplain.models import load
from ssplain.models.unet import UNet

DISC_DIAMETER = 224.0  # pixels of the field of view at which the network looks
DISC_REACH = 30.0  # pixels over which the lighting is averaged
_WIDTHS = (16, 24, 32, 48, 64)
_SURE = 0.7  # a disc has a pixel of at least this probability
_SMALLEST = 2.5  # pixels of the plate; no infant's disc is smaller


def new_disc_network() -> UNet:
    """Return the disc network with fresh weights.

    Example:
        >>> new_disc_network()(torch.zeros(1, 3, 64, 64)).shape
        torch.Size([1, 1, 64, 64])
    """
    return UNet(3, _WIDTHS)


def find_disc(
    photo: Photo, network: torch.nn.Module | None = None, view: Field | None = None
) -> tuple[float, float, float] | None:
    """Find the optic disc of a fundus photograph.

    Args:
        photo: array or tensor, (H, W, 3) or (3, H, W), bytes or floats in [0, 1].
        network: one of your own training (`ssplain.models.load`); the bundled one by default.
        view: the field of view, if it is known; found otherwise.

    Returns:
        Row, column and radius in px, or None if no disc is in view or none can be told for sure.
    """
    ready = plate(photo, DISC_DIAMETER, view)
    soft = probabilities(network or _network(), ready.tensor(DISC_REACH))[0] * ready.inside
    found = largest_spot(soft)
    if found is None:
        return None
    row, column, radius = found
    return (
        (row + 0.5) / ready.scale - 0.5,
        (column + 0.5) / ready.scale - 0.5,
        radius / ready.scale,
    )


def largest_spot(soft: NDArray[np.float32]) -> tuple[float, float, float] | None:
    """Row, column and radius of the spot with the largest mass, or None if there is none.

    Example:
        >>> soft = np.zeros((40, 40), np.float32)
        >>> soft[10:20, 20:30] = 1
        >>> row, column, radius = largest_spot(soft)
        >>> row, column, round(radius, 1)
        (14.5, 24.5, 5.6)
        >>> largest_spot(0.4 * soft) is None
        True
    """
    labels, count = ndimage.label(soft > 0.3)
    if not count:
        return None
    numbers = np.arange(1, count + 1)
    mass = ndimage.sum_labels(soft, labels, numbers)
    best = int(numbers[np.argmax(mass)])
    radius = float(np.sqrt(mass.max() / np.pi))
    if soft[labels == best].max() < _SURE or radius < _SMALLEST:
        return None
    row, column = ndimage.center_of_mass(soft, labels, best)
    return float(row), float(column), radius


@cache
def _network() -> torch.nn.Module:
    return load("unet-disc")
