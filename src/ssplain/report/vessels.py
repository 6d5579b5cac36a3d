"""Pictures of vessel trees: branches in the colour of their width, pixels in that of their bend.

The arrays come first; a figure is an array with a colour bar. Colours are from maps that
colour-blind readers can order, without their darkest part, which could not be told from black.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.colors import ListedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray

from ssplain.vessels import VesselTree

Picture = NDArray[np.uint8]

_UNMEASURED = 70  # grey of vessel pixels without a value
_DARKEST = 0.25  # share of a colour map that is left out


@dataclass(frozen=True)
class Scale:
    """What the colours of a picture stand for.

    Attributes:
        low: value of the darkest colour; smaller ones have it too.
        high: value of the brightest colour; larger ones have it too.
        colours: name of a matplotlib colour map.
        label: quantity and unit, as written beside the colour bar.
        open_ended: whether there are values above `high`; the colour bar then ends in an arrow.
    """

    low: float
    high: float
    colours: str
    label: str
    open_ended: bool = False

    @property
    def mapping(self) -> ScalarMappable:
        """The matplotlib object that turns values into colours."""
        full = mpl.colormaps[self.colours]
        visible = ListedColormap(full(np.linspace(_DARKEST, 1, 256)))
        return ScalarMappable(Normalize(self.low, self.high), visible)


def width_scale(trees: Sequence[VesselTree]) -> Scale:
    """Choose one scale for the widths of all these trees, so that their pictures compare."""
    found = [tree.calibres[tree.counted] for tree in trees]
    widths = np.concatenate(found) if found else np.empty(0)
    low, high = (widths.min(), widths.max()) if widths.size else (0.0, 1.0)
    return Scale(float(low), float(max(high, low + 1)), "viridis", "Calibre (px)")


def curvature_scale(trees: Sequence[VesselTree]) -> Scale:
    """Choose one scale for the curvature of all these trees; its top is their 99th percentile."""
    found = [tree.curvature.values[tree.curvature.measured] for tree in trees]
    values = np.concatenate(found) if found else np.empty(0)
    high = float(np.quantile(values, 0.99)) if values.size else 0.0
    variants = " and ".join(sorted({tree.curvature.variant for tree in trees}))
    label = f"Curvature (1/px, {variants or 'no image'})"
    high = max(high, 0.01)
    return Scale(0.0, high, "magma", label, open_ended=bool((values > high).any()))


def width_picture(tree: VesselTree, scale: Scale) -> Picture:
    """Paint every branch in the colour of its calibre.

    Example:
        >>> from ssplain.vessels import trace
        >>> image = np.zeros((20, 60))
        >>> image[8:12, 5:55] = 1
        >>> picture = width_picture(trace(image), Scale(0, 4, "viridis", "px"))
        >>> picture.shape, picture[0, 0].tolist(), picture[10, 30].tolist()
        ((20, 60, 3), [0, 0, 0], [253, 231, 36])
    """
    widths = np.concatenate([[0.0], tree.calibres])
    return _paint(widths[tree.labels], tree.labels > 0, scale)


def curvature_picture(tree: VesselTree, scale: Scale) -> Picture:
    """Paint every pixel in the colour of its curvature; unmeasured ones of a vessel are grey.

    Example:
        >>> from ssplain.vessels import trace
        >>> image = np.zeros((20, 60))
        >>> image[8:12, 5:55] = 1
        >>> picture = curvature_picture(trace(image), Scale(0, 0.1, "magma", "1/px"))
        >>> picture[0, 0].tolist(), picture[10, 5].tolist(), picture[10, 30].tolist()
        ([0, 0, 0], [70, 70, 70], [80, 18, 123])
    """
    picture = _paint(tree.curvature.values, tree.curvature.measured, scale)
    picture[(tree.labels > 0) & ~tree.curvature.measured] = _UNMEASURED
    return picture


def branch_numbers(tree: VesselTree, count: int = 15) -> dict[str, tuple[float, float]]:
    """Say where to write the numbers that the longest branches have in the table.

    Example:
        >>> from ssplain.vessels import trace
        >>> image = np.zeros((20, 60))
        >>> image[8:13, 5:55] = 1
        >>> branch_numbers(trace(image))
        {'1': (10.0, 30.0)}
    """
    middles = {b.label: b.points[len(b.points) // 2] for b in tree.branches[:count]}
    return {str(label): (float(row), float(column)) for label, (row, column) in middles.items()}


def vessel_figure(
    picture: Picture,
    scale: Scale,
    title: str = "",
    note: str = "",
    numbers: Mapping[str, tuple[float, float]] | None = None,
) -> Figure:
    """Set a picture on black beside its colour bar.

    Args:
        picture: (H, W, 3) from `width_picture` or `curvature_picture`.
        scale: the scale it was painted with.
        title: above the picture.
        note: below the picture.
        numbers: text to write on the picture and where, as (row, column).
    """
    height, width = picture.shape[:2]
    side = 6.4 / max(height, width)
    figure = Figure(
        figsize=(width * side + 1.6, height * side + 0.9), facecolor="black", layout="constrained"
    )
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.imshow(picture, interpolation="nearest")
    axes.set_axis_off()
    axes.set_title(title, color="white")
    outline = [withStroke(linewidth=2.5, foreground="black")]  # readable on any colour
    for text, (row, column) in (numbers or {}).items():
        axes.text(column, row, text, color="white", ha="center", va="center", path_effects=outline)
    ends = "max" if scale.open_ended else "neither"
    bar = figure.colorbar(scale.mapping, ax=axes, fraction=0.05, pad=0.02, extend=ends)
    bar.set_label(scale.label, color="white")
    bar.ax.tick_params(colors="white")
    if note:
        figure.supxlabel(note, color="0.75", fontsize="small")
    return figure


def _paint(values: NDArray[np.float64], where: NDArray[np.bool_], scale: Scale) -> Picture:
    picture = np.zeros((*values.shape, 3), dtype=np.uint8)
    picture[where] = scale.mapping.to_rgba(values[where], bytes=True)[:, :3]
    return picture
