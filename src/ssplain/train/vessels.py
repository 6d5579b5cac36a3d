"""Training the vessel network on strokes and painted trees."""

from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from ssplain.data.hvdropdb import CAMERAS, eyes
from ssplain.fundus.segment import new_network
from ssplain.models.unet import UNet
from ssplain.train.pixels import Batch, Plan, Round, fit
from ssplain.train.sheets import Pool
from ssplain.train.strokes import prepare, sheet

PLAN = Plan(epochs=50, steps=60)
_ALONG = 0.06  # weight of the lines along strokes: twice their share of the pixels


def train_vessels(
    data: Path | None,
    plan: Plan = PLAN,
    *,
    checkpoint: Path | None = None,
    progress: Callable[[Round], None] | None = None,
) -> UNet:
    """Train the vessel network on the photographs of HVDROPDB that are not left out."""
    ready = [prepare(eye) for camera in CAMERAS for eye in eyes(data, "vessels", camera, "train")]
    pool = Pool(lambda index: sheet(ready, plan.seed, index), plan.seed, side=160)
    return fit(
        new_network, pool.batches, vessel_loss, plan, checkpoint=checkpoint, progress=progress
    )


def vessel_loss(logits: Tensor, batch: Batch) -> Tensor:
    """What a map of vessels costs.

    Where the truth is known: weighted cross-entropy, and one minus the Dice overlap of painted
    vessels. Along lines snapped to drawn vessels: cross-entropy; beside them nothing is asked, for
    a stroke says that there is a vessel, not how wide it is.

    Example:
        >>> truth = torch.zeros(1, 1, 16, 16)
        >>> truth[..., 7:9, :] = 1
        >>> batch = torch.zeros(1), truth, torch.ones_like(truth), torch.zeros_like(truth)
        >>> bool(vessel_loss(20 * truth - 10, batch) < 0.01 < vessel_loss(truth - 3, batch))
        True
    """
    _, target, weight, line = batch
    entropy = functional.binary_cross_entropy_with_logits(logits, target, reduction="none")
    known = (weight * entropy).sum() / weight.sum().clamp(min=1)
    painted = (target.amax((1, 2, 3), keepdim=True) > 0) * weight
    soft = torch.sigmoid(logits)
    overlap = (painted * soft * target).sum()
    mass = (painted * (soft + target)).sum()
    dice = torch.where(mass > 0, 1 - (2 * overlap + 1) / (mass + 1), torch.zeros_like(mass))
    found = (line * functional.softplus(-logits)).sum() / line.sum().clamp(min=200)
    return known + 0.5 * dice + _ALONG * found
