"""Plants plus disease into a healthy vessel tree, vessel by vessel, and keeps the truth.

In the international classification plus disease is dilation and tortuosity of the posterior
vessels, pre-plus is less of the same. Here arteries become tortuous and veins become wide; how
strongly is set per quadrant, so that the same label comes in many patterns.

Reference: M. F. Chiang et al., International Classification of Retinopathy of Prematurity, third
edition, Ophthalmology 128(10), 2021.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter1d

from ssplain.simulate.tree import Array, Course

CLASSES = ("Normal", "Pre-plus", "Plus")
QUADRANTS = ("superotemporal", "inferotemporal", "inferonasal", "superonasal")

# Severity (mean, deviation) of a class; neighbours overlap a little, as graders do.
_SEVERITY = ((0.05, 0.065), (0.5, 0.085), (1.1, 0.15))
_LEAST_AFFECTED = (4, 3, 4)  # quadrants
_SPREAD = (1.0, 0.7, 0.0)  # chance that a vessel of a generation is affected in such a quadrant
_SUBCLINICAL = 0.2  # below this severity a quadrant counts as healthy
_AMPLITUDE = 4.6  # pixels of displacement at severity 1
_DILATION = 1.0  # added width, as a fraction, at severity 1


@dataclass(frozen=True)
class Finding:
    """What was planted into one vessel.

    Attributes:
        severity: 0 in a healthy vessel, about 1 in a vessel of typical plus disease.
        amplitude: of its wiggles, in pixels.
        wavelength: of its wiggles, in pixels.
        quadrant: index into `QUADRANTS`.
        strength: severity at each sample of the course; it fades towards the periphery.
        dilation: factor on the width at each sample; it fades in the same way.
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


def draw_severity(rng: np.random.Generator, label: int) -> Array:
    """Severity of the four quadrants of an eye of a class.

    Example:
        >>> plus = draw_severity(np.random.default_rng(0), 2)
        >>> plus.shape, bool((plus > 0.5).sum() >= 3)
        ((4,), True)
    """
    severity = max(0.0, rng.normal(*_SEVERITY[label]))
    affected = rng.permutation(4) < rng.integers(_LEAST_AFFECTED[label], 5)
    each = severity * rng.uniform(0.9, 1.1, size=4)
    return np.where(affected, each, rng.uniform(0.0, 0.1, size=4))


def quadrant_of(points: Array) -> int:
    """Quadrant in which the middle of a course lies, as an index into `QUADRANTS`."""
    x, y = points[len(points) // 2]
    return (0 if y > 0 else 1) if x > 0 else (3 if y > 0 else 2)


def plant(
    rng: np.random.Generator,
    courses: Sequence[Course],
    widths: Sequence[Array],
    severity: Array,
    zoom: float,
) -> tuple[list[Array], list[Array], list[Finding]]:
    """Bends arteries, widens veins, and lets every branch follow the vessel it leaves.

    Returns:
        Points, widths and findings, one of each per course.
    """
    points: list[Array] = []
    wider: list[Array] = []
    findings: list[Finding] = []
    shifts: list[Array] = []
    tone = rng.uniform(0.9, 1.1)  # eyes differ in which of the two signs leads
    for course, width in zip(courses, widths, strict=True):
        artery = course.kind == "artery"
        quadrant = quadrant_of(course.points)
        affected = rng.random() < _SPREAD[course.generation]
        z = severity[quadrant] * rng.uniform(0.85, 1.15) if affected else rng.uniform(0.0, 0.1)
        pole = _posterior(course.points / zoom)
        bend = _AMPLITUDE * z * tone if artery else 0.0
        dilation = 1.0 if artery else 1.0 + _DILATION * z * (2.0 - tone)
        natural = rng.uniform(0.0, 0.5)
        wavelength = zoom * (rng.uniform(18, 29) if artery else rng.uniform(20, 36))
        wave = _wave(rng, len(pole), wavelength)
        shift = (zoom * (natural + bend * pole) * wave)[:, None] * _normals(course.points)
        if course.parent >= 0:
            fade = np.exp(-np.arange(len(pole)) / 15)
            shift += shifts[course.parent][course.attach] * fade[:, None]
        diseased = z > _SUBCLINICAL and pole.max() > 0.2
        points.append(course.points + shift)
        factor = 1 + (dilation - 1) * pole
        wider.append(width * factor * _unevenness(rng, len(pole)))
        shifts.append(shift)
        findings.append(
            Finding(
                severity=z if diseased else 0.0,
                amplitude=zoom * (natural + bend),
                wavelength=wavelength,
                quadrant=quadrant,
                strength=z * pole * diseased,
                dilation=factor,
            )
        )
    return points, wider, findings


def _posterior(points: Array) -> Array:
    """How far a point belongs to the posterior pole: 1 near the disc, 0 far in the periphery."""
    pole: Array = np.clip((95 - np.hypot(*points.T)) / 35, 0, 1)
    return pole


def _wave(rng: np.random.Generator, count: int, wavelength: float) -> Array:
    """A sine of about unit amplitude whose phase and height wander, as those of vessels do."""
    drift, swell = gaussian_filter1d(rng.standard_normal((2, count + 40)), 10)[:, 20:-20] * 5.9
    along = np.arange(count)
    phase = math.tau * (along / wavelength + rng.random()) + 0.6 * drift
    wave: Array = np.minimum(along / 8, 1) * (1 + 0.2 * swell) * np.sin(phase)
    return wave


def _unevenness(rng: np.random.Generator, count: int) -> Array:
    """Natural variation of width between vessels and along each of them."""
    smooth = gaussian_filter1d(rng.standard_normal(count + 24), 6)[12:-12] * 4.6
    uneven: Array = rng.uniform(0.88, 1.12) * (1 + 0.05 * smooth)
    return uneven


def _normals(points: Array) -> Array:
    """Unit normals of a course, on its left side."""
    ahead = np.gradient(points, axis=0)
    ahead /= np.maximum(np.hypot(*ahead.T), 1e-9)[:, None]
    return np.stack([-ahead[:, 1], ahead[:, 0]], axis=1)
