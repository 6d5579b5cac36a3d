"""Training the disc network on drawn discs, and on photographs in which there is none."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, rotate
from torch import Tensor
from torch.nn import functional

from ssplain.data.hvdropdb import CAMERAS, WITHOUT_DISC, Eye, eyes
from ssplain.fundus.disc import DISC_DIAMETER, DISC_REACH, new_disc_network
from ssplain.fundus.photo import Pixels, flat, resized
from ssplain.fundus.plate import plate
from ssplain.models.unet import UNet
from ssplain.sheets.sheet import Pool, Sheet, as_sheet
from ssplain.sheets.wear import worn
from ssplain.train.pixels import Batch, Plan, Round, fit

DISC_PLAN = Plan(epochs=30, steps=40)
_SIDE = 192  # pixels of a patch, a multiple of what the network folds and halves


def train_disc(
    data: Path | None,
    plan: Plan = DISC_PLAN,
    *,
    checkpoint: Path | None = None,
    progress: Callable[[Round], None] | None = None,
) -> UNet:
    """Train the disc network on the photographs of HVDROPDB that are not left out."""
    ready = [_prepared(eye) for eye in disc_eyes(data)]
    pool = Pool(lambda i: disc_sheet(ready, plan.seed, i), plan.seed, side=_SIDE, size=90, fresh=15)
    return fit(
        new_disc_network, pool.batches, disc_loss, plan, checkpoint=checkpoint, progress=progress
    )


def disc_eyes(data: Path | None) -> list[Eye]:
    """Photographs with a drawn disc, and photographs of the vessel folders without one."""
    drawn = [eye for camera in CAMERAS for eye in eyes(data, "disc", camera, "train")]
    without = [
        Eye(eye.name, eye.photo, np.zeros_like(eye.mask))
        for camera in CAMERAS
        for eye in eyes(data, "vessels", camera, "train")
        if eye.name in WITHOUT_DISC
    ]
    return drawn + without


def disc_loss(logits: Tensor, batch: Batch) -> Tensor:
    """Cross-entropy of every pixel, and one minus the Dice overlap where there is a disc.

    Example:
        >>> truth = torch.zeros(1, 1, 16, 16)
        >>> truth[..., 5:9, 5:9] = 1
        >>> batch = torch.zeros(1), truth, torch.ones_like(truth), torch.zeros_like(truth)
        >>> bool(disc_loss(20 * truth - 10, batch) < 0.01 < disc_loss(truth - 3, batch))
        True
    """
    _, target, weight, _ = batch
    entropy = functional.binary_cross_entropy_with_logits(logits, target, reduction="none")
    soft = torch.sigmoid(logits) * weight
    overlap, mass = (soft * target).sum(), (soft + target).sum()
    dice = 1 - (2 * overlap + 1) / (mass + 1)
    return (weight * (1 + 4 * target) * entropy).sum() / weight.sum() + 0.5 * dice


def disc_sheet(ready: Sequence[tuple[Pixels, Pixels, Pixels]], seed: int, index: int) -> Sheet:
    """Make sheet number `index` of the endless series `seed`."""
    rng = np.random.default_rng([seed, index])
    photo, inside, disc = ready[int(rng.integers(len(ready)))]
    scale = float(np.exp(rng.uniform(np.log(0.8), np.log(1.5))))
    size = round(photo.shape[0] * scale), round(photo.shape[1] * scale)
    stack = resized(np.concatenate([photo, inside, disc], axis=2), size)
    if rng.random() < 0.7:
        stack = rotate(stack, float(rng.uniform(-40, 40)), reshape=False, order=1)
    view = stack[..., 3] > 0.5
    image = worn(np.clip(stack[..., :3], 0, 1), rng)
    if rng.random() < 0.3:
        image = _with_reflections(image, rng)
    sheet = flat(image, view, DISC_REACH)
    return _padded(sheet, np.where(stack[..., 4] > 0.5, 1.0, 0.0), view)


def _prepared(eye: Eye) -> tuple[Pixels, Pixels, Pixels]:
    ready = plate(eye.photo, DISC_DIAMETER)
    disc = resized(
        eye.mask.astype(np.float32)[..., None], (ready.inside.shape[0], ready.inside.shape[1])
    )
    return ready.photo, ready.inside.astype(np.float32)[..., None], disc


def _with_reflections(photo: Pixels, rng: np.random.Generator) -> Pixels:
    """Bright specks and smears that are no disc."""
    height, width = photo.shape[:2]
    light = np.zeros((height, width))
    for _ in range(rng.integers(1, 6)):
        light[rng.integers(height), rng.integers(width)] = rng.uniform(0.5, 1)
    sigma = rng.uniform(0.8, 4, size=2)
    light = gaussian_filter(light, sigma) * 2 * np.pi * sigma.prod()
    tint = np.array([1.0, rng.uniform(0.85, 1), rng.uniform(0.6, 1)])
    lit = photo + rng.uniform(0.1, 0.5) * light[..., None] * tint
    clipped: Pixels = np.clip(lit, 0, 1).astype(np.float32)
    return clipped


def _padded(image: Pixels, disc: NDArray[Any], view: NDArray[Any]) -> Sheet:
    """Return a sheet that holds at least one patch, unknown beyond its edge."""
    height, width = view.shape
    rows, columns = max(0, _SIDE - height), max(0, _SIDE - width)
    pad = ((rows // 2, rows - rows // 2), (columns // 2, columns - columns // 2))
    inside = np.pad(view, pad)
    return as_sheet(
        np.pad(image, (*pad, (0, 0))),
        [np.pad(disc, pad)],
        [inside.astype(np.float32)],
    )
