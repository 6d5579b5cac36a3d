"""Compares simulated images with real segmented eyes, by numbers taken from both alike."""

from collections.abc import Iterable
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from ssplain.vessels.tracing import trace

_LONG = 15  # pixels; shorter branches have no meaningful arc over chord

Image = NDArray[np.floating]


@dataclass(frozen=True)
class Anatomy:
    """What can be measured on a segmented image, simulated or real.

    Attributes:
        share: part of the pixels that are vessel.
        light: mean value on the vessels.
        contrast: deviation of the value on the vessels.
        extent: distance from the vessels' middle within which nine of ten pixels lie.
        branches: number of branches between junctions and ends.
        total_length: length of all centrelines, in pixels.
        branch_length: median length of a branch, in pixels.
        calibre: mean width along all centrelines, in pixels.
        calibre_spread: deviation of the width between branches, as a fraction of the mean.
        curvature: mean along all branches that have one, 1/pixel.
        bent: share of the branches' length that is bent by more than 0.06 per pixel.
        arc_over_chord: median over the branches longer than 15 pixels; 1 if there are none.
    """

    share: float
    light: float
    contrast: float
    extent: float
    branches: float
    total_length: float
    branch_length: float
    calibre: float
    calibre_spread: float
    curvature: float
    bent: float
    arc_over_chord: float


def brightness(image: Image) -> tuple[float, ...]:
    """Six numbers of brightness, which must not tell the grade.

    Mean and share above 0 of the image; mean, deviation, median and 90th percentile of what is
    above 0.

    Example:
        >>> brightness(np.array([[0.0, 0.0, 0.5, 0.5]]))
        (0.25, 0.5, 0.5, 0.0, 0.5, 0.5)
    """
    lit = image[image > 0] if (image > 0).any() else np.zeros(1)
    numbers = (image.mean(), (image > 0).mean(), lit.mean(), lit.std(), np.median(lit))
    return *map(float, numbers), float(np.percentile(lit, 90))


def measure(image: Image) -> Anatomy:
    """Measure a segmented image.

    Example:
        >>> from ssplain.simulate.eye import simulate
        >>> anatomy = measure(simulate(seed=0, index=0).image)
        >>> 0.01 < anatomy.share < 0.2 and 0.01 < anatomy.curvature < 0.05
        True
    """
    tree = trace(image)
    if not tree.branches:
        return Anatomy(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)
    _, share, light, contrast, *_ = brightness(image)
    places = np.argwhere(image > 0)
    away = np.hypot(*(places - places.mean(axis=0)).T)
    length = np.array([branch.length for branch in tree.branches])
    width = np.array([branch.calibre for branch in tree.branches])
    bend = np.array([branch.mean_curvature for branch in tree.branches])
    known = np.isfinite(bend)
    calibre = float(np.average(width, weights=length))
    arcs = [branch.arc_over_chord for branch in tree.branches if branch.length > _LONG]
    return Anatomy(
        share=share,
        light=light,
        contrast=contrast,
        extent=float(np.percentile(away, 90)),
        branches=len(length),
        total_length=float(length.sum()),
        branch_length=float(np.median(length)),
        calibre=calibre,
        calibre_spread=float(np.sqrt(np.average((width - calibre) ** 2, weights=length)) / calibre),
        curvature=float(np.average(bend[known], weights=length[known])) if known.any() else 0.0,
        bent=float(length[known & (bend > 0.06)].sum() / length.sum()),
        arc_over_chord=float(np.nanmedian(arcs)) if arcs else 1.0,
    )


def anatomy_table(simulated: Iterable[Image], real: Iterable[Image] = ()) -> str:
    """Tabulate the 5th, 50th and 95th percentile of every measure, beside that of real eyes.

    Example:
        >>> from ssplain.simulate.eye import simulate
        >>> print(anatomy_table(simulate(0, i).image for i in range(2)))  # doctest: +ELLIPSIS
        measure               5 %     50 %     95 %
        share ...
    """
    columns = [list(map(measure, images)) for images in (simulated, real)]
    columns = [seen for seen in columns if seen]
    title = "".join(f"{share:>9}" for share in ("5 %", "50 %", "95 %"))
    rows = [f"{'measure':<14} " + f"{title}    real"[: 27 + 8 * (len(columns) - 1)]]
    for field in fields(Anatomy):
        spread = [
            np.percentile([getattr(anatomy, field.name) for anatomy in seen], [5, 50, 95])
            for seen in columns
        ]
        numbers = "".join(f"{value:9.4g}" for value in np.concatenate(spread))
        rows.append(f"{field.name:<14} {numbers}")
    return "\n".join(rows)
