"""What a model is given beside the pixels that an explainer changes: the ground and more arguments.

Explainers and measures hide a pixel by setting it to zero. On a ground B they work on Z = X - B and
the model sees Z + B, so that a hidden pixel shows the ground: black, a colour, the image's mean,
the blurred image. A ground or an argument that differs from image to image follows its image into
every batch.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import interpolate

from ssplain.errors import SSplainError

Images = Tensor | NDArray[Any]  # arrays are taken as the tensors of the same numbers
Fill = float | Sequence[float] | str | Images | Callable[[Tensor], Tensor] | None
BLUR = 8  # a blurred image has this many cells along its shorter side


@dataclass(frozen=True, eq=False)
class Context:
    """Ground and further arguments for some images.

    Attributes:
        ground: what hidden pixels show, one for all images or one row each; None is zero.
        arguments: given to the model after the images.
        rows: which of the arguments hold one row per image.

    >>> context = Context.of(torch.zeros(2, 1, 1, 1), 0.5, (torch.tensor([1.0, 2.0]), "a"))
    >>> context.take(torch.tensor([1])).call(lambda x, a, b: (x.flatten(), a, b), torch.ones(1))
    (tensor([1.5000]), tensor([2.]), 'a')
    """

    ground: Tensor | None = None
    arguments: tuple[Any, ...] = ()
    rows: tuple[bool, ...] = ()

    @classmethod
    def of(cls, images: Tensor, fill: Fill, arguments: object = None) -> Self:
        """Return the context of these images, `(N, C, H, W)`."""
        given = arguments if isinstance(arguments, tuple) else (arguments,)
        given = () if arguments is None else given
        rows = tuple(
            isinstance(one, Tensor) and one.dim() > 0 and len(one) == len(images) for one in given
        )
        return cls(ground_of(images, fill), given, rows)

    def take(self, index: Tensor | slice) -> Self:
        """Return the context of some of the images."""
        if self.ground is None and not any(self.rows):
            return self
        ground = self.ground
        if ground is not None and len(ground) > 1:
            ground = ground[index]
        pairs = zip(self.arguments, self.rows, strict=True)
        return type(self)(ground, tuple(a[index] if r else a for a, r in pairs), self.rows)

    def call(self, model: Callable[..., Any], images: Tensor) -> Any:  # noqa: ANN401
        """Return what the model says about images on their ground."""
        return model(images if self.ground is None else images + self.ground, *self.arguments)


def ground_of(images: Tensor, fill: Fill) -> Tensor | None:
    """Return what hidden pixels of these images show; None for zero.

    Args:
        images: `(N, C, H, W)`.
        fill: a number, one number per channel, "mean" (each image's own mean colour), "blur" (the
            image with an eighth of its shorter side as the finest detail), a tensor for one or all
            images, or a function of the images that returns one.

    >>> ground_of(torch.tensor([[[[0.0, 1.0]]]]), "mean").item()
    0.5
    """
    if fill is None or (isinstance(fill, int | float) and fill == 0):
        return None
    if isinstance(fill, str):
        if fill == "mean":
            return images.mean((2, 3), keepdim=True)
        if fill == "blur":
            return _coarse(images)
        raise SSplainError(
            f"fill={fill!r} is not known; use 'mean', 'blur', a number, one number per channel, a "
            "tensor or a function of the images."
        )
    try:
        given = torch.as_tensor(fill(images) if callable(fill) else fill)
    except (TypeError, ValueError, RuntimeError) as error:
        raise SSplainError(
            f"The fill cannot be read as numbers ({error}); give a number, one per channel, or a "
            "tensor like the images."
        ) from error
    shape = (-1, 1, 1) if given.dim() == 1 else tuple(given.shape)
    ground = given.detach().to(images).reshape(shape)
    ground = ground.reshape((1,) * (4 - ground.dim()) + tuple(ground.shape))
    n, channels, height, width = images.shape
    if ground.dim() != 4 or any(
        found not in (1, wanted) for found, wanted in zip(ground.shape, images.shape, strict=True)
    ):
        raise SSplainError(
            f"The fill (or baseline) has shape {tuple(given.shape)}; give a number, {channels} "
            f"numbers, ({channels}, {height}, {width}) or ({n}, {channels}, {height}, {width})."
        )
    if not bool(torch.isfinite(ground).all()):
        raise SSplainError("The fill holds NaN or infinite values; replace them first.")
    return ground


def as_tensor(images: Images) -> Tensor:
    """Return images as a tensor; an array shares its memory where it can.

    >>> as_tensor(np.zeros((2, 2), np.float32)).shape
    torch.Size([2, 2])
    """
    if isinstance(images, Tensor):
        return images
    numbers: object = images
    if isinstance(numbers, np.ndarray) and numbers.dtype.kind in "fiub":
        usable = numbers.flags.writeable and min(numbers.strides, default=0) >= 0
        return torch.from_numpy(numbers if usable else numbers.copy())
    raise SSplainError(
        f"The images are a {type(images).__name__}; give a torch tensor or a NumPy array."
    )


def _coarse(images: Tensor) -> Tensor:
    """Return the images with nothing finer than an eighth of the shorter side."""
    size = images.shape[-2:]
    cell = max(1.0, min(size) / BLUR)
    coarse = [max(1, round(side / cell)) for side in size]
    small = interpolate(images, size=coarse, mode="area")
    return interpolate(small, size=size, mode="bicubic", align_corners=False).clamp(
        images.amin(), images.amax()
    )


def blurred(images: Tensor, sigma: float) -> Tensor:
    """Blur by a Gaussian, rows and columns in turn; beyond its border the image is repeated.

    >>> point = torch.tensor([[[[0.0, 0.0, 1.0, 0.0, 0.0]]]])
    >>> blurred(point, sigma=0.5).flatten().round(decimals=2)
    tensor([0.0000, 0.1100, 0.7900, 0.1100, 0.0000])
    """
    soft = images
    for dim in (2, 3):
        size = images.shape[dim]
        place = torch.arange(size, device=images.device, dtype=images.dtype)
        reach = torch.arange(-int(4 * sigma), int(4 * sigma) + 1, device=images.device)
        weights = torch.exp(-(reach**2) / (2 * sigma**2)).to(images.dtype)
        sources = (place[:, None] + reach).clamp(0, size - 1).long()
        # one row of the matrix per blurred pixel: which pixels it is made of
        mix = torch.zeros(size, size, device=images.device, dtype=images.dtype)
        mix.scatter_add_(1, sources, (weights / weights.sum()).expand(size, -1))
        soft = torch.tensordot(soft, mix, dims=([dim], [1])).movedim(-1, dim)
    return soft
