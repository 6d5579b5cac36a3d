"""How a segmentation shows a vessel tree: drawn once per eye, and never from the grade.

Segmentation networks, cameras and people differ in how bright, soft and complete their vessel maps
are. None of that is disease, so none of it may go with the grade: a classifier that could tell the
grade by brightness would read brightness.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.ndimage import gaussian_filter1d

from ssplain.simulate.anatomy import SIZE, Array
from ssplain.simulate.tree import Course


@dataclass(frozen=True)
class Appearance:
    """What one segmentation does to every vessel of an eye.

    Attributes:
        calibre: factor on all widths.
        softness: pixels over which an edge fades.
        gain: value of a vessel of which the segmentation is certain.
        gamma: exponent on its soft output.
        threshold: soft output below this is cut off, before the gain.
        faintness: how much fainter the thinnest vessels are, as a fraction.
        unevenness: relative deviation of the light along a vessel.
        grain: relative deviation of the light from place to place.
        missing: chance that a twig is not found; a trunk is missed a fifth as often.
        breaks: gaps per pixel of a thin vessel; wide ones have a fifth of that.
        clutter: false, faint stretches, on average.
        binary: whether the output is 0 or 1.
    """

    calibre: float
    softness: float
    gain: float
    gamma: float
    threshold: float
    faintness: float
    unevenness: float
    grain: float
    missing: float
    breaks: float
    clutter: float
    binary: bool


def draw_appearance(rng: np.random.Generator) -> Appearance:
    """Draw how the segmentation of one eye looks.

    Example:
        >>> 0 < draw_appearance(np.random.default_rng(0)).threshold < 0.4
        True
    """
    return Appearance(
        calibre=_log_uniform(rng, 0.45, 1.1),
        softness=rng.uniform(0.2, 0.65),
        gain=rng.uniform(0.75, 1.2),
        gamma=_log_uniform(rng, 0.5, 1.15),
        threshold=rng.uniform(0.03, 0.32),
        faintness=rng.uniform(0.0, 0.4),
        unevenness=rng.uniform(0.0, 0.25),
        grain=rng.uniform(0.0, 0.1),
        missing=rng.uniform(0.0, 0.3),
        breaks=rng.uniform(0.0, 0.012),
        clutter=rng.uniform(0.0, 7.0),
        binary=bool(rng.random() < 0.12),
    )


def drop_missing(
    rng: np.random.Generator, courses: Sequence[Course], missing: float
) -> list[Course]:
    """Leave vessels out that the segmentation does not find, with all that branches off them.

    Example:
        >>> line = np.stack([np.arange(40.0), np.zeros(40)], axis=1)
        >>> trunk, side = Course(line, "vein", -1, 0, 0, 3.0), Course(line, "vein", 0, 20, 1, 0.7)
        >>> len(drop_missing(np.random.default_rng(0), [trunk, side], missing=1.0))
        1
    """
    chance = rng.random(len(courses))
    place: dict[int, int] = {-1: -1}
    kept: list[Course] = []
    for i, course in enumerate(courses):
        found = chance[i] >= missing * (1.0 if course.generation else 0.2) or not kept
        if found and course.parent in place:
            place[i] = len(kept)
            kept.append(replace(course, parent=place[course.parent]))
    return kept


def lights(rng: np.random.Generator, widths: Sequence[Array], look: Appearance) -> list[Array]:
    """Certainty of the segmentation along each vessel, 0 in a gap.

    As many numbers are drawn whatever the widths, so that disease changes nothing else.
    """
    return [_light(rng, width, look) for width in widths]


def _light(rng: np.random.Generator, width: Array, look: Appearance) -> Array:
    count = len(width)
    thin = np.exp(-np.maximum(width - 1.1, 0) / 0.8)
    slow = gaussian_filter1d(rng.standard_normal(count + 48), 8)[24:-24] * 5.3
    light = (1 - look.faintness * thin) * np.exp(look.unevenness * np.minimum(slow, 1))
    begins = rng.random(count) < look.breaks * (0.2 + 0.8 * thin)
    lengths = rng.exponential(4.0, count) + 2
    for start in np.flatnonzero(begins):
        light[start : start + int(lengths[start])] = 0
    return light


def clutter(
    rng: np.random.Generator, look: Appearance
) -> tuple[list[Array], list[Array], list[Array]]:
    """Return false stretches anywhere in the picture: points in it, widths and lights, one each.

    They bend as they please: what is no vessel says nothing about disease.
    """
    points, widths, light = [], [], []
    for _ in range(rng.poisson(look.clutter)):
        count = int(rng.uniform(4, 45))
        turns = gaussian_filter1d(rng.standard_normal(count + 20), 4)[10:-10] * rng.uniform(0, 0.5)
        angle = rng.uniform(0, math.tau) + np.cumsum(turns)
        steps = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        points.append(rng.uniform(10, SIZE - 10, 2) + np.cumsum(steps, axis=0))
        widths.append(np.full(count, rng.uniform(1.0, 2.2)))
        light.append(np.full(count, rng.uniform(0.3, 0.8)))
    return points, widths, light


def _log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return math.exp(rng.uniform(math.log(low), math.log(high)))
