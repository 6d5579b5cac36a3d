"""From a map to an order of pixels: who is inserted first, and how many at each step.

Only the order of a map is scored, never its values: pixels come in from the highest score to the
lowest. Equal scores are put into a random order that the seed fixes; how many pixels are concerned
is reported as the tie share, since an order with many ties is mostly luck.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

from ssplain.errors import SSplainError
from ssplain.question.inputs import Support, find_support

Axis = Literal["all", "support", "kappa"]
AXES: tuple[Axis, ...] = get_args(Axis)
PAPER_POINTS = 26  # the paper's grid: 25 steps of 4 %
FINE_POINTS = 101  # steps of 1 %: 26 points miss much of a curve that rises early


@dataclass(frozen=True, eq=False)
class Order:
    """The pixels of N images, each from first to last.

    Attributes:
        pixels: `(N, P)` flat positions, the highest score first.
        rank: `(N, P)` the place of each pixel in that order, from 0.
        size: `(N,)` how many pixels are ranked; those after them come in no meaningful order.
        tie_share: `(N,)` the share of the ranked pixels whose score another one has too.
    """

    pixels: Tensor
    rank: Tensor
    size: Tensor
    tie_share: Tensor


def check_maps(maps: Tensor, images: Tensor) -> Tensor:
    """Return maps `(N, 1, H, W)` on the images' device, or complain.

    >>> check_maps(torch.zeros(2, 1, 3, 3), torch.zeros(2, 3, 3, 3)).shape
    torch.Size([2, 1, 3, 3])
    """
    wanted = (len(images), 1, *images.shape[-2:])
    if not isinstance(maps, Tensor):
        raise SSplainError(f"The maps are a {type(maps).__name__}; give a torch tensor {wanted}.")
    if tuple(maps.shape) != wanted:
        raise SSplainError(
            f"The maps have shape {tuple(maps.shape)} and the images {tuple(images.shape)}; give "
            f"one value per pixel, {wanted} (sum over the channels if there are several)."
        )
    maps = maps.detach().to(images.device)
    bad = ~torch.isfinite(maps).flatten(1).all(1)
    if bool(bad.any()):
        raise SSplainError(
            f"Map {int(bad.nonzero()[0])} holds NaN or infinite values; it ranks nothing: compute "
            "it again, or leave that image out."
        )
    return maps if maps.is_floating_point() else maps.double()


def rank_pixels(maps: Tensor, inside: Tensor | None = None, seed: int = 0) -> Order:
    """Order the pixels of each map from the highest score to the lowest.

    Negative scores come after positive ones; their size is not looked at. The seed draws one
    order of all pixels in which equal scores follow each other, the same for each image, so that
    an image's order does not depend on the others.

    Args:
        maps: `(N, 1, H, W)`, finite.
        inside: `(N, 1, H, W)` boolean; only these pixels are ranked, the others come last.
        seed: of the order among equal scores.

    >>> order = rank_pixels(torch.tensor([[[[0.1, 0.9, -5.0, 0.1]]]]))
    >>> order.pixels[0, 0].item(), order.pixels[0, 3].item(), order.tie_share.item()
    (1, 2, 0.5)
    """
    values = maps.flatten(1)
    n, size = values.shape
    ranked = torch.full((n,), size, device=maps.device)
    if inside is not None:
        values = values.masked_fill(~inside.flatten(1), -torch.inf)
        ranked = inside.flatten(1).sum(1)
    shuffled = torch.randperm(size, generator=torch.Generator().manual_seed(seed)).to(maps.device)
    down, index = values[:, shuffled].sort(dim=1, descending=True, stable=True)
    pixels = shuffled[index]
    places = torch.arange(size, device=maps.device).expand(n, -1)
    equal = down[:, 1:] == down[:, :-1]
    none = equal.new_zeros(n, 1)
    tied = torch.cat([none, equal], 1) | torch.cat([equal, none], 1)
    ties = (tied & (places < ranked[:, None])).sum(1) / ranked.clamp(min=1)
    return Order(pixels, torch.empty_like(pixels).scatter_(1, pixels, places), ranked, ties)


def steps(
    images: Tensor,
    maps: Tensor,
    axis: Axis = "all",
    points: int = FINE_POINTS,
    *,
    support: Support = "nonzero",
    seed: int = 0,
) -> tuple[Order, Tensor]:
    r"""Return the order of the pixels, and how many of them are in at each step of an axis.

    Args:
        images: `(N, C, H, W)`.
        maps: `(N, 1, H, W)`.
        axis: "all" (a share of all pixels, as in the paper: the background counts), "support" (a
            share of the support, ranked within it alone), or "kappa" (a share of the image's
            brightness, \(\kappa_s = \|X_s\|_1 / \|X\|_1\): the fewest first pixels that reach it,
            so every image is measured on the same grid and nothing is interpolated).
        points: how many steps, evenly spaced from 0 to 1.
        support: for axis="support"; see `ssplain.question.inputs.find_support`.
        seed: of the order among equal scores.

    Returns:
        The order, and counts `(N, points)`.

    >>> X = torch.tensor([[[[0.0, 1.0, 3.0, 0.0]]]])
    >>> M = torch.tensor([[[[4.0, 3.0, 2.0, 1.0]]]])
    >>> [steps(X, M, axis, 3)[1].tolist()[0] for axis in AXES]
    [[0, 2, 4], [0, 1, 2], [0, 3, 3]]
    """
    if axis not in AXES:
        raise SSplainError(f"axis={axis!r} is not known; use one of: {', '.join(AXES)}.")
    if points < 2:
        raise SSplainError(f"points={points!r} does not work; give a whole number of at least 2.")
    levels = torch.linspace(0, 1, points, dtype=torch.float64)  # on the CPU: others may lack it
    maps = check_maps(maps, images)
    if axis == "kappa":
        find_support(images, "nonzero")  # a black image has no brightness to share out
        order = rank_pixels(maps, seed=seed)
        share = brightness_share(images, order).contiguous()
        wanted = (levels - 1e-9).expand(len(images), -1).contiguous()
        counts = torch.where(levels > 0, torch.searchsorted(share, wanted) + 1, 0)
        return order, counts.to(images.device)
    inside = find_support(images, support) if axis == "support" else None
    order = rank_pixels(maps, inside, seed)
    counts = (order.size[:, None].cpu() * levels + 0.5).floor().long()
    return order, counts.to(images.device)


def brightness_share(images: Tensor, order: Order) -> Tensor:
    """Return on the CPU, `(N, P)`, the share of brightness that the first 1, 2, ... pixels hold."""
    bright = images.abs().sum(1).flatten(1).cpu().double()
    bright = bright.gather(1, order.pixels.cpu()).cumsum(1)
    return bright / bright[:, -1:].clamp(min=torch.finfo(torch.float64).tiny)


def at_counts(running: Tensor, counts: Tensor) -> Tensor:
    """Read running totals `(N, P)` after each of the counts `(N, S)`; after none of them it is 0.

    >>> at_counts(torch.tensor([[1.0, 3.0]]), torch.tensor([[0, 2]]))
    tensor([[0., 3.]])
    """
    return torch.nn.functional.pad(running, (1, 0)).gather(1, counts)
