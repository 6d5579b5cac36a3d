"""Masks and image pyramids of Extremal Perturbation: how a mask is made and what it does."""

import math
from typing import Any, Literal

import torch
from torch import Tensor
from torch.nn.functional import pad

from ssplain.errors import SSplainError

Perturbation = Literal["blur", "fade"]
Move = tuple[int, int, int]
LEVELS = 8
WIDEST = 20.0  # standard deviation of the strongest blur, in pixels
SHARPNESS = 20.0  # of the smooth maximum


def gaussian_blur(images: Tensor, sigma: float) -> Tensor:
    """Blur `(..., H, W)` by a Gaussian of `sigma` pixels, black beyond the border.

    The kernel ends at 4 sigma. Rows and columns are two matrix products, so that the widest blur
    costs no more than the narrowest.

    >>> gaussian_blur(torch.ones(1, 1, 9, 1), 1e-6).flatten().tolist() == [1.0] * 9
    True
    """
    if sigma <= 0:
        return images

    def kernel(size: int) -> Tensor:
        reach = math.ceil(4 * sigma)
        steps = torch.arange(-reach, reach + 1, dtype=torch.float64)
        total = torch.exp(-(steps**2) / (2 * sigma**2)).sum()
        at = torch.arange(size, dtype=torch.float64)
        apart = (at[:, None] - at).abs()
        weights = torch.exp(-(apart**2) / (2 * sigma**2)) / total
        return weights.masked_fill(apart > reach, 0.0).to(images)

    return kernel(images.shape[-2]) @ images @ kernel(images.shape[-1])


def pyramid(images: Tensor, kind: Perturbation) -> Tensor:
    r"""Return the images from fully perturbed to untouched, `(8, N, C, H, W)`.

    Level l of strength \(t = l / 7\) is the image blurred by \(20 (1 - t)\) pixels, or faded to
    \(t X\).

    >>> pyramid(torch.ones(1, 1, 1, 1), "fade").flatten()[[0, 7]].tolist()
    [0.0, 1.0]
    """
    strengths = [level / (LEVELS - 1) for level in range(LEVELS)]
    if kind == "blur":
        return torch.stack([gaussian_blur(images, WIDEST * (1 - t)) for t in strengths])
    if kind == "fade":
        return torch.stack([t * images for t in strengths])
    raise SSplainError(f"perturbation={kind!r} is not known; use 'blur' or 'fade'.")


def perturb(levels: Tensor, masks: Tensor) -> Tensor:
    """Return the images as far perturbed as the masks say: 1 leaves a pixel, 0 perturbs it fully.

    Between two levels of the pyramid the value is interpolated linearly.

    Args:
        levels: `(8, N, C, H, W)`.
        masks: `(N, 1, H, W)` in [0, 1].

    >>> perturb(pyramid(torch.ones(1, 1, 1, 1), "fade"), torch.tensor([[[[0.3]]]])).item()
    0.30000...
    """
    height = masks * (len(levels) - 1)
    below = height.detach().floor().clamp(max=len(levels) - 2)
    index = below.long().expand_as(levels[0])[None]
    low = levels.gather(0, index)[0]
    high = levels.gather(0, index + 1)[0]
    return low + (height - below) * (high - low)


