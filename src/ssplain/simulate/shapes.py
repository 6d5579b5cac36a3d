"""Colour photographs with a planted shape: images without a black background, and with the truth.

The scene is smooth coloured noise with the spectrum of natural photographs (amplitude falling with
spatial frequency), under uneven light. One shape of a random colour, size, place and turn is laid
on it; its kind is the class, and its pixels are what an explainer should find. Colour, size, place
and light are drawn independently of the class.
"""

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from ssplain.errors import SSplainError


class Uniform(Protocol):
    """Draws uniform numbers of a shape, between two bounds."""

    def __call__(self, *shape: int, low: float = 0.0, high: float = 1.0) -> Tensor:
        """Draw."""
        ...


KINDS = ("disc", "square", "triangle", "cross")


@dataclass(frozen=True, eq=False)
class Shapes:
    """Photographs with planted shapes.

    Attributes:
        images: `(N, 3, H, W)` in [0, 1].
        labels: `(N,)`, the kind of shape, an index of `KINDS`.
        truth: `(N, 1, H, W)` boolean, the pixels of the shape.
    """

    images: Tensor
    labels: Tensor
    truth: Tensor


def planted_shapes(count: int, size: int = 48, seed: int = 0) -> Shapes:
    """Draw photographs with planted shapes.

    Args:
        count: how many.
        size: side in pixels, at least 16.
        seed: the same seed gives the same photographs.

    >>> drawn = planted_shapes(4, size=32)
    >>> drawn.images.shape, drawn.truth.shape
    (torch.Size([4, 3, 32, 32]), torch.Size([4, 1, 32, 32]))
    >>> bool((drawn.images > 0).all())
    True
    """
    if count < 1 or size < 16:
        raise SSplainError(f"count={count}, size={size}: give at least 1 image of 16 pixels.")
    generator = torch.Generator().manual_seed(seed)

    def uniform(*shape: int, low: float = 0.0, high: float = 1.0) -> Tensor:
        return low + (high - low) * torch.rand(*shape, generator=generator)

    scene = _scene(count, size, generator)
    labels = torch.randint(0, len(KINDS), (count,), generator=generator)
    truth = _shape(labels, size, uniform)
    # a colour that can be told from the scene, lighter or darker, with some of the scene's texture
    colour = uniform(count, 3, 1, 1, low=0.15, high=0.95)
    mean = (scene * truth).sum((2, 3), keepdim=True) / truth.sum((2, 3), keepdim=True)
    apart = (colour - mean).abs().amax(1, keepdim=True)
    colour = torch.where(apart < 0.3, 1 - mean, colour)
    painted = colour + 0.35 * (scene - mean)
    light = 1 + 0.25 * _scene(count, size, generator, channels=1, power=2.0).sub(0.5)
    images = torch.where(truth, painted, scene) * light
    images = images + 0.02 * torch.randn(images.shape, generator=generator)
    return Shapes(images.clamp(0.02, 1.0), labels, truth)


def _scene(
    count: int, size: int, generator: torch.Generator, channels: int = 3, power: float = 1.4
) -> Tensor:
    """Return coloured noise in [0, 1] whose amplitude falls with frequency to this power."""
    noise = torch.randn(count, channels, size, size, generator=generator)
    across = torch.fft.fftfreq(size)
    frequency = torch.hypot(across[:, None], across).clamp(min=1 / size)
    field: Tensor = torch.fft.ifft2(torch.fft.fft2(noise) / frequency**power).real
    if channels == 3:  # channels of photographs go together
        field = 0.6 * field.mean(1, keepdim=True) + 0.4 * field
    low, high = field.amin((1, 2, 3), keepdim=True), field.amax((1, 2, 3), keepdim=True)
    return 0.1 + 0.8 * (field - low) / (high - low)


def _shape(labels: Tensor, size: int, draw: Uniform) -> Tensor:
    """Return the pixels of one shape per image, `(N, 1, H, W)`."""
    count = len(labels)
    share = draw(count, 1, low=0.15, high=0.25)
    radius = share[..., None] * size
    # anywhere that the whole shape fits: a map that only knows the middle must not find it
    reach = 1.25 * share
    centre = (reach + (1 - 2 * reach) * draw(count, 2)) * size
    turn = draw(count, 1, 1, low=-0.4, high=0.4)
    at = torch.arange(size) + 0.5
    y, x = at[:, None] - centre[:, :1, None], at[None] - centre[:, 1:, None]
    u = (x * turn.cos() + y * turn.sin()) / radius
    v = (y * turn.cos() - x * turn.sin()) / radius
    disc = u**2 + v**2 < 1
    square = torch.maximum(u.abs(), v.abs()) < 0.9
    triangle = (v < 0.8) & (v > 1.9 * u.abs() - 1.1)
    cross = (torch.minimum(u.abs(), v.abs()) < 0.35) & (torch.maximum(u.abs(), v.abs()) < 1.1)
    kinds = torch.stack([disc, square, triangle, cross])
    chosen: Tensor = kinds[labels, torch.arange(count)]
    return chosen[:, None]
