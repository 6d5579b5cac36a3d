"""Field of view: the part of a photograph that shows the eye."""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from skimage.morphology import convex_hull_image

from ssplain.fundus.photo import Photo, as_photo, resized

_SMALL = 256  # pixels of the longer side at which the field is looked for
_CORNER = 0.04  # share of a side that a corner takes
_SHARP = 0.25  # least share of the eye's brightness that is lost at its rim
_LEAST = 0.25  # share of the frame below which there is no field to speak of
_BORDERS = 3  # a photograph on a page on a screen
_BOX = 0.97  # least share of its box that a photograph within a border fills; a circle has 0.79
_TINY = 0.1  # share of a side below which what differs from the surround is no photograph
_NECK = 12  # px of the small photograph: half the width at which two eyes touch
_TWIN = 0.5  # of the largest part: another that is as large is an eye of its own
_BLACK = 0.1  # a corner that is no brighter
_FEWEST = 32  # px of a side, see `as_photo`


@dataclass(frozen=True)
class Field:
    """Where a photograph shows the eye.

    Attributes:
        mask: (H, W), True inside the field.
        row: row of the centre of the circle that bounds it.
        column: column of that centre.
        radius: of that circle in px; half the diagonal if the eye fills the frame.
        bounded: whether a surround was found; if not, the eye is taken to fill the frame.
        eyes: how many fields lie apart from each other; all else is of the largest.
    """

    mask: NDArray[np.bool_]
    row: float
    column: float
    radius: float
    bounded: bool
    eyes: int = 1

    @property
    def side(self) -> float:
        """Of the square around it, in px."""
        if self.bounded:
            return 2 * self.radius
        rows, columns = _box(self.mask)
        return float(max(rows.stop - rows.start, columns.stop - columns.start))

    def moved(self, shape: tuple[int, int], top: int, left: int) -> "Field":
        """Place the field in a picture of which this one was a part.

        Example:
            >>> part = Field(np.ones((3, 4), bool), 1.0, 1.5, 2.5, False)
            >>> whole = part.moved((6, 9), 2, 1)
            >>> whole.row, whole.column, int(whole.mask.sum()), whole.side
            (3.0, 2.5, 12, 4.0)
        """
        mask = np.zeros(shape, bool)
        mask[top : top + self.mask.shape[0], left : left + self.mask.shape[1]] = self.mask
        return replace(self, mask=mask, row=self.row + top, column=self.column + left)


