"""What a picture shows: a colour photograph, or vessels that are segmented already."""

import torch

from ssplain.errors import SSplainError

_COLOURED = 0.03  # mean distance of the channels on pixels that are not dark
_LIT = 0.1  # a pixel that is brighter than this shows something
_COVERED = 0.3  # share of lit pixels: an eye fills more than this, vessels fill less


def is_photograph(image: torch.Tensor) -> bool:
    """Say whether an image `(C, H, W)` in [0, 1] is a colour photograph.

    One with arteries in red and veins in blue on black is not: vessels leave most of it dark.

    >>> photo = torch.zeros(3, 8, 8)
    >>> photo[0, 1:7, 1:7], photo[1, 1:7, 1:7] = 0.8, 0.4
    >>> is_photograph(photo), is_photograph(photo[:1]), is_photograph(photo.mean(0).repeat(3, 1, 1))
    (True, False, False)
    """
    if len(image) != 3:
        return False
    brightest, darkest = image.amax(0), image.amin(0)
    lit = brightest > _LIT
    coloured = bool(lit.any()) and float((brightest - darkest)[lit].mean()) > _COLOURED
    return coloured and float(lit.float().mean()) > _COVERED


def refuse_photograph(image: torch.Tensor, model: str) -> None:
    """Complain about a colour photograph given to a model that takes segmented vessels.

    >>> refuse_photograph(torch.zeros(1, 8, 8), "googlenet-rop")
    """
    if is_photograph(image):
        raise SSplainError(
            f"This is a colour photograph, and {model} takes segmented vessels; "
            "`ssplain read PHOTO... --out DIR` segments it, grades it and explains the grade."
        )
