"""Maps as pictures: each function returns an `(H, W, 3)` array of bytes, one pixel per pixel.

The colours are those of matplotlib's perceptually uniform maps, which colour-blind readers can tell
apart: inferno for scores, viridis for the paper's view, whose zero is its purple.
"""

from io import BytesIO
from pathlib import Path

import numpy as np
from matplotlib import colormaps
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor

from ssplain.errors import SSplainError
from ssplain.files import write_whole

Picture = NDArray[np.uint8]
_Numbers = NDArray[np.float64]


def grey(image: Tensor, *, low: float = 0.0, high: float = 1.0) -> Picture:
    """Show an image `(C, H, W)` as it is, in grey or colour.

    Args:
        image: one channel or three.
        low: the value shown black; set both for images that are not in [0, 1].
        high: the value shown white.

    >>> import torch
    >>> grey(torch.tensor([[[0.0, 1.0]]]))[0].tolist()
    [[0, 0, 0], [255, 255, 255]]
    """
    channels = _planes(image).detach().cpu().double().numpy()
    if len(channels) != 3:
        channels = channels.mean(0, keepdims=True).repeat(3, axis=0)
    shown = np.clip((channels - low) / (high - low), 0, 1)
    return _bytes(shown.transpose(1, 2, 0))


def unit_scores(scores: Tensor, support: Tensor, low: float | None = None) -> _Numbers:
    """Map scores `(1, H, W)` to [0, 1] for display: the support's range, zero outside it.

    A constant map is shown as one half, not as nothing and not as NaN.

    Args:
        scores: what to show.
        support: where to show it.
        low: the score that becomes 0, and all below it; None for the lowest on the support. A map
            with nothing above it is 0 everywhere.

    >>> import torch
    >>> unit_scores(torch.tensor([[[2.0, 4.0]]]), torch.tensor([[[True, True]]]))
    array([[0., 1.]])
    >>> unit_scores(torch.tensor([[[2.0, 4.0]]]), torch.tensor([[[True, True]]]), low=0.0)
    array([[0.5, 1. ]])
    """
    values = _planes(scores)[0].detach().cpu().double().numpy()
    inside = _planes(support)[0].cpu().numpy().astype(bool)
    shown = np.zeros_like(values)
    if inside.any():
        flat = 0.5 if low is None else 0.0
        lowest = values[inside].min() if low is None else low
        highest = values[inside].max()
        above = (values[inside] - lowest).clip(min=0)
        shown[inside] = above / (highest - lowest) if highest > lowest else flat
    return shown


def heat(scores: Tensor, support: Tensor, low: float | None = None) -> Picture:
    """Show scores `(1, H, W)` in colours on the support, black outside; as in `unit_scores`.

    >>> import torch
    >>> heat(torch.tensor([[[0.0, 1.0, 0.5]]]), torch.tensor([[[False, True, True]]]))[0, 0]
    array([0, 0, 0], dtype=uint8)
    """
    inside = _planes(support)[0].cpu().numpy().astype(bool)
    # start at 0.15: the lowest scores must still be told from the background
    colours = colormaps["inferno"](0.15 + 0.85 * unit_scores(scores, support, low))[..., :3]
    return _bytes(colours * inside[..., None])


def overlay(image: Tensor, scores: Tensor, support: Tensor) -> Picture:
    """Show the image with the scores as colour over it, stronger where the score is higher.

    >>> import torch
    >>> image = torch.tensor([[[0.0, 1.0]]])
    >>> overlay(image, image, image > 0).shape
    (1, 2, 3)
    """
    under = grey(image) / 255.0
    strength = unit_scores(scores, support) * _planes(support)[0].cpu().numpy()
    opacity = 0.9 * np.sqrt(strength)[..., None]
    colours = colormaps["inferno"](0.3 + 0.6 * strength)[..., :3]
    return _bytes(under * (1 - opacity) * 0.6 + colours * opacity)


def mask_view(image: Tensor, mask: Tensor) -> Picture:
    """Show the pixels that the mask keeps in full, the rest of the image dimmed.

    >>> import torch
    >>> image = torch.ones(1, 1, 2)
    >>> mask_view(image, torch.tensor([[[0.0, 0.5]]]))[0].tolist()
    [[56, 56, 56], [253, 231, 36]]
    """
    kept = _planes(mask)[0].cpu().numpy() > 0
    intensity = grey(image) / 255.0
    bright = colormaps["viridis"](0.35 + 0.65 * intensity.mean(2))[..., :3]
    return _bytes(np.where(kept[..., None], bright, 0.22 * intensity))


def top_view(image: Tensor, top: Tensor) -> Picture:
    """Show the paper's view: the marked pixels of the image, everything else purple.

    Args:
        image: `(C, H, W)`.
        top: `(1, H, W)` boolean, as `Explanation.top(0.05)[i]` gives it.

    >>> import torch
    >>> top_view(torch.ones(1, 1, 2), torch.tensor([[[False, True]]]))[0].tolist()
    [[68, 1, 84], [253, 231, 36]]
    """
    intensity = grey(image).mean(2) / 255.0
    kept = _planes(top)[0].cpu().numpy().astype(bool)
    # kept pixels start at 0.25, so that even dark ones stand out from the purple
    return _bytes(colormaps["viridis"](np.where(kept, 0.25 + 0.75 * intensity, 0.0))[..., :3])


def enlarge(picture: Picture, least: int = 224) -> Picture:
    """Repeat pixels a whole number of times until the shorter side has about `least` pixels.

    >>> enlarge(np.zeros((28, 30, 3), np.uint8)).shape
    (224, 240, 3)
    """
    factor = max(1, least // min(picture.shape[:2]))
    return picture.repeat(factor, axis=0).repeat(factor, axis=1)


def png_bytes(picture: Picture) -> bytes:
    """Return a picture as PNG; packing it harder takes eight times as long for a twelfth less.

    >>> png_bytes(np.zeros((2, 2, 3), np.uint8))[1:4]
    b'PNG'
    """
    buffer = BytesIO()
    Image.fromarray(picture).save(buffer, format="PNG")
    return buffer.getvalue()


def write_png(picture: Picture, path: str | Path) -> None:
    """Write a picture to a PNG file, whole or not at all."""
    write_whole(path, png_bytes(picture))


def _planes(given: Tensor) -> Tensor:
    """Return an image or map as `(C, H, W)`; a plane `(H, W)` is one channel."""
    if given.dim() not in (2, 3):
        raise SSplainError(
            f"A picture is made of (H, W) or (C, H, W), not of {tuple(given.shape)}; take one "
            "image of a batch."
        )
    return given[None] if given.dim() == 2 else given


def _bytes(shown: _Numbers) -> Picture:
    # tiny addend: 0.9999999 * 255 is white, not 254
    return (shown * 255 + 1e-6).astype(np.uint8)
