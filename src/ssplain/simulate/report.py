"""Compares simulated images with real infant vessel masks, by numbers taken from both alike."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ssplain.vessels.tracing import trace

_LONG = 15  # pixels; shorter branches have no meaningful tortuosity


@dataclass(frozen=True)
class Anatomy:
    """What can be measured on a segmented image, simulated or real.

    Attributes:
        share: part of the pixels that are vessel.
        branches: number of branches between junctions and ends.
        total_length: length of all centrelines, in pixels.
        branch_length: median length of a branch, in pixels.
        tortuosity: median of arc over chord of branches longer than 15 pixels; 1 if there are none.
    """

    share: float
    branches: float
    total_length: float
    branch_length: float
    tortuosity: float


# Smallest and largest value on the 50 hand-drawn masks of HVDROPDB (R. Agrawal and S. Kulkarni,
# doi 10.17632/xw5xc7xrmp.3), shrunk to 224 x 168 pixels and set on a square. They show the major
# vessels only, and some show only a part of the posterior pole.
REAL = (Anatomy(0.022, 9, 370, 14.0, 1.02), Anatomy(0.136, 84, 1990, 89.0, 1.10))


def measure(image: NDArray[np.floating]) -> Anatomy:
    """Measure a segmented image.

    Example:
        >>> from ssplain.simulate.eye import simulate
        >>> anatomy = measure(simulate(seed=0, index=0).image)
        >>> 0.03 < anatomy.share < 0.13 and 1.0 < anatomy.tortuosity < 1.2
        True
    """
    tree = trace(image)
    lengths = [branch.length for branch in tree.branches]
    bends = [branch.arc_over_chord for branch in tree.branches if branch.length > _LONG]
    return Anatomy(
        share=float((image > 0).mean()),
        branches=len(lengths),
        total_length=float(np.sum(lengths)),
        branch_length=float(np.median(lengths)) if lengths else 0.0,
        tortuosity=float(np.nanmedian(bends)) if bends else 1.0,
    )


def compare(images: Iterable[NDArray[np.floating]]) -> str:
    """A table of the 5th, 50th and 95th percentile over images beside the range of real masks.

    Example:
        >>> from ssplain.simulate.eye import simulate
        >>> print(compare(simulate(0, i).image for i in range(2)))  # doctest: +ELLIPSIS
        measure             5 %    50 %    95 %    real
        share ...
    """
    rows = [f"{'measure':<14} {'5 %':>8}{'50 %':>8}{'95 %':>8}    real"]
    seen = [measure(image) for image in images]
    low, high = REAL
    for name in Anatomy.__dataclass_fields__:
        values = np.percentile([getattr(anatomy, name) for anatomy in seen], [5, 50, 95])
        numbers = "".join(f"{value:8.4g}" for value in values)
        rows.append(f"{name:<14} {numbers}    {getattr(low, name):g} to {getattr(high, name):g}")
    return "\n".join(rows)
