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
from ssplain.simulate.anatomy import SIZE, Array, Eye, draw_eye
from ssplain.simulate.appearance import Appearance, clutter, draw_appearance, drop_missing, lights
from ssplain.simulate.disease import CLASSES, QUADRANTS, Finding, draw_disease, plant
from ssplain.simulate.render import Drawing, draw
from ssplain.simulate.tree import Course, Kind, calibre, grow_tree
from ssplain.vessels.table import Planted

Side = Literal["left", "right"]

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
        arc_over_chord: length over the distance of its ends.
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
    arc_over_chord: float
    severity: float
    diseased: bool


@dataclass(frozen=True)
class SimulatedFundus:
    """A simulated image with its truth.

    Attributes:
        image: (H, W) float32 in [0, 1], multiples of 1/255; exactly zero off the vessels.
        label: 0 Normal, 1 Pre-plus, 2 Plus.
        amount: of disease planted in the eye: 0 for none, about 1 for typical plus disease.
        eye: left or right; the disc is on the nasal side, right in a right eye.
        branch_ids: (H, W) index into `branches`, -1 off the vessels and on false, cluttered pixels.
        relevance: (H, W) float32, severity of the disease at each pixel, 0 where healthy.
        width: (H, W) float32, width in pixels that was drawn there, 0 off the vessels.
        dilation: (H, W) float32, factor by which disease made it wider there, 0 off the vessels.
        curvature: (H, W) float32, absolute curvature of the centreline there, 1/pixel.
        branches: one row per vessel.
    """

    image: NDArray[np.float32]
    label: int
    amount: float
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


@dataclass(frozen=True)
class PlantedTree:
    """A vessel tree with its disease, before it is drawn or painted.

    Attributes:
        eye: anatomy and camera.
        label: 0 Normal, 1 Pre-plus, 2 Plus.
        amount: of disease planted.
        courses: the healthy vessels it was made from.
        points: for each vessel, samples (n, 2) in the picture of 224 x 224, column and row.
        widths: width in pixels at each sample, disease included.
        findings: what was planted into each vessel.
    """

    eye: Eye
    label: int
    amount: float
    courses: tuple[Course, ...]
    points: tuple[Array, ...]
    widths: tuple[Array, ...]
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Dice:
    """Separate random numbers for what must not depend on each other.

    Taking the disease away changes neither the anatomy nor how the segmentation looks.
    """

    anatomy: np.random.Generator
    disease: np.random.Generator
    look: np.random.Generator

    @staticmethod
    def of(seed: int, index: int) -> "Dice":
        """Return the dice of image number `index` of the series `seed`."""
        return Dice(*(np.random.default_rng([seed, index, part]) for part in range(3)))


def simulate(
    seed: int, index: int, label: int | None = None, *, amount: float | None = None
) -> SimulatedFundus:
    """Make image number `index` of the endless series `seed`.

    The same call gives the same image whatever else is made. Without a label the classes take
    turns, so that any run of images is balanced. What is not disease is the same for any label and
    amount: `simulate(seed, index, amount=0)` is the same eye in health, segmented alike.

    Args:
        seed: names the series; use different ones for training and testing.
        index: place in the series, from 0.
        label: 0 Normal, 1 Pre-plus or 2 Plus; `index % 3` by default.
        amount: of disease, in place of one drawn for the label.

    Example:
        >>> fundus = simulate(seed=0, index=2)
        >>> fundus.image.shape, fundus.label, any(b.diseased for b in fundus.branches)
        ((224, 224), 2, True)
        >>> simulate(seed=0, index=2, amount=0).relevance.any()
        np.False_
    """
    dice = Dice.of(seed, index)
    look = draw_appearance(dice.look)
    return draw_tree(dice, plant_tree(dice, label_of(index, label), look.missing, amount), look)


def plant_tree(
    dice: Dice, label: int, missing: float = 0.0, amount: float | None = None
) -> PlantedTree:
    """Grow a tree and plant the disease of a grade, without drawing it.

    Args:
        dice: draw everything.
        label: 0 Normal, 1 Pre-plus or 2 Plus.
        missing: chance that a twig is left out.
        amount: of disease, in place of one drawn for the label.

    Example:
        >>> tree = plant_tree(Dice.of(seed=0, index=1), label=2)
        >>> len(tree.points) == len(tree.widths) and tree.amount >= 1
        True
    """
    eye = draw_eye(dice.anatomy)
    courses = drop_missing(dice.look, grow_tree(dice.anatomy, eye), missing)
    return plant_into(dice, eye, courses, label, amount)


def plant_into(
    dice: Dice, eye: Eye, courses: list[Course], label: int, amount: float | None = None
) -> PlantedTree:
    """Give courses their calibre and their disease, and place them in the picture."""
    disease = draw_disease(dice.disease, label, amount)
    healthy = calibre(courses, eye.zoom)
    points, widths, findings = plant(dice.disease, courses, healthy, disease, eye.zoom)
    return PlantedTree(
        eye=eye,
        label=label,
        amount=disease.amount,
        courses=tuple(courses),
        points=tuple(map(eye.place, points)),
        widths=tuple(widths),
        findings=tuple(findings),
    )


def draw_tree(dice: Dice, tree: PlantedTree, look: Appearance) -> SimulatedFundus:
    """Draw a tree as a segmentation would show it, and write down the truth."""
    drawn = [look.calibre * width for width in tree.widths]
    before = [width / f.dilation for width, f in zip(drawn, tree.findings, strict=True)]
    widths, healthy = _visible(drawn), _visible(before)
    dilation = [width / thin for width, thin in zip(widths, healthy, strict=True)]
    light = lights(dice.look, widths, look)
    false_points, false_widths, false_light = clutter(dice.look, look)
    drawing = draw(
        dice.look,
        [*tree.points, *false_points],
        [*widths, *false_widths],
        [*light, *false_light],
        look=look,
        visible=tree.eye.exposed(),
    ).only(len(tree.points))
    rows = zip(tree.courses, tree.points, widths, dilation, tree.findings, strict=True)
    return SimulatedFundus(
        image=drawing.image,
        label=tree.label,
        amount=tree.amount,
        eye="right" if tree.eye.right else "left",
        branch_ids=drawing.owner,
        relevance=_spread(drawing, [finding.strength for finding in tree.findings]),
        width=_spread(drawing, widths),
        dilation=_spread(drawing, dilation),
        curvature=_spread(drawing, [_bends(p) for p in tree.points]),
        branches=tuple(_branch(*row) for row in rows),
    )


def label_of(index: int, label: int | None) -> int:
    """Return the label asked for, or that of the place in a series, in which classes take turns."""
    label = index % len(CLASSES) if label is None else label
    if label not in range(len(CLASSES)):
        names = ", ".join(f"{i} ({name})" for i, name in enumerate(CLASSES))
        raise SSplainError(f"The label {label} is unknown; use one of {names}.")
    return label


def _visible(widths: list[Array]) -> list[Array]:
    """Return the widths that are drawn: what is too thin to be seen is drawn as thin as can be."""
    return [np.maximum(width, _THINNEST) for width in widths]


def _spread(drawing: Drawing, values: list[Array]) -> NDArray[np.float32]:
    """Carry values from the samples of the vessels to their pixels."""
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
        arc_over_chord=length / chord,
        severity=finding.severity,
        diseased=finding.diseased,
    )
