"""What can be seen in a photograph: field, vessels, disc, quality."""

from dataclasses import replace
from functools import partial

import numpy as np
import torch

from ssplain.errors import SSplainError
from ssplain.fundus import SURE, field, find_disc, quality, segment
from ssplain.fundus.field import Field
from ssplain.fundus.photo import as_photo, resized
from ssplain.fundus.ring import without_ring
from ssplain.reading.image import Picture, Seen
from ssplain.reading.scale import narrow_field, wider

LARGEST = 1200  # px of a side: the networks look at 640 px of the field, more only costs time


def look_at(image: torch.Tensor, disc: tuple[float, float, float] | None) -> Seen:
    """See what a photograph `(3, H, W)` in [0, 1] shows.

    Args:
        image: the photograph.
        disc: row, column and radius of the optic disc in px, if it is known; found otherwise.

    Raises:
        SSplainError: If it is no photograph of a fundus.
    """
    photo, warnings = as_photo(image), []
    height, width = photo.shape[:2]
    shrink = min(1.0, LARGEST / max(height, width))
    if shrink < 1:
        photo = resized(photo, (round(height * shrink), round(width * shrink)))
        disc = None if disc is None else (disc[0] * shrink, disc[1] * shrink, disc[2] * shrink)
        warnings.append(
            f"The photograph of {width} x {height} px was reduced to {photo.shape[1]} x "
            f"{photo.shape[0]}; all pixels given are those of the reduced one."
        )
    view = field(photo)
    disc = find_disc(photo, view=view) if disc is None else disc
    factor = wider(view.side, disc)
    vessels = _segment(photo, view, factor)
    judged = quality(photo, vessels, view)
    if not judged.fundus:
        raise SSplainError(f"It cannot be read: {'; '.join(judged.reasons)}.")
    warnings += [f"The photograph {_verb(reason)} {reason}." for reason in judged.reasons]
    warnings += narrow_field(factor)
    if not (vessels > 0).any():
        raise SSplainError("No vessels were found in the photograph; there is nothing to read.")
    clear = vessels if disc is None else without_ring(vessels, disc)
    return Seen(
        picture=photo,
        vessels=clear.astype(np.float32),
        disc=disc,
        centre=(view.row, view.column),
        side=view.side * factor,
        warnings=tuple(warnings),
        again=partial(_again, factor=factor, ringed=clear is not vessels),
    )


def _verb(reason: str) -> str:
    """Return what makes a sentence of a reason: a photograph is dark, but has few vessels."""
    return "has" if reason.startswith("few") else "is"


def _segment(photo: Picture, view: Field, factor: float) -> Picture:
    """Find the vessels, as large as they would be in a field so much wider."""
    wide = replace(view, radius=view.radius * factor)
    return segment(photo, view=wide, least=SURE).astype(np.float32)


def _again(photo: Picture, *, factor: float, ringed: bool) -> Picture:
    view = field(photo)
    found = _segment(photo, view, factor)
    disc = find_disc(photo, view=view) if ringed else None
    return found if disc is None else without_ring(found, disc)
