"""Vessels of a photograph, by a small U-Net.

It takes the question apart. The map of courses says where somebody would draw a vessel; it learns
that from strokes, and from painted trees. The map of widths says which pixels near a vessel belong
to it; it learns that from paint alone, whose widths are known. A pixel is vessel as far as there is
one, times how far it belongs to it: the product. It is asked about the mirror image, too.
"""

from functools import cache

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import ndimage
from skimage.morphology import remove_small_objects

from ssplain.errors import SSplainError
from ssplain.fundus.field import Field
from ssplain.fundus.photo import Photo, as_photo, resized
from ssplain.fundus.plate import plate
from ssplain.models import load
from ssplain.models.unet import UNet

DIAMETER = 640.0  # pixels of the field of view at which the network looks
REACH = 20.0  # pixels over which the lighting is averaged
WIDTHS = (32, 48, 96, 128, 160)
FAINT, SURE = 0.1, 0.3  # below it there is no vessel; what each costs is in docs/photographs.md
_RIM = 3  # pixels of the plate at its edge, where nothing can be said
_NEAR = 4  # pixels of the plate around one, among which the surest is looked for
_FAINTEST = 0.05  # where the surest is less, there is nothing to go by
_SPECK = 60  # pixels of the plate; smaller parts are noise


def new_network() -> UNet:
    """Return the vessel network with fresh weights.

    Example:
        >>> sum(p.numel() for p in new_network().parameters()) < 2_000_000
        True
    """
    return UNet(3, WIDTHS, maps=2)


def segment(
    photo: Photo,
    network: torch.nn.Module | None = None,
    view: Field | None = None,
    *,
    least: float = FAINT,
) -> NDArray[np.float32]:
    """Find the retinal vessels of a fundus photograph.

    Args:
        photo: array or tensor, (H, W, 3) or (3, H, W), bytes or floats in [0, 1]; any size from
            32 px, any camera.
        network: one of your own training (`ssplain.models.load`); the bundled one by default.
        view: the field of view, if it is known; found otherwise.
        least: what is less sure than that, between 0 and 1, is no vessel: `FAINT` or `SURE`.

    Returns:
        (H, W) in [0, 1]: how far a pixel is vessel, exactly 0 where there is none.
    """
    if not 0 < least < 1:
        raise SSplainError(
            f"least={least!r} does not work; give a number between 0 and 1, such as {FAINT} for "
            f"faint vessels, too, or {SURE} for those that are sure."
        )
    pixels = as_photo(photo)
    ready = plate(pixels, DIAMETER, view)
    inner = ndimage.binary_erosion(ready.inside, iterations=_RIM)
    share, course = _both_ways(network or _network(), ready.tensor(REACH)) * inner
    soft = cleaned(course * beside_surest(share), least)
    height, width = pixels.shape[:2]
    fine = resized(soft[..., None], (height, width))[..., 0]
    return np.where(fine >= least / 2, fine, 0) * ready.field.mask


def probabilities(network: torch.nn.Module, image: torch.Tensor) -> NDArray[np.float32]:
    """Return what a network says of each pixel of an image (C, H, W), map by map."""
    with torch.inference_mode():
        soft: NDArray[np.float32] = torch.sigmoid(network(image[None]))[0].numpy()
    return soft


def _both_ways(network: torch.nn.Module, image: torch.Tensor) -> NDArray[np.float32]:
    """Return the mean of what a network says of an image and of its mirror image."""
    mirrored = probabilities(network, image.flip(-1))[..., ::-1]
    mean: NDArray[np.float32] = np.mean([probabilities(network, image), mirrored], axis=0)
    return mean


def beside_surest(share: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return a map as a share of its greatest value nearby.

    How sure the network is of a vessel's width falls with the vessel's contrast. Where the courses
    say that there is one, its surest pixels belong to it however faint it is.

    Example:
        >>> beside_surest(np.array([[0.2, 0.4, 0.1]], np.float32)).round(2).tolist()
        [[0.5, 1.0, 0.25]]
    """
    surest = ndimage.maximum_filter(share, size=2 * _NEAR + 1)
    return (share / np.maximum(surest, _FAINTEST)).astype(np.float32)


def cleaned(vessel: NDArray[np.float32], least: float) -> NDArray[np.float32]:
    """Set to 0 what is no vessel: what is less likely than `least`, and specks."""
    kept = remove_small_objects(vessel >= least, max_size=_SPECK, connectivity=2)
    return np.where(kept, vessel, 0).astype(np.float32)


@cache
def _network() -> torch.nn.Module:
    return load("unet-vessels")
