"""What a picture shows: a colour photograph, or vessels that are segmented already."""

import torch
from torch.nn import functional

from ssplain.errors import SSplainError

_COLOURED = 0.03  # mean distance of the channels on pixels that are not dark
_LIT = 0.1  # a pixel that is brighter than this shows something
_COVERED = 0.3  # share of lit pixels: an eye fills more than this, vessels fill less
_DIM = 0.25  # brightest value below which a picture is judged as if it had full brightness
_SMALL = 128  # px of the longer side, enough to tell an eye from vessels
_FULL = 0.95  # share of a square that counts as all of it: there may be a dark spot
_BROAD = 0.18  # of the longer side: an eye is broader, in whatever border; a vessel is not


def is_photograph(image: torch.Tensor) -> bool:
    """Say whether an image `(C, H, W)` in [0, 1] is a colour photograph.

    One with arteries in red and veins in blue on black is not: vessels leave most of it dark.

    >>> photo = torch.zeros(3, 8, 8)
    >>> photo[0, 1:7, 1:7], photo[1, 1:7, 1:7] = 0.8, 0.4
    >>> is_photograph(photo), is_photograph(photo[:1]), is_photograph(photo.mean(0).repeat(3, 1, 1))
    (True, False, False)

    An eye within a broad black border is one, and so is one that is far too dark.

    >>> wide = functional.pad(photo, (8, 8, 8, 8))
    >>> is_photograph(wide), is_photograph(0.05 * photo)
    (True, True)
    """
    if len(image) != 3:
        return False
    brightest, darkest = image.amax(0), image.amin(0)
    most = float(brightest.max())
    scale = most if 0 < most < _DIM else 1.0
    lit = brightest > _LIT * scale
    coloured = bool(lit.any()) and float((brightest - darkest)[lit].mean()) > _COLOURED * scale
    return coloured and (float(lit.float().mean()) > _COVERED or _is_broad(lit))


def _is_broad(lit: torch.Tensor) -> bool:
    """Whether a square of the picture is lit nearly all over."""
    side = max(lit.shape)
    height, width = (max(1, round(_SMALL * n / side)) for n in lit.shape)
    shares = functional.adaptive_avg_pool2d(lit.float()[None], (height, width))
    window = min(height, width, round(_BROAD * _SMALL))
    return float(functional.avg_pool2d(shares, window, stride=1).max()) > _FULL


def refuse_photograph(image: torch.Tensor, model: str) -> None:
    """Complain about a colour photograph given to a model that takes segmented vessels.

    >>> refuse_photograph(torch.zeros(1, 8, 8), "googlenet-rop")
    """
    if is_photograph(image):
        raise SSplainError(
            f"This is a colour photograph, and {model} takes segmented vessels; "
            "`ssplain read PHOTO... --out DIR` segments it, grades it and explains the grade."
        )
