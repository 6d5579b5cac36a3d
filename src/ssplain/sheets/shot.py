"""A photograph as the grading network gets to see it."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ssplain.fundus.disc import find_disc
from ssplain.fundus.field import Field, field
from ssplain.fundus.frame import Frame
from ssplain.fundus.ring import without_ring
from ssplain.fundus.segment import SURE, segment
from ssplain.simulate.anatomy import SIZE
from ssplain.vessels import trace


@dataclass(frozen=True)
class Shot:
    """A photograph and what `ssplain.read` gives to the network of it.

    Attributes:
        photo: (H, W, 3) in [0, 1].
        view: its field of view.
        image: (224, 224) its vessels as they are found, in [0, 1].
    """

    photo: NDArray[np.float32]
    view: Field
    image: NDArray[np.float32]

    @staticmethod
    def of(photo: NDArray[np.float32], view: Field | None = None) -> "Shot":
        """Look at a photograph.

        Args:
            photo: (H, W, 3) in [0, 1].
            view: its field of view, if that is known; found otherwise.

        Example:
            >>> shot = Shot.of(np.full((240, 320, 3), 0.4, np.float32))
            >>> shot.image.shape
            (224, 224)
        """
        view = field(photo) if view is None else view
        found, disc = segment(photo, view=view, least=SURE), find_disc(photo, view=view)
        clear = found if disc is None else without_ring(found, disc)
        image = Frame.of_field(view, SIZE).to_network(clear.astype(np.float32))[0].numpy()
        return Shot(photo, view, image)


def winding(image: NDArray[np.float32]) -> float:
    """Return the mean curvature of segmented vessels per pixel, by length; NaN without any."""
    kept = [b for b in trace(image).branches if math.isfinite(b.mean_curvature)]
    total = sum(branch.length for branch in kept)
    return sum(b.mean_curvature * b.length for b in kept) / total if total else math.nan
