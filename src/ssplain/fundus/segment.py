"""Vessels of a photograph, by a small U-Net.

It gives two maps: the vessels in their width, and the courses along which somebody would draw one.
The second is there to learn from strokes, and helps the first; only the first is given.
"""

from functools import cache

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import ndimage
from skimage.morphology import remove_small_objects

from ssplain.fundus.field import Field
from ssplain.fundus.photo import Photo, as_photo, resized
from ssplain.fundus.plate import plate
from ssplain.models import load
from ssplain.models.unet import UNet

DIAMETER = 640.0  # pixels of the field of view at which the network looks
REACH = 20.0  # pixels over which the lighting is averaged
WIDTHS = (32, 48, 64, 72, 80)
_LEAST = 0.1  # below this probability there is no vessel
_RIM = 3  # pixels of the plate at its edge, where nothing can be said
_SPECK = 60  # pixels of the plate; smaller parts are noise


def new_network() -> UNet:
    """Return the vessel network with fresh weights.

    Example:
        >>> sum(p.numel() for p in new_network().parameters()) < 1_000_000
        True
    """
    return UNet(3, WIDTHS, maps=2)


def segment(
    photo: Photo, network: torch.nn.Module | None = None, view: Field | None = None
) -> NDArray[np.float32]:
    """Find the retinal vessels of a fundus photograph.

    Args:
        photo: array or tensor, (H, W, 3) or (3, H, W), bytes or floats in [0, 1]; any size from
            32 px, any camera.
        network: one of your own training (`ssplain.models.load`); the bundled one by default.
        view: the field of view, if it is known; found otherwise.

    Returns:
        (H, W) in [0, 1]: how far a pixel is vessel, exactly 0 where there is none.
    """
    pixels = as_photo(photo)
    ready = plate(pixels, DIAMETER, view)
    inner = ndimage.binary_erosion(ready.inside, iterations=_RIM)
    vessel, _ = probabilities(network or _network(), ready.tensor(REACH)) * inner
    soft = cleaned(vessel)
    height, width = pixels.shape[:2]
    fine = resized(soft[..., None], (height, width))[..., 0]
    return np.where(fine >= _LEAST / 2, fine, 0) * ready.field.mask


def probabilities(network: torch.nn.Module, image: torch.Tensor) -> NDArray[np.float32]:
    """Return what a network says of each pixel of an image (C, H, W), map by map."""
    with torch.inference_mode():
        soft: NDArray[np.float32] = torch.sigmoid(network(image[None]))[0].numpy()
    return soft


def cleaned(vessel: NDArray[np.float32]) -> NDArray[np.float32]:
    """Set to 0 what is no vessel: what is unlikely, and specks."""
    kept = remove_small_objects(vessel >= _LEAST, max_size=_SPECK, connectivity=2)
    return np.where(kept, vessel, 0).astype(np.float32)


@cache
def _network() -> torch.nn.Module:
    return load("unet-vessels")
