"""The sanity check as a figure: the maps of a network that forgets, and how alike they stay."""

from collections.abc import Iterable
from itertools import zip_longest
from typing import TYPE_CHECKING

from ssplain.errors import SSplainError
from ssplain.metrics import Sanity
from ssplain.report.empty import empty_figure
from ssplain.report.render import grey, heat

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def sanity_figure(found: Sanity, index: int = 0) -> "Figure":
    """Draw one image's map at each stage, as in the paper, above the likeness over all images.

    Args:
        found: what `ssplain.metrics.sanity_check` returns.
        index: which image.

    >>> import ssplain
    >>> model = ssplain.models.load("lenet5-mnist")
    >>> images, labels = (part[:2] for part in ssplain.data.bundled("mnist"))
    >>> found = ssplain.metrics.sanity_check(
    ...     lambda m, x: ssplain.SSplain(m).attribute(x, labels), model, images, seeds=[0])
    >>> len(sanity_figure(found).subfigs)
    2
    """
    if not 0 <= index < len(found.images):
        raise SSplainError(f"There is no image {index}; the check has {len(found.images)} images.")
    count = len(found.stages) + 1
    columns = min(range(5, 8), key=lambda wide: -count % wide)  # the fewest empty places
    rows = -(-count // columns)
    drawing = empty_figure(9, 9 / columns * rows + 3.6)
    halves = drawing.subfigures(2, 1, squeeze=False, height_ratios=[9 / columns * rows, 3.6])
    upper, lower = halves[:, 0]
    _maps(upper.subplots(rows, columns, squeeze=False).ravel(), found, index)
    _course(lower.subplots(), found)
    return drawing


def _maps(grid: Iterable["Axes"], found: Sanity, index: int) -> None:
    pictures = [grey(found.images[index])]
    pictures += [heat(maps[index], found.inside[index]) for maps in found.maps]
    titles = ["image", "trained", *(f"{name} random" for name in found.stages[1:])]
    for axes, picture, title in zip_longest(grid, pictures, titles):
        axes.set_axis_off()
        if picture is not None:
            axes.imshow(picture, interpolation="nearest")
            axes.set_title(title, fontsize=8)


def _course(axes: "Axes", found: Sanity) -> None:
    """Draw the mean over images and seeds at each stage."""
    lines = [(name, v, "-", f"C{i}") for i, (name, v) in enumerate(found.likeness.items())]
    lines += [
        (f"{name} of M - M0", v, "--", f"C{i}")
        for i, (name, v) in enumerate(found.change_likeness.items())
    ]
    if found.start_likeness is not None:
        lines.append(("spearman with the start M0", found.start_likeness, ":", "0.4"))
        if "spearman" in found.likeness:
            lines.append(("spearman, M0 held fixed", found.partial, "-", "black"))
    places = list(range(len(found.stages)))
    for label, values, style, colour in lines:
        means = values.mean((1, 2)).tolist()
        axes.plot(places, means, style, marker="o", markersize=3, label=label, color=colour)
    axes.axhline(0, color="0.6", linewidth=0.8)
    axes.set_xticks(places, found.stages, rotation=30, ha="right", fontsize=8)
    axes.set_ylabel("likeness to the trained map")
    seeds, count = found.logit_variance.shape[1], len(found.images)
    axes.set_title(f"mean of {count} images and {seeds} seeds", fontsize=9)
    axes.legend(
        fontsize=7, handlelength=3, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False
    )
    axes.spines[["top", "right"]].set_visible(False)
