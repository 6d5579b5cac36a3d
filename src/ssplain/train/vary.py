"""Changes of segmented images that say nothing about disease, for training that must not see them.

Everything here takes a batch (N, C, H, W) and a generator, and keeps the background exactly zero.
"""

import math

import torch
from torch import Tensor
from torch.nn import functional


def turn_and_flip(images: Tensor, generator: torch.Generator) -> Tensor:
    """Give every image of a batch (N, C, H, H) one of the eight symmetries of the square.

    Quarter turns and mirror images move pixels without mixing them, so edges stay as soft as they
    were and the background stays exactly zero. A mirror image turns a left eye into a right eye.

    Example:
        >>> batch = turn_and_flip(torch.arange(4.0).reshape(1, 1, 2, 2), torch.Generator())
        >>> batch.flatten().sort().values
        tensor([0., 1., 2., 3.])
    """
    symmetry = torch.randint(8, (len(images),), generator=generator)
    turned = torch.empty_like(images)
    for number in range(8):
        chosen = symmetry == number
        batch = torch.rot90(images[chosen], number % 4, (2, 3))
        turned[chosen] = batch.flip(3) if number >= 4 else batch
    return turned


def warp(images: Tensor, generator: torch.Generator, share: float = 0.3) -> Tensor:
    """Turn, scale and shift a share of the images by up to 25 degrees, a fifth and a tenth.

    Example:
        >>> warp(torch.ones(2, 1, 8, 8), torch.Generator(), share=0.0).mean()
        tensor(1.)
    """
    count = len(images)
    angle, scale, right, down, chosen = torch.rand(5, count, generator=generator)
    angle = math.radians(25) * (2 * angle - 1)
    scale = torch.exp(math.log(1.2) * (2 * scale - 1))
    cos, sin = scale * angle.cos(), scale * angle.sin()
    rows = [cos, -sin, 0.2 * right - 0.1, sin, cos, 0.2 * down - 0.1]
    still = torch.tensor([1.0, 0, 0, 0, 1, 0]).expand(count, 6)
    move = torch.where((chosen < share)[:, None], torch.stack(rows, dim=1), still)
    grid = functional.affine_grid(move.reshape(-1, 2, 3), list(images.shape), align_corners=False)
    moved = functional.grid_sample(images, grid, align_corners=False)
    return torch.where((chosen < share)[:, None, None, None], moved, images)


def crop(images: Tensor, size: int, generator: torch.Generator) -> Tensor:
    """Cut a square of a size out of every image, anywhere.

    Example:
        >>> crop(torch.ones(2, 1, 8, 8), 4, torch.Generator()).shape
        torch.Size([2, 1, 4, 4])
    """
    height, width = images.shape[2:]
    top = torch.randint(height - size + 1, (len(images),), generator=generator)
    left = torch.randint(width - size + 1, (len(images),), generator=generator)
    corners = zip(images, top.tolist(), left.tolist(), strict=True)
    return torch.stack([image[:, y : y + size, x : x + size] for image, y, x in corners])


def relight(images: Tensor, generator: torch.Generator) -> Tensor:
    """Give every image another segmentation's look: soft, blurred, cut off, binary, dim or bright.

    In this order, each for some of the images: blur of up to 1.2 pixels, gamma, a cut-off, all that
    is left set to 1, and a gain.

    Example:
        >>> image = relight(torch.eye(16).expand(5, 1, 16, 16), torch.Generator().manual_seed(0))
        >>> bool(image.min() == 0), bool(image.max() <= 1)
        (True, True)
    """
    drawn = torch.rand(9, len(images), 1, 1, 1, generator=generator)
    sigma = torch.where(drawn[0] < 0.35, 0.4 + 0.8 * drawn[1], torch.full_like(drawn[1], 1e-3))
    peak = images.amax((2, 3), keepdim=True)
    soft = blur(images, sigma.flatten())
    # a blur spreads what is there: what is hardly lit is ground, as a segmentation would have it
    soft = torch.where(soft > 0.04 * peak, soft, 0)
    soft = torch.where(drawn[2] < 0.7, soft ** torch.exp(1.2 * drawn[3] - 0.6), soft)
    cut = torch.where(drawn[4] < 0.4, 0.05 + 0.3 * drawn[5], 0.0) * soft.amax((2, 3), keepdim=True)
    soft = torch.where(soft > cut, soft, 0)
    soft = torch.where((drawn[6] < 0.12), (soft > 0).to(soft.dtype), soft)
    gain = torch.where(drawn[7] < 0.7, 0.5 + 1.2 * drawn[8], 1.0)
    return (gain * soft).clamp(0, 1)


def blur(images: Tensor, sigma: Tensor) -> Tensor:
    """Blur each image (N, C, H, W) with a Gaussian of its own width (N,), cut off at 3 pixels.

    Example:
        >>> image = torch.zeros(1, 1, 9, 9).index_fill(2, torch.tensor(4), 1.0)
        >>> round(float(blur(image, torch.tensor([1.0]))[0, 0, 4, 4]), 2)
        0.4
    """
    count, channels = images.shape[:2]
    at = torch.arange(-3, 4, dtype=images.dtype)
    line = torch.exp(-(at**2) / 2 / sigma[:, None] ** 2)
    line = (line / line.sum(1, keepdim=True)).repeat_interleave(channels, 0)
    flat = images.reshape(1, count * channels, *images.shape[2:])
    for kernel in (line[:, None, :, None], line[:, None, None, :]):
        pad = (0, 3) if kernel.shape[3] == 1 else (3, 0)
        flat = functional.conv2d(flat, kernel, padding=pad[::-1], groups=count * channels)
    return flat.reshape(images.shape)


def leave_out(images: Tensor, generator: torch.Generator, share: float = 0.25) -> Tensor:
    """Blacken a rectangle, up to a third of each side, in a share of the images.

    Example:
        >>> leave_out(torch.ones(1, 1, 30, 30), torch.Generator(), share=1.0).mean() < 1
        tensor(True)
    """
    height, width = images.shape[2:]
    top, left, tall, wide, chosen = torch.rand(5, len(images), 1, 1, 1, generator=generator)
    row = torch.arange(height).reshape(1, 1, -1, 1) / height
    column = torch.arange(width).reshape(1, 1, 1, -1) / width
    inside = (row >= top) & (row <= top + tall / 3) & (column >= left) & (column <= left + wide / 3)
    return torch.where(inside & (chosen < share), 0, images)