def field(photo: Photo) -> Field:
    """Find the field of view of a photograph, whatever the colour of its surround.

    The corners tell the surround's colour; what differs from it, made convex, is the field. Where
    the corners are no surround (uneven, or unlike each other) the whole frame is the field. A
    border around the photograph, of any colour, is left out first.

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
    part, top, left = pixels, 0, 0
    for _ in range(_BORDERS):
        inner = _within_border(part)
        if inner is None:
            break
        part, top, left = part[inner], top + inner[0].start, left + inner[1].start
    return _field(part).moved((pixels.shape[0], pixels.shape[1]), top, left)


def _field(pixels: NDArray[np.float32]) -> Field:
    """Find the field of a photograph without a border."""
    height, width = pixels.shape[:2]
    parts = _parts(_small(pixels))
    hull = None if parts is None else _inside(parts)
    if parts is None or hull is None:
        return Field(
            mask=np.ones((height, width), bool),
            row=(height - 1) / 2,
            column=(width - 1) / 2,
            radius=float(np.hypot(height, width)) / 2,
            bounded=False,
        )
    row, column, radius = _circle(hull)
    grow = max(height, width) / max(hull.shape)
    full = resized(hull.astype(np.float32)[..., None], (height, width))[..., 0] > 0.5
    return Field(
        mask=full,
        row=(row + 0.5) * grow - 0.5,
        column=(column + 0.5) * grow - 0.5,
        radius=radius * grow,
        bounded=True,
        eyes=parts.count,
    )


@dataclass(frozen=True)
class _Parts:
    """What differs from the surround: the largest part, how far each pixel does, how many."""

    largest: NDArray[np.bool_]
    away: NDArray[np.float32]
    count: int


def _small(pixels: NDArray[np.float32]) -> NDArray[np.float32]:
    height, width = pixels.shape[:2]
    shrink = min(1.0, _SMALL / max(height, width))
    return resized(pixels, (max(1, round(height * shrink)), max(1, round(width * shrink))))


def _surround(photo: NDArray[np.float32]) -> tuple[NDArray[np.float32], float] | None:
    """Colour of the surround as the corners tell it, and its noise."""
    height, width = photo.shape[:2]
    h, w = max(2, round(_CORNER * height)), max(2, round(_CORNER * width))
    corners = [
        photo[rows, columns].reshape(-1, 3)
        for rows in (slice(h), slice(-h, None))
        for columns in (slice(w), slice(-w, None))
    ]
    colours = np.stack([np.median(corner, axis=0) for corner in corners])
    noises = np.array([corner.std(axis=0).max() for corner in corners])
    # a date or a logo may sit in one corner
    surround = np.median(colours, axis=0)
    alike = np.abs(colours - surround).max(axis=1) < 0.06
    if (alike & (noises < 0.04)).sum() >= 3:
        return surround, float(np.median(noises))
    # a cut through the field may have left two corners, which are black
    black = (colours.max(axis=1) < _BLACK) & (noises < 0.04)
    return (colours[black].mean(axis=0), float(noises[black].max())) if black.sum() == 2 else None


def _parts(photo: NDArray[np.float32]) -> _Parts | None:
    """Part a small photograph from its surround; None if there is no surround."""
    found = _surround(photo)
    if found is None:
        return None
    surround, noise = found
    away = np.abs(photo - surround).max(axis=2)
    far = ndimage.binary_opening(away > max(0.035, 4 * noise), iterations=2)
    if not far.any():
        return None
    # two eyes that touch are parted by their cores
    largest, count = _largest(ndimage.binary_erosion(far, iterations=_NECK, border_value=1))
    if count > 1:
        grown = ndimage.binary_dilation(largest, iterations=_NECK)
        return _Parts(grown & far, away, count)
    return _Parts(_largest(far)[0], away, 1)


def _largest(mask: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], int]:
    """Return the largest part of a mask, and how many parts are of about its size."""
    labels, count = ndimage.label(mask)
    sizes = ndimage.sum_labels(mask, labels, np.arange(1, count + 1))
    if not count:
        return mask, 0
    return labels == 1 + np.argmax(sizes), int((sizes >= _TWIN * sizes.max()).sum())


def _within_border(pixels: NDArray[np.float32]) -> tuple[slice, slice] | None:
    """Rows and columns of a photograph that has a border; None if it has none.

    What lies within a border is a box, or so small that it can be nothing but a part.
    """
    parts = _parts(_small(pixels))
    if parts is None or parts.count > 1:
        return None
    hull: NDArray[np.bool_] = convex_hull_image(parts.largest)  # type: ignore[no-untyped-call]
    rows, columns = box = _box(hull)
    sides = [(part.stop - part.start) / n for part, n in zip(box, hull.shape, strict=True)]
    if min(sides) < _TINY or min(sides) > 0.98:
        return None
    if hull[box].mean() < _BOX and hull.mean() >= _LEAST:
        return None
    # a pixel of the small picture at each side is half border
    keep = int(hull[box].mean() >= _BOX)
    scale = [n / m for n, m in zip(pixels.shape, hull.shape, strict=False)]
    tight = [
        slice(math.ceil((part.start + keep) * by), math.floor((part.stop - keep) * by))
        for part, by in zip((rows, columns), scale, strict=True)
    ]
    return (tight[0], tight[1]) if min(t.stop - t.start for t in tight) >= _FEWEST else None


def _box(mask: NDArray[np.bool_]) -> tuple[slice, slice]:
    """Rows and columns that hold all of a mask."""
    rows, columns = (np.flatnonzero(mask.any(axis=axis)) for axis in (1, 0))
    return slice(int(rows[0]), int(rows[-1]) + 1), slice(int(columns[0]), int(columns[-1]) + 1)


def _inside(parts: _Parts) -> NDArray[np.bool_] | None:
    """Return the field at low resolution, or None if there is none to speak of."""
    hull: NDArray[np.bool_] = convex_hull_image(parts.largest)  # type: ignore[no-untyped-call]
    share = parts.count * hull.mean()
    if share < _LEAST or share > 0.98:
        return None
    return hull if _is_sharp(hull, parts.away) else None


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
