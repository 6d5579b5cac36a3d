"""What is read: a photograph or segmented vessels, from a file or an array."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ssplain.data import read_any
from ssplain.data.kind import is_photograph
from ssplain.errors import SSplainError
from ssplain.reading.plausible import is_grey_picture, odd_layout
from ssplain.reading.scale import narrow_field, wider
from ssplain.vessels.ground import MOST, find_threshold
from ssplain.vessels.pose import as_plane

LEAST = 32  # px of a side
_DIM = 0.5  # brightest value below which vessels are brought to full brightness
Picture = NDArray[np.float32]  # (H, W, 3) or (H, W), in [0, 1]


@dataclass(frozen=True, eq=False)
class Seen:
    """An eye as far as it can be seen before it is graded.

    Attributes:
        picture: what was given, (H, W, 3) for a photograph, (H, W) for segmented vessels.
        vessels: (H, W) in [0, 1], exactly 0 where there is no vessel.
        disc: row, column and radius in px; None if there is none in view.
        centre: row and column of the middle of the field.
        side: in px, of the square around the field; a narrow one is taken for wider, see `scale`.
        warnings: what a reader should know.
        again: finds the vessels of the picture after a change of it.
    """

    picture: Picture
    vessels: Picture
    disc: tuple[float, float, float] | None
    centre: tuple[float, float]
    side: float
    warnings: tuple[str, ...]
    again: Callable[[Picture], Picture]


def open_image(source: "str | Path | NDArray[Any] | torch.Tensor") -> torch.Tensor:
    """Return an image `(C, H, W)` in [0, 1] of 1 or 3 channels.

    >>> open_image(np.full((40, 50, 3), 255, np.uint8)).shape
    torch.Size([3, 40, 50])
    """
    if isinstance(source, str | Path):
        return read_any(source)
    values = np.asarray(source.detach().cpu() if isinstance(source, torch.Tensor) else source)
    if values.ndim == 2:
        values = values[None]
    elif values.ndim == 3 and values.shape[2] in {1, 3, 4} and values.shape[0] not in {1, 3}:
        values = values[..., :3].transpose(2, 0, 1)
    if values.ndim != 3 or values.shape[0] not in {1, 3}:
        raise SSplainError(
            f"An eye is an image of shape (H, W), (H, W, 3) or (3, H, W), not {values.shape}."
        )
    top = np.iinfo(values.dtype).max if np.issubdtype(values.dtype, np.integer) else 1
    pixels = values.astype(np.float32) / np.float32(top)
    if not np.isfinite(pixels).all() or pixels.min() < 0 or pixels.max() > 1:
        raise SSplainError("An eye has finite values in [0, 1], or bytes; scale it first.")
    return torch.from_numpy(np.ascontiguousarray(pixels))


def look(image: torch.Tensor, disc: tuple[float, float, float] | None = None) -> Seen:
    """See what an image `(C, H, W)` shows: vessels as they are, or those of a photograph.

    Args:
        image: in [0, 1].
        disc: row, column and radius of the optic disc in px, if it is known.

    Example:
        >>> image = torch.zeros(1, 64, 64)
        >>> image[0, 30:33, 4:60] = 1
        >>> seen = look(image)
        >>> seen.vessels.shape, seen.disc, seen.centre
        ((64, 64), None, (31.5, 31.5))
    """
    shape = (int(image.shape[1]), int(image.shape[2]))
    if min(shape) < LEAST:
        raise SSplainError(
            f"The image has {shape[1]} x {shape[0]} pixels; give one of at least {LEAST} x {LEAST}."
        )
    _check_disc(disc, shape)
    if is_photograph(image):
        from ssplain.reading.photograph import look_at  # noqa: PLC0415 - brings two networks

        return look_at(image, disc)
    return _look_at_vessels(image.amax(0).numpy(), disc)


def _look_at_vessels(image: Picture, disc: tuple[float, float, float] | None) -> Seen:
    """See segmented vessels (H, W) in [0, 1]."""
    plane = as_plane(image)
    threshold = find_threshold(plane)
    if is_grey_picture(plane, threshold):
        raise SSplainError(
            "This is a grey picture, such as a photograph without its colours, and not vessels on "
            "black; give the colour photograph, or segmented vessels, bright on black."
        )
    most = float(image.max())
    dim = 0 < most < _DIM
    bright = (image / np.float32(most)).clip(0, 1) if dim else image
    vessels = np.where(plane > threshold, bright, 0).astype(np.float32)
    covered = float((vessels > 0).mean())
    if covered > MOST:
        raise SSplainError(
            f"This is no colour photograph, and {covered:.0%} of it would be vessel; give a colour "
            "photograph of the fundus, or segmented vessels, bright on black."
        )
    if not covered:
        raise SSplainError("The image is black; there is nothing to read.")
    height, width = vessels.shape
    factor = wider(max(height, width), disc)
    return Seen(
        picture=vessels,
        vessels=vessels,
        disc=disc,
        centre=((height - 1) / 2, (width - 1) / 2),
        side=max(height, width) * factor,
        warnings=tuple(
            ([_faint(most)] if dim else [])
            + ([_ground(threshold)] if threshold else [])
            + odd_layout(vessels > 0)
            + narrow_field(factor)
        ),
        again=lambda changed: changed,
    )


def _faint(most: float) -> str:
    return (
        f"The brightest vessel has {most:.2g} of full brightness, as in a mask of zeros and ones; "
        "it was read as if it had all of it."
    )


def _ground(threshold: float) -> str:
    return (
        f"The ground is not black: values up to {threshold:g} of the brightest were taken for "
        "ground."
    )


def _check_disc(disc: tuple[float, float, float] | None, shape: tuple[int, int]) -> None:
    if disc is None:
        return
    row, column, radius = disc
    if not (0 <= row < shape[0] and 0 <= column < shape[1] and 0 < radius < max(shape) / 2):
        raise SSplainError(
            f"The disc {disc} is not in an image of {shape[0]} rows and {shape[1]} columns; give "
            "its row, column and radius in px."
        )
