"""What the vessel network learns from: photographs with strokes, and with painted trees.

Strokes say where vessels run, not how wide they are, and a fine vessel that nobody drew is not a
false one. Painted trees say exactly how wide and how wound. A sheet holds either in one form, for
two maps: near a vessel, which pixels belong to it, which paint alone can tell; and everywhere the
courses, bands as wide as a stroke.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from skimage.morphology import skeletonize

from ssplain.data.hvdropdb import PALE, Eye
from ssplain.fundus.photo import flat, resized
from ssplain.fundus.plate import Plate, plate
from ssplain.fundus.segment import DIAMETER, REACH
from ssplain.sheets.sheet import Sheet, as_sheet
from ssplain.sheets.snap import snapped
from ssplain.sheets.wear import worn
from ssplain.simulate.disease import draw_disease
from ssplain.simulate.ground import Ground, clear, dark_lines
from ssplain.simulate.paint import Place, choroid, grown, paint

_DOUBT = 0.12  # weight of dark lines that nobody drew
_ASTRAY = 3  # pixels beside a stroke in which its vessel may lie
_NEAR = 8  # pixels around a vessel in which its width is learned
_BAND = 3.5  # half the width of a course
_VAGUE = 2.5  # pixels beside a course in which nothing is said


@dataclass(frozen=True)
class Prepared:
    """An eye at the network's scale.

    Attributes:
        name: as the data set names it.
        photo: (H, W, 3) in [0, 1].
        strokes: (H, W) what was drawn.
        line: (H, W) the vessels along the strokes, one pixel wide.
        ground: the photograph without them.
    """

    name: str
    photo: NDArray[np.float32]
    strokes: NDArray[np.bool_]
    line: NDArray[np.bool_]
    ground: Ground


def prepare(eye: Eye) -> Prepared:
    """Bring an eye to the network's scale and clear it of its vessels."""
    ready, strokes = _at_scale(eye)
    line = snapped(strokes & ready.inside, dark_lines(ready.photo, ready.inside), _ASTRAY)
    ground = clear(ready.photo, strokes, ready.inside)
    return Prepared(eye.name, ready.photo, strokes, line, ground)


def ground_of(eye: Eye) -> Ground:
    """Bring an eye to the network's scale and clear it of its vessels, no more."""
    ready, strokes = _at_scale(eye)
    return clear(ready.photo, strokes, ready.inside)


def _at_scale(eye: Eye) -> tuple[Plate, NDArray[np.bool_]]:
    ready = plate(eye.photo, DIAMETER)
    return ready, _nearest(eye.mask, (ready.inside.shape[0], ready.inside.shape[1]))


def sheet(eyes: Sequence[Prepared], seed: int, index: int) -> Sheet:
    """Make sheet number `index` of the endless series `seed`: every other one is painted."""
    rng = np.random.default_rng([seed, index])
    eye = eyes[int(rng.integers(len(eyes)))]
    scale = float(np.exp(rng.uniform(np.log(0.75), np.log(1.5))))
    return painted_sheet(eye, rng, scale) if index % 2 else stroke_sheet(eye, rng, scale)


def painted_sheet(eye: Prepared, rng: np.random.Generator, scale: float = 1.0) -> Sheet:
    """Paint a tree into the ground of an eye."""
    height, width = size = _scaled(eye.photo.shape, scale)
    ground = _rescaled(eye.ground, size)
    if rng.random() < 0.5:
        ground = Ground(choroid(ground.photo, rng), ground.inside, ground.contrast, ground.doubtful)
    disc = float(rng.uniform(0.2, 0.8) * height), float(rng.uniform(0.1, 0.9) * width)
    pixels = scale * DIAMETER / 224 * rng.uniform(0.7, 1.15)
    side = 1 if rng.random() < 0.5 else -1
    disease = draw_disease(rng, int(rng.integers(3)))
    strands = grown(rng, disease, Place(disc, pixels, side))
    painted = paint(ground, strands, rng)
    weight = np.where(ground.doubtful & (painted.vessels == 0), _doubt(eye), 1) * ground.inside
    image = flat(worn(painted.photo, rng), ground.inside, REACH)
    away = ndimage.distance_transform_edt(painted.vessels < 0.5)
    course, sure = _course(away, _BAND - 1)
    return as_sheet(image, (painted.vessels, course), (weight * (away <= _NEAR), weight * sure))


def stroke_sheet(eye: Prepared, rng: np.random.Generator, scale: float = 1.0) -> Sheet:
    """Take an eye as it is, with what was drawn on it."""
    size = _scaled(eye.photo.shape, scale)
    photo = resized(eye.photo, size)
    inside = _nearest(eye.ground.inside, size)
    strokes = _nearest(eye.strokes, size)
    line = _moved(eye.line, scale, size)
    doubtful = _nearest(eye.ground.doubtful, size)
    weight = np.where(doubtful, _doubt(eye), 1) * inside
    middle = skeletonize(strokes)  # type: ignore[no-untyped-call]
    course, sure = _course(ndimage.distance_transform_edt(~middle), _BAND)
    weights = np.zeros(size), np.where(course, 1, weight) * (sure & inside)
    image = flat(worn(photo, rng), inside, REACH)
    return as_sheet(image, (np.zeros(size), course), weights, line & inside)


def _course(
    away: NDArray[np.floating], reach: float
) -> tuple[NDArray[np.floating], NDArray[np.bool_]]:
    """Return a band around vessels, and where there is no doubt whether a pixel belongs to it."""
    course = away <= reach
    return course.astype(np.float32), course | (away > reach + _VAGUE)


def _doubt(eye: Prepared) -> float:
    return 1.0 if eye.name in PALE else _DOUBT


def _scaled(shape: tuple[int, ...], scale: float) -> tuple[int, int]:
    return round(shape[0] * scale), round(shape[1] * scale)


def _rescaled(ground: Ground, size: tuple[int, int]) -> Ground:
    return Ground(
        resized(ground.photo, size),
        _nearest(ground.inside, size),
        resized(ground.contrast, size),
        _nearest(ground.doubtful, size),
    )


def _moved(line: NDArray[np.bool_], scale: float, size: tuple[int, int]) -> NDArray[np.bool_]:
    """Return a line at another scale, still one pixel wide."""
    moved = np.zeros(size, bool)
    row, column = (np.rint((at + 0.5) * scale - 0.5).astype(int) for at in np.nonzero(line))
    moved[row.clip(0, size[0] - 1), column.clip(0, size[1] - 1)] = True
    return moved


def _nearest(mask: NDArray[np.bool_], size: tuple[int, int]) -> NDArray[np.bool_]:
    share = resized(mask.astype(np.float32)[..., None], size)[..., 0]
    return share > 0.5
