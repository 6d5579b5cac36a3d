"""Plants plus disease into a healthy vessel tree, vessel by vessel, and keeps the truth.

In the international classification plus disease is dilation and tortuosity of the posterior
vessels, pre-plus is less of the same. Here vessels of an ill quadrant wind, in stretches, finely
and irregularly, arteries more than veins; in some eyes they are wider, too, in others not at all.
What healthy vessels do of their own accord, swaying in long bows and trembling a little, is drawn
in the same way for every grade.

Reference: M. F. Chiang et al., International Classification of Retinopathy of Prematurity, third
edition, Ophthalmology 128(10), 2021.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter1d

from ssplain.simulate.anatomy import Array
from ssplain.simulate.tree import Course

CLASSES = ("Normal", "Pre-plus", "Plus")
QUADRANTS = ("superotemporal", "inferotemporal", "inferonasal", "superonasal")

AMOUNTS = ((0.0, 0.14), (0.42, 0.68), (1.0, 1.6))  # of disease in eyes of a grade, drawn evenly
_LEAST_AFFECTED = 3  # quadrants
_SPREAD = (0.9, 0.85, 0.8)  # chance that a vessel of a generation is affected in such a quadrant
_SUBCLINICAL = 0.2  # below this a stretch of vessel counts as healthy
_SLOPE = 0.58  # of the windings at strength 1: tangent of the angle to the course
_WAVELENGTH = (9.0, 24.0)  # pixels from winding to winding in different eyes
_DILATION = (0.1, 0.35)  # added width, as a fraction, at strength 1, in eyes that have it
_DILATED = 0.5  # share of eyes that have it


@dataclass(frozen=True)
class Disease:
    """What plus disease does in one eye.

    Attributes:
        amount: 0 in a healthy eye, about 1 in an eye that all graders would call plus.
        quadrants: (4,) factor on it in each of `QUADRANTS`.
        wavelength: of the windings, in pixels at magnification 1.
        veins: how much veins wind, as a fraction of what arteries do.
        dilation: width added at strength 1, as a fraction; 0 in an eye without dilation.
        reach: distance from the disc, in pixels, at which it has faded by half.
    """

    amount: float
    quadrants: Array
    wavelength: float
    veins: float
    dilation: float
    reach: float


@dataclass(frozen=True)
class Finding:
    """What was planted into one vessel.

    Attributes:
        severity: 0 in a healthy vessel, about 1 in a vessel of typical plus disease.
        amplitude: of its windings where they are largest, in pixels.
        wavelength: of its windings, in pixels.
        quadrant: index into `QUADRANTS`.
        strength: severity at each sample of the course, 0 where it is healthy.
        dilation: factor on the width at each sample.
    """

    severity: float
    amplitude: float
    wavelength: float
    quadrant: int
    strength: Array
    dilation: Array

    @property
    def diseased(self) -> bool:
        """Whether the vessel carries disease anywhere."""
        return self.severity > 0


def draw_disease(rng: np.random.Generator, label: int, amount: float | None = None) -> Disease:
    """Draw the disease of an eye of a grade.

    Args:
        rng: draws everything; as many numbers whatever the grade and amount.
        label: 0 Normal, 1 Pre-plus or 2 Plus.
        amount: of disease, in place of one drawn for the grade.

    Example:
        >>> plus = draw_disease(np.random.default_rng(0), 2)
        >>> plus.amount >= 1, (plus.quadrants > 0.8).sum() >= 3
        (True, np.True_)
    """
    drawn = rng.uniform(*AMOUNTS[label])
    affected = rng.permutation(4) < rng.integers(_LEAST_AFFECTED, 5)
    quadrants = np.where(affected, rng.uniform(0.9, 1.1, 4), rng.uniform(0.3, 0.7, 4))
    dilated = rng.random() < _DILATED
    low, high = np.log(_WAVELENGTH)
    return Disease(
        amount=drawn if amount is None else amount,
        quadrants=quadrants,
        wavelength=math.exp(rng.uniform(low, high)),
        veins=rng.uniform(0.4, 0.9),
        dilation=rng.uniform(*_DILATION) * dilated,
        reach=rng.uniform(95, 200),
    )


def quadrant_of(points: Array) -> int:
    """Quadrant in which the middle of a course lies, as an index into `QUADRANTS`."""
    x, y = points[len(points) // 2]
    return (0 if y > 0 else 1) if x > 0 else (3 if y > 0 else 2)


def plant(
    rng: np.random.Generator,
    courses: Sequence[Course],
    widths: Sequence[Array],
    disease: Disease,
    zoom: float,
) -> tuple[list[Array], list[Array], list[Finding]]:
    """Make vessels wind and widen, and let every branch follow the vessel it leaves.

    As many numbers are drawn whatever the disease, so that the same eye without it is the same in
    all else.

    Returns:
        Points, widths and findings, one of each per course.
    """
    points: list[Array] = []
    wider: list[Array] = []
    shifts: list[Array] = []
    findings: list[Finding] = []
    sway = rng.uniform(0.0, 0.35)  # slope of an eye's natural bows
    for course, width in zip(courses, widths, strict=True):
        count = len(course.points)
        strength = _strength(rng, course, disease, zoom)
        wavelength = zoom * disease.wavelength * rng.uniform(0.75, 1.35)
        share = 1.0 if course.kind == "artery" else disease.veins
        slope = rng.uniform(0.0, 0.11) + _SLOPE * share * strength
        fine = slope * wavelength / math.tau * _wave(rng, count, wavelength)
        bow = zoom * rng.uniform(50, 110)
        long = sway * rng.uniform(0.3, 1.0) * bow / math.tau * _wave(rng, count, bow)
        shift = (fine + long)[:, None] * _normals(course.points)
        if course.parent >= 0:
            fade = np.exp(-np.arange(count) / 15)
            shift += shifts[course.parent][course.attach] * fade[:, None]
        widening = disease.dilation * (1.0 if course.kind == "vein" else 0.5)
        dilation = 1 + widening * strength
        points.append(course.points + shift)
        wider.append(width * dilation * _unevenness(rng, count))
        shifts.append(shift)
        shown = np.where(strength > _SUBCLINICAL, strength, 0.0)
        findings.append(
            Finding(
                severity=float(shown.max()),
                amplitude=float(slope.max()) * wavelength / math.tau,
                wavelength=wavelength,
                quadrant=quadrant_of(course.points),
                strength=shown,
                dilation=dilation,
            )
        )
    return points, wider, findings


def _strength(rng: np.random.Generator, course: Course, disease: Disease, zoom: float) -> Array:
    """Disease along a course: it comes in stretches and fades towards the periphery."""
    affected = rng.random() < _SPREAD[course.generation]
    own = rng.uniform(0.85, 1.15)
    rise = gaussian_filter1d(rng.standard_normal(len(course.points) + 96), 16)[48:-48] * 7.5
    stretches = 1 / (1 + np.exp(-2.5 * (rise + 1.1)))
    far = np.hypot(*course.points.T) / zoom - disease.reach
    pole = np.clip(0.5 - far / 50, 0, 1)
    level = disease.amount * disease.quadrants[quadrant_of(course.points)]
    strength: Array = level * own * affected * stretches * pole
    return strength


def _wave(rng: np.random.Generator, count: int, wavelength: float) -> Array:
    """Return a wave of about unit amplitude whose phase and height wander, as those of vessels do.

    Phase and height are smooth noise over about a wavelength, so no two windings are alike.
    """
    over = max(wavelength / 2, 3.0)
    margin = int(4 * over)
    noise = gaussian_filter1d(rng.standard_normal((2, count + 2 * margin)), over)
    drift, swell = noise[:, margin : margin + count] * math.sqrt(2 * over * math.sqrt(math.pi))
    along = np.arange(count)
    phase = math.tau * (along / wavelength + rng.random()) + 0.9 * drift
    wave: Array = np.minimum(along / 8, 1) * np.clip(1 + 0.35 * swell, 0.2, 1.9) * np.sin(phase)
    return wave


def _unevenness(rng: np.random.Generator, count: int) -> Array:
    """Natural variation of width between vessels and along each of them."""
    smooth = gaussian_filter1d(rng.standard_normal(count + 24), 6)[12:-12] * 4.6
    uneven: Array = rng.uniform(0.85, 1.15) * (1 + 0.07 * smooth)
    return uneven


def _normals(points: Array) -> Array:
    """Return unit normals of a course, on its left side."""
    ahead = np.gradient(points, axis=0)
    ahead /= np.maximum(np.hypot(*ahead.T), 1e-9)[:, None]
    return np.stack([-ahead[:, 1], ahead[:, 0]], axis=1)