class SmoothMasks:
    r"""Make smooth masks from a coarse grid of parameters by a smooth maximum.

    A pixel's value is \(\sum_i z_i\, \mathrm{softmax}(20 z)_i\) with \(z_i = k(d_i / \sigma) m_i\)
    over the grid points around it, and \(k(u) = \exp(-2 \max(u - 1/2, 0)^2)\): each parameter
    spreads over the pixels within about sigma.

    Masks are made on a canvas that is wider than the image on all sides: a parameter at the edge of
    the grid reaches fewer pixels than others and would behave differently, so edges are cut off.

    Args:
        shape: height and width of the image.
        step: pixels from one grid point to the next; 1 gives each pixel a parameter.
        sigma: how far a parameter spreads, in pixels.

    >>> make = SmoothMasks((10, 13), step=4, sigma=2.0)
    >>> make.grid  # 3 x 4 cells for the image, 2 more on each side
    (7, 8)
    >>> masks = make(torch.ones(2, 1, *make.grid))
    >>> masks.shape, make.crop(masks).shape
    (torch.Size([2, 1, 28, 32]), torch.Size([2, 1, 10, 13]))
    """

    def __init__(self, shape: tuple[int, int], step: int, sigma: float) -> None:
        self.shape, self.step = shape, step
        # beyond this a parameter could not reach even from the nearest corner of its cell
        self.reach = 1 + math.ceil(sigma / step)
        rows, columns = (math.ceil(size / step) + 2 * self.reach for size in shape)
        self.grid = (rows, columns)
        cells = torch.arange(-self.reach, self.reach + 1, dtype=torch.float64) * step
        inside = torch.arange(step, dtype=torch.float64) - (step - 1) / 2
        apart = (cells[:, None] - inside).abs()
        along, which = torch.unique(apart, return_inverse=True)
        distance = torch.hypot(along[:, None], along)
        self.kernel = torch.exp(-2 * (distance / sigma - 0.5).clamp(min=0) ** 2)
        # which distance along an axis lies between a pixel's place in its cell and a tap
        self.moves: list[Move] = [
            (k, place, tap) for tap, row in enumerate(which.tolist()) for place, k in enumerate(row)
        ]

    def __call__(self, parameters: Tensor) -> Tensor:
        """Return masks on the canvas from parameters `(N, 1, *grid)`, `step` pixels for each."""
        (rows, columns), step = self.grid, self.step
        grid = parameters[:, 0].permute(1, 2, 0)
        masks: Tensor = _SmoothMaximum.apply(grid, self)  # type: ignore[no-untyped-call]
        return masks.permute(4, 2, 0, 3, 1).reshape(-1, 1, rows * step, columns * step)

    def crop(self, masks: Tensor) -> Tensor:
        """Return the image's part of the canvas, `(N, 1, H, W)`."""
        start, (height, width) = self.reach * self.step, self.shape
        return masks[..., start : start + height, start : start + width]


class _SmoothMaximum(torch.autograd.Function):
    r"""The smooth maximum for each row and column of a cell, from parameters `(rows, columns, N)`.

    A pixel needs \(\sum_i e^{20 z_i}\) and \(\sum_i z_i e^{20 z_i}\), whose summands depend on a
    parameter and its distances along the two axes. Few distances differ, so the exponentials are
    taken once for each pair of them and then added up, first along the columns, then along the
    rows; the gradient goes the same way back. Measured three times faster than to unfold the
    neighbourhood of each pixel, for batches of small images and for large ones.
    """

    @staticmethod
    def forward(ctx: Any, grid: Tensor, make: SmoothMasks) -> Tensor:  # noqa: ANN401
        wide = pad(grid, (0, 0, *(make.reach,) * 4)).contiguous()
        kernel = make.kernel.to(wide)[..., None, None, None]
        sharp = wide * (SHARPNESS * kernel)
        # [sum, distance down, distance across, row, column, image]
        table = sharp.new_empty(2, *sharp.shape)
        torch.exp(sharp, out=table[0])
        torch.mul(sharp, table[0], out=table[1])
        across = _add_shifted(table, make.moves, make.step, axis=2)
        weight, sharp_sum = _add_shifted(across, make.moves, make.step, axis=1)
        sharp_masks: Tensor = sharp_sum / weight
        ctx.save_for_backward(table, kernel, sharp_masks, weight)
        ctx.make = make
        return sharp_masks / SHARPNESS

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:  # noqa: ANN401
        table, kernel, sharp_masks, weight = ctx.saved_tensors
        reach = ctx.make.reach
        # d mask / d m_i = k_i e^z (1 + z - 20 mask) / weight, with z = 20 k_i m_i
        with_z = gradient / weight
        slopes = pad(torch.stack([with_z * (1 - sharp_masks), with_z]), (0, 0, *(reach,) * 4))
        back = [(place, k, 2 * reach - tap) for k, place, tap in ctx.make.moves]
        for axis in (1, 2):
            slopes = _add_shifted(slopes, back, len(kernel), axis)
        slopes *= table[..., reach:-reach, reach:-reach, :]
        slopes *= kernel
        return slopes.sum((0, 1, 2)), None


def _add_shifted(table: Tensor, moves: list[Move], count: int, axis: int) -> Tensor:
    """Add up entries of an axis, each shifted along the rows or columns, to `count` new entries.

    Args:
        table: its axes 1 and 2 belong to the rows and columns in axes 3 and 4.
        moves: of which entry, to which new one, how far shifted.
        count: how many new entries there are.
        axis: 1 or 2.
    """
    shape = list(table.shape)
    size = shape[axis + 2] - max(shift for _, _, shift in moves)
    shape[axis], shape[axis + 2] = count, size
    total = table.new_zeros(shape)
    old, new = table.unbind(axis), total.unbind(axis)
    for entry, goal, shift in moves:
        new[goal].add_(old[entry].narrow(axis + 1, shift, size))
    return total
