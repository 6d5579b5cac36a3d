"""The figures of the studies, all in one style."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from textwrap import fill

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from ssplain.explain.compare import Compared
from ssplain.explain.registry import METHODS
from ssplain.metrics import MEASURES, Evaluation
from ssplain.report.compare import comparison
from ssplain.study.kinds import Variant
from ssplain.study.style import lines

Evaluations = Mapping[str, Evaluation]
Panel = tuple[str, str]  # an axis and a measure on it

SHARE = {
    "all": "share of all pixels s (%)",
    "support": "share of the support (%)",
    "kappa": r"normalised sparsity $\kappa_s$ (%)",
}
WHERE = {"all": "all pixels", "support": "support only", "kappa": "brightness", "maps": ""}


def curves(found: Mapping[str, Evaluations], panels: Sequence[Panel], note: str) -> Figure:
    """Draw mean curves, one panel per axis and measure, with one legend.

    Args:
        found: by axis and explainer; the first explainer is drawn on top.
        panels: what to draw, at most four in a row.
        note: below the title, such as the number of images.
    """
    columns = min(4, len(panels)) if len(panels) != 6 else 3
    rows = -(-len(panels) // columns)
    drawing = Figure(figsize=(2.75 * columns + 1.9, 2.6 * rows + 0.4), layout="constrained")
    grid = drawing.subplots(rows, columns, squeeze=False).ravel()
    for axes, (axis, measure) in zip(grid, panels, strict=False):
        looks = lines(list(found[axis]))
        for title, one in found[axis].items():
            axes.plot(
                (100 * one.grid).tolist(),
                one.mean_curve(measure).tolist(),
                label=title,
                **looks[title]._asdict(),
            )
        record = MEASURES.find(measure)
        axes.set(title=fill(record.says(record.heading or measure), 28), ylabel=record.unit)
        axes.set(xlabel=SHARE[axis], xlim=(0, 100), ylim=(0, 1.02))
    for axes in grid[len(panels) :]:
        axes.set_axis_off()
    handles, titles = grid[0].get_legend_handles_labels()
    drawing.legend(handles, titles, loc="outside right center", handlelength=3.2)
    drawing.suptitle(note, fontsize=9.5)
    return drawing


def against_passes(found: Evaluations, measures: Sequence[str], note: str) -> Figure:
    """Draw measures against the passes that each explainer was given, with 95 % intervals.

    Args:
        found: by title of the form "NAME, COUNT passes".
        measures: one panel each.
        note: above the panels.
    """
    parts = {title: title.removesuffix(" passes").rsplit(", ", 1) for title in found}
    names = list(dict.fromkeys(name for name, _ in parts.values()))
    looks = lines(names)
    drawing = Figure(figsize=(3.6 * len(measures) + 1.9, 3.2), layout="constrained")
    grid = drawing.subplots(1, len(measures), squeeze=False).ravel()
    for axes, measure in zip(grid, measures, strict=True):
        for name in names:
            given = sorted((int(count), t) for t, (n, count) in parts.items() if n == name)
            own = {count: found[t].summary(measure) for count, t in given}
            values = [one.value for one in own.values()]
            # of a few images alike, rounding can put the mean beside its interval
            low = [max(0.0, one.value - one.low) for one in own.values()]
            high = [max(0.0, one.high - one.value) for one in own.values()]
            look = {**looks[name]._asdict(), "capsize": 2, "marker": "o", "markersize": 3}
            axes.errorbar(list(own), values, yerr=[low, high], label=name, **look)
        record = MEASURES.find(measure)
        axes.set(title=record.says(record.heading or measure), ylabel="area over the support")
        axes.set_xscale("log", base=2)
        counts = sorted({int(count) for _, count in parts.values()})
        axes.set_xticks(counts, [str(count) for count in counts])
        axes.set_xlabel("passes of the model per image")
    handles, titles = grid[0].get_legend_handles_labels()
    drawing.legend(handles, titles, loc="outside right center", handlelength=3.2)
    drawing.suptitle(note, fontsize=9.5)
    return drawing


def dots(found: Mapping[str, Evaluations], panels: Sequence[Panel], note: str) -> Figure:
    """Draw each explainer's mean with its 95 % interval, best on top, one panel per measure."""
    count = max(len(found[axis]) for axis, _ in panels)
    columns = min(4, len(panels))
    rows = -(-len(panels) // columns)
    longest = max(len(title) for axis, _ in panels for title in found[axis])
    size = (1.95 + 0.065 * longest) * columns, rows * (0.21 * count + 0.9) + 0.4
    drawing = Figure(figsize=size, layout="constrained")
    grid = drawing.subplots(rows, columns, squeeze=False).ravel()
    for axes, panel in zip(grid, panels, strict=False):
        _dots(axes, found[panel[0]], panel)
    for axes in grid[len(panels) :]:
        axes.set_axis_off()
    drawing.suptitle(note, fontsize=9.5)
    return drawing


def _dots(axes: Axes, found: Evaluations, panel: Panel) -> None:
    axis, measure = panel
    summaries = {title: one.summary(measure) for title, one in found.items()}
    record = MEASURES.find(measure)
    falling = -1 if record.better is None else -record.sign
    order = sorted(summaries, key=lambda title: falling * summaries[title].value)
    looks = lines(list(found))
    for place, title in enumerate(order):
        own, look = summaries[title], looks[title]
        first = title == next(iter(found))
        axes.plot([own.low, own.high], [place, place], color=look.color, linewidth=1.6)
        # a hollow dot for what is drawn dashed elsewhere
        axes.plot(
            [own.value],
            [place],
            marker="o",
            markersize=6.5 if first else 4.5,
            color=look.color,
            markerfacecolor=look.color if look.linestyle == "-" else "white",
        )
    axes.set_yticks(range(len(order)), order)
    axes.set_ylim(len(order) - 0.4, -0.6)
    named = WHERE.get(axis, axis)
    where = f"\n({named})" if named else ""
    axes.set_xlabel(fill(record.says(record.words), 26) + where)
    axes.grid(visible=False, axis="y")
    axes.locator_params(axis="x", nbins=4)  # the numbers of a narrow panel must not touch
    for label in axes.get_yticklabels():
        if label.get_text() == next(iter(found)):
            label.set_fontweight("bold")


def map_grid(
    images: Tensor, maps: Mapping[Variant, Tensor], names: Sequence[str], note: str
) -> Figure:
    """Draw scores, and the top 5 % with the rest purple, of a few images.

    Args:
        images: `(n, C, H, W)`.
        maps: of each explainer, `(n, 1, H, W)`.
        names: of the images.
        note: the title.
    """
    shown = [
        Compared(replace(METHODS[variant.method], title=variant.title), own, 0.0)
        for variant, own in maps.items()
    ]
    drawing = comparison(images, shown, names)
    for axes in drawing.axes:
        axes.grid(visible=False)
        axes.spines[["top", "right", "bottom", "left"]].set_visible(False)
    drawing.suptitle(note, fontsize=9.5)
    return drawing
