"""Field of view: the part of a photograph that shows the eye."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from skimage.morphology import convex_hull_image

from ssplain.fundus.photo import Photo, as_photo, resized

_SMALL = 256  # pixels of the longer side at which the field is looked for
_CORNER = 0.04  # share of a side that a corner takes
_SHARP = 0.25  # least share of the eye's brightness that is lost at its rim
_LEAST = 0.25  # share of the frame below which there is no field to speak of


@dataclass(frozen=True)
class Field:
    """Where a photograph shows the eye.

    Attributes:
        mask: (H, W), True inside the field.
        row: row of the centre of the circle that bounds it.
        column: column of that centre.
        radius: of that circle in px; half the diagonal if the eye fills the frame.
        bounded: whether a surround was found; if not, the eye is taken to fill the frame.
    """

    mask: NDArray[np.bool_]
    row: float
    column: float
    radius: float
    bounded: bool

    @property
    def side(self) -> float:
        """Of the square around it, in px."""
        return 2 * self.radius if self.bounded else float(max(self.mask.shape))


def field(photo: Photo) -> Field:
    """Find the field of view of a photograph, whatever the colour of its surround.

    The corners tell the surround's colour; what differs from it, made convex, is the field. Where
    the corners are no surround (uneven, or unlike each other) the whole frame is the field.

    Args:
        photo: array or tensor, (H, W, 3) or (3, H, W), in [0, 1] or bytes.

    Example:
        >>> row, column = np.ogrid[:90, :120]
        >>> photo = np.zeros((90, 120, 3)) + (np.hypot(row - 45, column - 60) < 50)[..., None] * 0.6
        >>> found = field(photo)
        >>> abs(found.radius - 50) < 2, bool(found.mask[0, 0]), bool(found.mask[45, 60])
        (True, False, True)
    """
    pixels = as_photo(photo)
    height, width = pixels.shape[:2]
    shrink = min(1.0, _SMALL / max(height, width))
    small = resized(pixels, (max(1, round(height * shrink)), max(1, round(width * shrink))))
    inside = _inside(small)
    if inside is None:
        whole = np.ones((height, width), bool)
        return Field(
            mask=whole,
            row=(height - 1) / 2,
            column=(width - 1) / 2,
            radius=float(np.hypot(height, width)) / 2,
            bounded=False,
        )
    row, column, radius = _circle(inside)
    grow = max(height, width) / max(inside.shape)
    full = resized(inside.astype(np.float32)[..., None], (height, width))[..., 0] > 0.5
    return Field(
        mask=full,
        row=(row + 0.5) * grow - 0.5,
        column=(column + 0.5) * grow - 0.5,
        radius=radius * grow,
        bounded=True,
    )


def _inside(photo: NDArray[np.float32]) -> NDArray[np.bool_] | None:
    """Return the field at low resolution, or None if there is no surround."""
    height, width = photo.shape[:2]
    h, w = max(2, round(_CORNER * height)), max(2, round(_CORNER * width))
    corners = [
        photo[rows, columns].reshape(-1, 3)
        for rows in (slice(h), slice(-h, None))
        for columns in (slice(w), slice(-w, None))
    ]
    colours = np.stack([np.median(corner, axis=0) for corner in corners])
    steady = [corner.std(axis=0).max() < 0.04 for corner in corners]
    # a date or a logo may sit in one corner
    surround = np.median(colours, axis=0)
    alike = np.abs(colours - surround).max(axis=1) < 0.06
    if (alike & steady).sum() < 3:
        return None
    noise = float(np.median([corner.std(axis=0).max() for corner in corners]))
    far = np.abs(photo - surround).max(axis=2) > max(0.035, 4 * noise)
    far = ndimage.binary_opening(far, iterations=2)
    labels, count = ndimage.label(far)
    if not count:
        return None
    largest = labels == 1 + np.argmax(ndimage.sum_labels(far, labels, range(1, count + 1)))
    hull: NDArray[np.bool_] = convex_hull_image(largest)  # type: ignore[no-untyped-call]
    if hull.mean() < _LEAST or hull.mean() > 0.98:
        return None
    return hull if _is_sharp(hull, np.abs(photo - surround).max(axis=2)) else None


def _is_sharp(hull: NDArray[np.bool_], away: NDArray[np.float32]) -> bool:
    """Whether the eye ends at the rim at once; a vignette fades into the corners."""
    within = hull & ~ndimage.binary_erosion(hull, iterations=10, border_value=1)
    beyond = ndimage.binary_dilation(hull, iterations=4) & ~hull
    if not beyond.any() or not within.any():
        return False
    step = float(away[within].mean() - away[beyond].mean())
    return step > _SHARP * float(np.median(away[hull]))


def _circle(inside: NDArray[np.bool_]) -> tuple[float, float, float]:
    """Circle through the rim, by least squares (Kasa), leaving out where the frame cuts it."""
    rim = inside & ~ndimage.binary_erosion(inside, border_value=1)
    row, column = np.nonzero(rim)
    clear = (row > 1) & (row < inside.shape[0] - 2) & (column > 1) & (column < inside.shape[1] - 2)
    row, column = row[clear], column[clear]
    if len(row) < 12:
        rows, columns = np.nonzero(inside)
        return float(rows.mean()), float(columns.mean()), float(np.sqrt(inside.sum() / np.pi))
    for _ in range(3):  # twice more without what lies off the circle, such as a flat side
        system = np.stack([row, column, np.ones(len(row))], axis=1)
        a, b, c = np.linalg.lstsq(system, row**2 + column**2, rcond=None)[0]
        centre, radius = (a / 2, b / 2), float(np.sqrt(max(c + a**2 / 4 + b**2 / 4, 1)))
        off = np.abs(np.hypot(row - centre[0], column - centre[1]) - radius)
        near = off <= max(2.0, 2 * float(np.median(off)))
        row, column = row[near], column[near]
    return float(centre[0]), float(centre[1]), radius
