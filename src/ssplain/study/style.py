"""One look for all figures of the studies.

The hue tells the method and the line style its family, so that no two lines differ by colour alone;
the hues are those of Okabe and Ito, which colour-blind readers can tell apart.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
from cycler import cycler
from matplotlib.figure import Figure

from ssplain.report.save import write_figure

VERMILION, BROWN, BLUE, SKY = "#D55E00", "#5C2800", "#0072B2", "#56B4E9"
GREEN, ORANGE, PURPLE, BLACK, GREY = "#009E73", "#E69F00", "#CC79A7", "#000000", "#8C8C8C"


class Line(NamedTuple):
    """How a curve is drawn."""

    color: str
    linestyle: str | tuple[int, tuple[float, ...]]
    linewidth: float
    zorder: float


def _line(color: str, style: str | tuple[int, tuple[float, ...]], width: float = 1.3) -> Line:
    return Line(color, style, width, 2 + width)


_DASH, _DOT = (0, (4.5, 1.8)), (0, (1.0, 1.4))
# gradient methods solid, perturbation methods dashed, controls grey
_METHODS = {
    "SSplain-0": _line(VERMILION, "-", 2.8),
    # where the two agree, the second shows as dashes on the first
    "SSplain-1": _line(BROWN, _DASH, 1.4)._replace(zorder=6),
    "SSplain-ranking": _line(BLUE, "-", 2.8),
    "SSplain-ranking by branches": _line(SKY, "-", 2.8),
    "iGOS++": _line(BROWN, _DOT, 1.8),
    "Greedy regions": _line(BLUE, _DOT, 1.8),
    "RISE": _line(ORANGE, _DOT, 1.8),
    "Integrated Gradients, complete": _line(BLACK, _DOT, 1.8),
    "Saliency": _line(BLUE, "-"),
    "Input x Gradient": _line(SKY, "-"),
    "Integrated Gradients": _line(BLACK, "-"),
    "Guided Grad-CAM": _line(GREEN, "-"),
    "DeepSHAP": _line(PURPLE, "-"),
    "Occlusion": _line(BLUE, _DASH),
    "LIME": _line(ORANGE, _DASH),
    "KernelSHAP": _line(PURPLE, _DASH),
    "Extremal Perturbation": _line(GREEN, _DASH),
    "Intensity": _line(GREY, _DASH),
    "Random in support": _line(GREY, _DOT),
    "Random": _line(GREY, (0, (4.5, 1.4, 1.0, 1.4))),
}
_IN_TURN = (
    _line(VERMILION, "-", 2.8),
    _line(BLUE, _DASH, 1.6),
    _line(BLACK, "-"),
    _line(GREEN, (0, (4.5, 1.4, 1.0, 1.4)), 1.6),
    _line(PURPLE, _DOT, 1.8),
)


def lines(titles: Sequence[str]) -> dict[str, Line]:
    """Return how each curve is drawn: explainers always the same, variants in turn.

    >>> lines(["with", "without"])["with"].color == lines(["SSplain-0"])["SSplain-0"].color
    True
    """
    if all(title in _METHODS for title in titles):
        return {title: _METHODS[title] for title in titles}
    return {title: _IN_TURN[i % len(_IN_TURN)] for i, title in enumerate(titles)}


@contextmanager
def style() -> Iterator[None]:
    """Draw and save in the common look; the same figure gives the same SVG."""
    with mpl.rc_context(
        {
            "font.size": 9,
            "axes.titlesize": 9.5,
            "axes.labelsize": 9,
            "xtick.labelsize": 8,
            "ytick.labelsize": 8,
            "legend.fontsize": 8,
            "legend.frameon": False,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "grid.color": "#E6E6E6",
            "grid.linewidth": 0.6,
            "axes.axisbelow": True,
            "axes.prop_cycle": cycler(color=[BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY]),
            "svg.hashsalt": "ssplain",
            "savefig.dpi": 130,
        }
    ):
        yield


def save_figure(drawing: Figure, folder: Path, name: str) -> str:
    """Write a figure as PNG and SVG, and return the PNG's name."""
    for kind in ("png", "svg"):
        write_figure(drawing, folder / f"{name}.{kind}")
    return f"{name}.png"
