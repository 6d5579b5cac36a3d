"""Training the vessel network on strokes and painted trees."""

from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from ssplain.data.hvdropdb import CAMERAS, eyes
from ssplain.fundus.segment import new_network
from ssplain.models.unet import UNet
from ssplain.sheets.sheet import Pool
from ssplain.sheets.strokes import prepare, sheet
from ssplain.train.pixels import Batch, Plan, Round, fit

PLAN = Plan(epochs=400, steps=60, lr=4e-3, memory=200)
_ALONG = 0.15  # weight of the lines along strokes; 0.5 finds more, and draws it too wide


def train_vessels(
    data: Path | None,
    plan: Plan = PLAN,
    *,
    checkpoint: Path | None = None,
    progress: Callable[[Round], None] | None = None,
) -> UNet:
    """Train the vessel network on the photographs of HVDROPDB that are not left out."""
    ready = [prepare(eye) for camera in CAMERAS for eye in eyes(data, "vessels", camera, "train")]
    pool = Pool(lambda index: sheet(ready, plan.seed, index), plan.seed, side=192, batch=4, fresh=4)
    return fit(
        new_network, pool.batches, vessel_loss, plan, checkpoint=checkpoint, progress=progress
    )


def vessel_loss(logits: Tensor, batch: Batch) -> Tensor:
    """Return the loss of the maps of widths and of courses.

    Of each map, where the truth is known: weighted cross-entropy. Of the courses also one minus the
    Dice overlap where there is something to find; it makes what is found wider, so the widths are
    spared it. Along lines snapped to drawn vessels the map of widths has to find one, a block of
    2 x 2 pixels, within two pixels; how wide is not asked, for a stroke does not say.

    Example:
        >>> truth = torch.zeros(1, 2, 16, 16)
        >>> truth[..., 7:9, :] = 1
        >>> batch = torch.zeros(1), truth, torch.ones_like(truth), torch.zeros(1, 1, 16, 16)
        >>> bool(vessel_loss(20 * truth - 10, batch) < 0.01 < vessel_loss(truth - 3, batch))
        True
    """
    _, target, weight, line = batch
    maps = (0, 2, 3)
    entropy = functional.binary_cross_entropy_with_logits(logits, target, reduction="none")
    known = (weight * entropy).sum(maps) / weight.sum(maps).clamp(min=1)
    there = (target.amax((2, 3), keepdim=True) > 0) * weight
    soft = torch.sigmoid(logits)
    overlap = (there * soft * target).sum(maps)
    mass = (there * (soft + target)).sum(maps)
    dice = torch.where(mass > 0, 1 - (2 * overlap + 1) / (mass + 1), 0.0)
    # Whole blocks: asked for one pixel near the line, a network dots every fourth pixel instead.
    block = functional.avg_pool2d(functional.logsigmoid(logits[:, :1]), 2, stride=1)
    nearest = functional.max_pool2d(block, 4, stride=1, padding=2)
    missed = -(line * nearest).sum() / line.sum().clamp(min=200)
    return known.sum() + 0.5 * dice[1] + _ALONG * missed
