"""Whether a photograph can be read: is it a fundus at all, and is it bright and sharp enough.

The bounds were set on 54 photographs of two infant cameras and one adult's, and on pictures of
other things; the photographs lie well inside them.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from skimage.morphology import skeletonize

from ssplain.fundus.field import Field
from ssplain.fundus.photo import Photo, as_photo
from ssplain.fundus.plate import Plate, plate
from ssplain.fundus.segment import DIAMETER, SURE, segment

_GREY = 0.1  # median saturation below which a picture has no colour; eyes have 0.29 and more
_FOREIGN = 0.7  # least share of pixels that are reddish; eyes have 1.0
_ROUGH = 0.022  # mean gradient of the log brightness; eyes have 0.014 at most, a cat has 0.05
_EVEN = 0.0008  # the same; below this there is nothing to be seen
_DARK = 0.2  # median of the brightest channel; eyes have 0.4 and more
_GLARE = 0.35  # share of pixels at full brightness; eyes have 0.2 at most
_BLURRED = 0.25  # fine detail over coarse; eyes have 0.46 and more, blurred by 4 px 0.2
# fine detail along one direction over another; 161 eyes have 0.65 and more, 159 0.73;
# those of 24 that were smeared by 9 px of 640 have 0.56 and less
_SMEARED = 0.6
_SMALL = 240  # px of the field's diameter; at 320 px grades hardly move, at 100 px all is Normal
_VESSELS = 1.0  # length of vessels in diameters of the field
_SEVERAL = "several eyes: they lie side by side; cut them apart and give each as its own picture"


@dataclass(frozen=True)
class Quality:
    """What is wrong with a photograph, if anything.

    Attributes:
        fundus: whether it is a photograph of one fundus at all; what is not is refused.
        reasons: what speaks against it, each beginning with its key word: "not a fundus", "several
            eyes", "dark", "glaring", "blurred", "smeared", "small" or "few vessels". Empty if
            nothing does.
        measures: the numbers behind it.
    """

    fundus: bool
    reasons: tuple[str, ...]
    measures: dict[str, float]

    @property
    def good(self) -> bool:
        """Whether nothing speaks against the photograph."""
        return not self.reasons


def quality(
    photo: Photo, vessels: NDArray[np.floating] | None = None, view: Field | None = None
) -> Quality:
    """Judge a photograph before it is read.

    Args:
        photo: array or tensor, (H, W, 3) or (3, H, W), bytes or floats in [0, 1].
        vessels: what `segment` gave for it from `SURE` on, if that is there already.
        view: the field of view, if it is known; found otherwise.

    Example:
        >>> quality(np.full((120, 160, 3), 128, np.uint8)).reasons
        ('not a fundus: the picture has no colour',)
    """
    pixels = as_photo(photo)
    large = plate(pixels, DIAMETER, view)
    measures = _measures(plate(pixels, DIAMETER / 2, large.field), large)
    strange = _strange(measures)
    if strange is not None:
        return Quality(fundus=False, reasons=(f"not a fundus: {strange}",), measures=measures)
    if large.field.eyes > 1:
        return Quality(fundus=False, reasons=(_SEVERAL,), measures=measures)
    reasons = []
    if measures["brightness"] < _DARK:
        reasons.append("dark: half of the field is darker than a fifth of full brightness")
    if measures["glare"] > _GLARE:
        reasons.append("glaring: a third of the field is at full brightness")
    if measures["sharpness"] < _BLURRED:
        reasons.append("blurred: fine detail is missing")
    if measures["evenness"] < _SMEARED:
        reasons.append("smeared: fine detail is missing in one direction, as if the camera moved")
    if 2 * large.field.radius < _SMALL:
        reasons.append(
            f"small: the field is {2 * large.field.radius:.0f} px wide, too few for fine vessels"
        )
    if vessels is None:
        vessels = segment(pixels, view=large.field, least=SURE)
    length = vessel_length(vessels)
    measures["vessel_length"] = length / (2 * large.field.radius)
    if measures["vessel_length"] < _VESSELS:
        reasons.append("few vessels: less than one diameter of the field in length was found")
    return Quality(fundus=True, reasons=tuple(reasons), measures=measures)


def vessel_length(vessels: NDArray[np.floating]) -> float:
    """Length of the centrelines of a map of vessels in px.

    Example:
        >>> vessels = np.zeros((20, 120))
        >>> vessels[8:11, 10:110] = 1
        >>> 95 < vessel_length(vessels) < 101
        True
    """
    line = skeletonize(vessels > 0)  # type: ignore[no-untyped-call]
    return float(line.sum())


def _strange(measures: dict[str, float]) -> str | None:
    """Why a picture is no fundus photograph, or None if it may be one."""
    if measures["saturation"] < _GREY:
        return "the picture has no colour"
    if measures["reddish"] < _FOREIGN:
        return "much of it is green or blue"
    if measures["roughness"] > _ROUGH:
        return (
            "it has far more edges than the back of an eye; if it is one, give the photograph "
            "alone, without a viewer's window or text"
        )
    if measures["roughness"] < _EVEN:
        return "there is nothing on it"
    return None


def _measures(small: Plate, large: Plate) -> dict[str, float]:
    inner = ndimage.binary_erosion(small.inside, iterations=5)
    inner = inner if inner.any() else small.inside
    colours = small.photo[small.inside]
    if not len(colours):
        colours, inner = small.photo.reshape(-1, 3), np.ones_like(small.inside)
    red, green, blue = colours.T
    brightest = colours.max(axis=1)
    log = np.log(small.photo.mean(axis=2) + 0.02)
    sharpness, evenness = _detail(large)
    return {
        "saturation": float(np.median((brightest - colours.min(axis=1)) / (brightest + 0.02))),
        "reddish": float(((red >= 0.85 * green) & (red >= blue)).mean()),
        "roughness": float(ndimage.gaussian_gradient_magnitude(log, 1.5)[inner].mean()),
        "brightness": float(np.median(brightest)),
        "glare": float((brightest > 0.98).mean()),
        "sharpness": sharpness,
        "evenness": evenness,
    }


def _detail(ready: Plate) -> tuple[float, float]:
    """How much fine detail there is in log green, and how evenly it runs in all directions.

    The first is the mean size of detail between 1 and 2 px over that between 3 and 6 px, the second
    the mean slope of the fine detail in the direction in which it is least over that in which it is
    most.
    """
    inner = ndimage.binary_erosion(ready.inside, iterations=10)
    if not inner.any():
        return 0.0, 1.0
    green = np.log(ready.photo[..., 1] + 0.02)
    a, b, c, d = (ndimage.gaussian_filter(green, sigma) for sigma in (1, 2, 3, 6))
    down, right = (slope[inner] for slope in np.gradient(a - b))
    angles = np.radians(np.arange(0, 180, 15))
    slopes = [float(np.abs(np.cos(t) * right + np.sin(t) * down).mean()) for t in angles]
    coarse = float(np.abs(c - d)[inner].mean())
    return (
        float(np.abs(a - b)[inner].mean()) / coarse if coarse > 0 else 0.0,
        min(slopes) / max(slopes) if max(slopes) > 0 else 1.0,
    )
