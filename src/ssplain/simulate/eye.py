"""Segmented fundus images of premature infants' eyes, made up, with the disease known per vessel.

A simulated image is a stand-in for the segmented photographs on which plus disease is graded: it
has their anatomy and their noise, and it comes with what no photograph has, the true answer to the
question which vessels carry the disease.
"""

from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ssplain.errors import SSplainError
from ssplain.simulate.disease import CLASSES, QUADRANTS, Finding, draw_severity, plant
from ssplain.simulate.render import Drawing, draw
from ssplain.simulate.tree import (
    SIZE,
    Array,
    Course,
    Eye,
    Kind,
    calibre,
    draw_eye,
    grow_tree,
)
from ssplain.vessels.table import Planted

Side = Literal["left", "right"]

_CENTRE = (SIZE - 1) / 2
_THINNEST = 1.1  # pixels; what a segmentation still shows


@dataclass(frozen=True)
class BranchTruth:
    """One vessel of a simulated image, from its origin to its end.

    Attributes:
        kind: artery or vein.
        parent: index of the vessel it leaves, -1 at the optic disc.
        generation: 0 at the disc, one more at each branching.
        quadrant: name of the quadrant around the disc that holds its middle.
        width: mean width in pixels, dilation included.
        dilation: mean factor by which it was drawn wider than without disease; 1 is healthy.
        amplitude: of its wiggles, in pixels.
        wavelength: of its wiggles, in pixels.
        curvature: mean absolute curvature, 1/pixel.
        length: of the centreline, in pixels.
        tortuosity: length over the distance of its ends.
        severity: 0 if healthy, about 1 for typical plus disease.
        diseased: whether disease was planted.
    """

    kind: Kind
    parent: int
    generation: int
    quadrant: str
    width: float
    dilation: float
    amplitude: float
    wavelength: float
    curvature: float
    length: float
    tortuosity: float
    severity: float
    diseased: bool


@dataclass(frozen=True)
class SimulatedFundus:
    """A simulated image with its truth.

    Attributes:
        image: (H, W) float32 in [0, 1], multiples of 1/255; exactly zero off the vessels.
        label: 0 Normal, 1 Pre-plus, 2 Plus.
        eye: left or right; the disc is on the nasal side, right in a right eye.
        branch_ids: (H, W) index into `branches`, -1 off the vessels.
        relevance: (H, W) float32, severity of the disease at each pixel, 0 where healthy.
        width: (H, W) float32, width in pixels that was drawn there, 0 off the vessels.
        dilation: (H, W) float32, factor by which disease made it wider there, 0 off the vessels.
        curvature: (H, W) float32, absolute curvature of the centreline there, 1/pixel.
        branches: one row per vessel.
    """

    image: NDArray[np.float32]
    label: int
    eye: Side
    branch_ids: NDArray[np.int32]
    relevance: NDArray[np.float32]
    width: NDArray[np.float32]
    dilation: NDArray[np.float32]
    curvature: NDArray[np.float32]
    branches: tuple[BranchTruth, ...]

    def planted(self) -> Planted:
        """Return what was planted, as vessel tables take it.

        Example:
            >>> planted = simulate(seed=0, index=2).planted()
            >>> sorted(planted.maps), planted.columns["kind"][0].item()
            (['curvature', 'dilation', 'width'], 'vein')
        """
        rows = [asdict(branch) for branch in self.branches]
        columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
        maps = {"width": self.width, "dilation": self.dilation, "curvature": self.curvature}
        return Planted(self.branch_ids, columns, {k: v.astype(np.float64) for k, v in maps.items()})


def simulate(seed: int, index: int, label: int | None = None) -> SimulatedFundus:
    """Makes image number `index` of the endless series `seed`.

    The same call gives the same image whatever else is made. Without a label the classes take
    turns, so that any run of images is balanced.

    Args:
        seed: names the series; use different ones for training and testing.
        index: place in the series, from 0.
        label: 0 Normal, 1 Pre-plus or 2 Plus; `index % 3` by default.

    Example:
        >>> fundus = simulate(seed=0, index=2)
        >>> fundus.image.shape, fundus.label, any(b.diseased for b in fundus.branches)
        ((224, 224), 2, True)
    """
    label = index % 3 if label is None else label
    rng = np.random.default_rng([seed, index])
    eye = draw_eye(rng)
    courses = grow_tree(rng, eye)
    side: Side = "right" if rng.random() < 0.5 else "left"
    return disease_and_draw(rng, eye, courses, label, side)


