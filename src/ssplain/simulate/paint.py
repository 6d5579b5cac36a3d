"""Vessels of known course and width, painted into photographs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, map_coordinates, zoom

from ssplain.simulate.anatomy import Array, draw_eye
from ssplain.simulate.discs import depths
from ssplain.simulate.disease import Disease, plant
from ssplain.simulate.ground import Ground, Mask, Pixels
from ssplain.simulate.tree import calibre, grow_tree

_THINNEST = 1.5  # pixels; what a camera still shows


@dataclass(frozen=True)
class Strand:
    """One vessel as it is painted: points (n, 2) as (column, row), widths and disease there.

    Attributes:
        points: in pixels of the photograph.
        widths: in pixels, at each point.
        relevance: severity of the disease planted there, 0 where healthy.
        artery: whether it is painted in the lighter red of arteries.
    """

    points: Array
    widths: Array
    relevance: Array
    artery: bool


@dataclass(frozen=True)
class Place:
    """Where a simulated eye comes to lie in a photograph.

    Attributes:
        disc: row and column of the disc.
        scale: pixels of the photograph per pixel of the simulated eye.
        side: 1 if the macula is to the right of the disc, -1 if to the left.
    """

    disc: tuple[float, float]
    scale: float
    side: int


@dataclass(frozen=True)
class Painted:
    """A photograph with painted vessels and their truth.

    Attributes:
        photo: (H, W, 3) in [0, 1].
        vessels: (H, W), how far each pixel is vessel, in [0, 1].
        width: (H, W), width in px of the vessel there, 0 off the vessels.
        relevance: (H, W), severity of the disease planted there.
        strand: (H, W), index of the vessel painted there, -1 off the vessels.
        inside: (H, W), the field of view.
        doubtful: (H, W), dark lines of the ground that nobody drew.
    """

    photo: Pixels
    vessels: Pixels
    width: Pixels
    relevance: Pixels
    strand: NDArray[np.int32]
    inside: Mask
    doubtful: Mask


def paint(ground: Ground, strands: Sequence[Strand], rng: np.random.Generator) -> Painted:
    """Paint vessels into a photograph as its own vessels looked.

    Light is absorbed along its way through a round vessel, `exp(-a sqrt(1 - (d/r)^2))`, with the
    contrast that the photograph's own vessels had nearby; wide vessels show a central reflex, thin
    ones absorb less; then the camera blurs.

    Example:
        >>> from ssplain.simulate.ground import clear
        >>> photo = np.full((64, 64, 3), 0.6, np.float32)
        >>> photo[30:33] *= (0.9, 0.7, 0.8)
        >>> strokes = np.zeros((64, 64), bool)
        >>> strokes[29:34] = True
        >>> ground = clear(photo, strokes, np.ones((64, 64), bool))
        >>> line = np.stack([np.arange(5.0, 60), np.full(55, 15.0)], axis=1)
        >>> strand = Strand(line, np.full(55, 5.0), np.zeros(55), artery=False)
        >>> painted = paint(ground, [strand], np.random.default_rng(0))
        >>> round(float(painted.vessels[:, 30].sum())), bool(painted.photo[15, 30, 1] < 0.58)
        (5, True)
    """
    shape = ground.inside.shape
    dense = [_dense(strand) for strand in strands]
    points = np.concatenate([d[0] for d in dense])
    radii = np.concatenate([d[1] for d in dense]) / 2
    relevance = np.concatenate([d[2] for d in dense])
    owner = np.repeat(np.arange(len(dense)), [len(d[0]) for d in dense])
    depth, nearest = depths(points, radii, shape, margin=1.5)
    vessels = np.clip(depth + 0.5, 0, 1) * ground.inside
    lit = vessels > 0
    radius = radii[nearest]
    across = np.clip(1 - depth / np.maximum(radius, 0.5), 0, 1)
    tone = np.array([strand.artery for strand in strands])[owner[nearest]]
    strength = np.where(tone, rng.uniform(0.55, 0.9), rng.uniform(0.85, 1.2))
    strength = strength * np.clip((radius / 2.2) ** rng.uniform(0.2, 0.6), 0.6, 1.3)
    body = np.sqrt(np.clip(1 - across**2, 0, 1)) if rng.random() < 0.5 else 1 - across**4
    reflex = (
        rng.uniform(0, 0.45) * np.clip((radius - 1.6) / 1.5, 0, 1) * np.exp(-((across / 0.28) ** 2))
    )
    absorbed = vessels * strength * (0.25 + 0.75 * body) * (1 - reflex) * _unsteady(rng, shape)
    absorbed = gaussian_filter(absorbed, rng.uniform(0.5, 1.1))
    gain = rng.uniform(0.8, 1.35)
    faintest = rng.uniform(0.05, 0.09)  # of green; what is fainter could not be seen
    contrast = gain * ground.contrast * np.maximum(1, faintest / ground.contrast[..., 1:2])
    photo = ground.photo * np.exp(-absorbed[..., None] * contrast)
    return Painted(
        photo=np.clip(photo, 0, 1).astype(np.float32),
        vessels=vessels.astype(np.float32),
        width=np.where(lit, 2 * radius, 0).astype(np.float32),
        relevance=np.where(lit, relevance[nearest], 0).astype(np.float32),
        strand=np.where(lit, owner[nearest], -1).astype(np.int32),
        inside=ground.inside,
        doubtful=ground.doubtful & ~lit,
    )


def grown(rng: np.random.Generator, disease: Disease, place: Place) -> list[Strand]:
    """Grow a tree of simulated vessels with planted disease from a photograph's disc.

    Args:
        rng: everything else is drawn from it.
        disease: what to plant.
        place: where in the photograph.

    Example:
        >>> from ssplain.simulate.disease import draw_disease
        >>> rng = np.random.default_rng(0)
        >>> strands = grown(rng, draw_disease(rng, 2), Place((100.0, 80.0), 1.0, 1))
        >>> len(strands) > 5, bool(np.hypot(*(strands[0].points[0] - (80, 100))) < 12)
        (True, True)
    """
    eye = draw_eye(rng)
    # a photograph shows half of the side branches that a segmentation may
    courses = grow_tree(rng, replace(eye, spacing=2 * eye.spacing))
    points, widths, findings = plant(rng, courses, calibre(courses, eye.zoom), disease, eye.zoom)
    slim = rng.uniform(0.4, 0.9)  # infants' vessels are thin; cameras and eyes differ
    return [
        Strand(
            points=np.array(place.disc[::-1]) + place.scale * p * (place.side, -1),
            widths=np.maximum(place.scale * slim * w, _THINNEST),
            relevance=finding.strength,
            artery=course.kind == "artery",
        )
        for course, p, w, finding in zip(courses, points, widths, findings, strict=True)
    ]


def choroid(photo: Pixels, rng: np.random.Generator) -> Pixels:
    """Let stripes like the choroid's vessels show through: broad, blurred, without a tree.

    Pale eyes show them everywhere; they are no retinal vessels, and a network has to learn that.

    Example:
        >>> photo = np.full((64, 64, 3), 0.6, np.float32)
        >>> bool(choroid(photo, np.random.default_rng(0)).std() > 0.001)
        True
    """
    height, width = photo.shape[:2]
    long, short = rng.uniform(25, 50), rng.uniform(6, 11)
    noise = gaussian_filter(rng.standard_normal((height, width)), (short, long))
    angle = math.radians(rng.uniform(-40, 40)) + math.pi / 2 * rng.integers(2)
    row, column = np.mgrid[:height, :width] - np.array([height, width]).reshape(2, 1, 1) / 2
    bend = (
        0.06
        * max(height, width)
        * zoom(rng.standard_normal((4, 4)), (height / 4, width / 4), order=3)
    )
    turned = (
        row * math.cos(angle) - column * math.sin(angle) + height / 2 + bend,
        row * math.sin(angle) + column * math.cos(angle) + width / 2,
    )
    stripes = map_coordinates(noise, turned, order=1, mode="wrap")
    stripes /= max(float(stripes.std()), 1e-9)
    lines = gaussian_filter(
        np.exp(-((stripes / rng.uniform(0.25, 0.6)) ** 2)), rng.uniform(1.2, 2.5)
    )
    where = zoom(rng.standard_normal((3, 3)), (height / 3, width / 3), order=1)
    lines *= 1 / (1 + np.exp(-3 * (where + rng.uniform(-0.5, 1.5))))
    depth = rng.uniform(0.04, 0.16) * np.array([rng.uniform(0.1, 0.5), 1.0, rng.uniform(0.5, 1.2)])
    return np.clip(photo * np.exp(-lines[..., None] * depth), 0, 1).astype(np.float32)


def _dense(strand: Strand) -> tuple[Array, Array, Array]:
    """Points less than a pixel apart, with the width and disease at each."""
    pace = np.hypot(*np.diff(strand.points, axis=0).T)
    along = np.concatenate([[0.0], np.cumsum(pace)])
    fine = np.linspace(0, along[-1], 2 + int(along[-1] / 0.8))
    points = np.stack([np.interp(fine, along, axis) for axis in strand.points.T], axis=1)
    return points, np.interp(fine, along, strand.widths), np.interp(fine, along, strand.relevance)


def _unsteady(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Slow variation of how strongly vessels stand out over a photograph."""
    coarse = rng.standard_normal((6, 6))
    slow = zoom(coarse, (shape[0] / 6, shape[1] / 6), order=1)[: shape[0], : shape[1]]
    return np.exp(rng.uniform(0.05, 0.3) * slow)
