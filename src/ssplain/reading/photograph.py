"""What can be seen in a photograph: field, vessels, disc, quality."""

import numpy as np
import torch

from ssplain.errors import SSplainError
from ssplain.fundus import field, find_disc, quality, segment
from ssplain.fundus.photo import as_photo, resized
from ssplain.fundus.ring import without_ring
from ssplain.reading.image import Picture, Seen

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
    vessels = segment(photo, view=view)
    judged = quality(photo, vessels, view)
    if not judged.fundus:
        raise SSplainError(f"It cannot be read: {'; '.join(judged.reasons)}.")
    warnings += [f"The photograph {_verb(reason)} {reason}." for reason in judged.reasons]
    if not (vessels > 0).any():
        raise SSplainError("No vessels were found in the photograph; there is nothing to read.")
    disc = find_disc(photo, view=view) if disc is None else disc
    clear = vessels if disc is None else without_ring(vessels, disc)
    return Seen(
        picture=photo,
        vessels=clear.astype(np.float32),
        disc=disc,
        centre=(view.row, view.column),
        side=view.side,
        warnings=tuple(warnings),
        again=_segment if clear is vessels else _segment_without_ring,
    )


def _verb(reason: str) -> str:
    """Return what makes a sentence of a reason: a photograph is dark, but has few vessels."""
    return "has" if reason.startswith("few") else "is"


def _segment(photo: Picture) -> Picture:
    return segment(photo).astype(np.float32)


def _segment_without_ring(photo: Picture) -> Picture:
    found, disc = _segment(photo), find_disc(photo)
    return found if disc is None else without_ring(found, disc)