def disease_and_draw(
    rng: np.random.Generator, eye: Eye, courses: list[Course], label: int, side: Side
) -> SimulatedFundus:
    """Gives courses their calibre and their disease, draws them, and writes down the truth."""
    if label not in range(len(CLASSES)):
        names = ", ".join(f"{i} ({name})" for i, name in enumerate(CLASSES))
        raise SSplainError(f"The label {label} is unknown; use one of {names}.")
    severity = draw_severity(rng, label)
    points, widths, findings = plant(rng, courses, calibre(courses, eye.zoom), severity, eye.zoom)
    healthy = [width / finding.dilation for width, finding in zip(widths, findings, strict=True)]
    widths, healthy = _drawn(widths), _drawn(healthy)
    dilation = [width / before for width, before in zip(widths, healthy, strict=True)]
    mirror = -1 if side == "right" else 1
    placed = [_CENTRE + (p - eye.field) * (mirror, -1) for p in points]
    drawing = draw(rng, placed, widths, _field_of_view(eye.radius))
    strengths = [finding.strength for finding in findings]
    rows = zip(courses, points, widths, dilation, findings, strict=True)
    return SimulatedFundus(
        image=drawing.image,
        label=label,
        eye=side,
        branch_ids=drawing.owner,
        relevance=_spread(drawing, strengths),
        width=_spread(drawing, widths),
        dilation=_spread(drawing, dilation),
        curvature=_spread(drawing, [_bends(p) for p in points]),
        branches=tuple(_branch(*row) for row in rows),
    )


def _drawn(widths: list[Array]) -> list[Array]:
    """The widths that are drawn: what would be too thin to be seen is drawn as thin as can be."""
    return [np.maximum(width, _THINNEST) for width in widths]


def _field_of_view(radius: float) -> NDArray[np.bool_]:
    row, column = np.ogrid[:SIZE, :SIZE]
    return np.hypot(row - _CENTRE, column - _CENTRE) < radius


def _spread(drawing: Drawing, values: list[Array]) -> NDArray[np.float32]:
    """Carries values from the samples of the vessels to their pixels."""
    starts = np.cumsum([0, *map(len, values)])[:-1]
    flat = np.concatenate(values)
    lit = drawing.owner >= 0
    spread = np.zeros((SIZE, SIZE), np.float32)
    spread[lit] = flat[starts[drawing.owner[lit]] + drawing.sample[lit]]
    return spread


def _bends(points: Array) -> Array:
    """Absolute curvature |x' y'' - y' x''| / |c'|^3 at each sample of a course.

    Courses are straight between samples two apart; central differences reach over that.
    """
    ahead = np.gradient(points, axis=0)
    x, y = ahead.T
    (xx, yy) = np.gradient(ahead, axis=0).T
    bends: Array = np.abs(x * yy - y * xx) / np.maximum(np.hypot(x, y), 1e-9) ** 3
    return bends


def _branch(
    course: Course, points: Array, width: Array, dilation: Array, finding: Finding
) -> BranchTruth:
    step = np.diff(points, axis=0)
    pace = np.hypot(*step.T)
    turn = np.diff(np.unwrap(np.arctan2(step[:, 1], step[:, 0])))
    length = float(pace.sum())
    chord = float(np.hypot(*(points[-1] - points[0])))
    return BranchTruth(
        kind=course.kind,
        parent=course.parent,
        generation=course.generation,
        quadrant=QUADRANTS[finding.quadrant],
        width=float(width.mean()),
        dilation=float(dilation.mean()),
        amplitude=finding.amplitude,
        wavelength=finding.wavelength,
        curvature=float(np.abs(turn).sum() / length),
        length=length,
        tortuosity=length / chord,
        severity=finding.severity,
        diseased=finding.diseased,
    )
