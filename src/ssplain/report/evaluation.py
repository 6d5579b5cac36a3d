"""Evaluations as a table and as curves: several explainers on the same images."""

import csv
from collections.abc import Mapping
from io import StringIO
from typing import TYPE_CHECKING

from matplotlib import colormaps

from ssplain.errors import SSplainError
from ssplain.metrics import MEASURES, Evaluation
from ssplain.report.empty import empty_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Evaluations = Mapping[str, Evaluation]

COLUMNS = (
    "explainer",
    "measure",
    "value",
    "low",
    "high",
    "images",
    "versus",
    "difference",
    "difference low",
    "difference high",
)
SHADES = (*range(0, 20, 2), *range(1, 20, 2))  # of tab20: the dark ones first


def evaluation_csv(found: Evaluations) -> str:
    """Return one line per explainer and measure: value, interval, and the paired difference.

    The difference is from the first explainer, on the same images.

    >>> import ssplain
    >>> model = ssplain.models.load("lenet5-mnist")
    >>> images, labels = (part[:4] for part in ssplain.data.bundled("mnist"))
    >>> found = ssplain.metrics.evaluate(model, images, labels, images, points=3)
    >>> evaluation_csv({"intensity": found}).splitlines()[0]
    'explainer,measure,value,low,high,images,versus,difference,difference low,difference high'
    """
    first = _first(found)
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for name, evaluation in found.items():
        for measure, values in evaluation.values.items():
            own = evaluation.summary(measure)
            apart = evaluation.against(found[first], measure).difference
            numbers = [f"{x:.5f}" for x in (own.value, own.low, own.high)]
            differences = [f"{x:.5f}" for x in (apart.value, apart.low, apart.high)]
            images = int((~values.isnan()).sum())
            writer.writerow([name, measure, *numbers, images, first, *differences])
    return text.getvalue()


def evaluation_figure(found: Evaluations, axis: str = "support", *, log: bool = False) -> "Figure":
    """Draw the mean curve of each explainer, one panel per measure.

    Args:
        found: by explainer; the first is drawn on top.
        axis: what the steps are a share of, for the label.
        log: draw that share on a log axis, from the first step on; curves that rise early differ
            there, and look alike on a linear one.

    >>> import ssplain
    >>> model = ssplain.models.load("lenet5-mnist")
    >>> images, labels = (part[:4] for part in ssplain.data.bundled("mnist"))
    >>> found = ssplain.metrics.evaluate(model, images, labels, images, points=3)
    >>> len(evaluation_figure({"intensity": found}).axes)
    4
    """
    evaluation = found[_first(found)]
    measures = list(evaluation.curves)
    columns = 2 if len(measures) <= 4 else 3
    rows = -(-len(measures) // columns)
    drawing = empty_figure(4.2 * columns, 3.1 * rows + 0.9)
    grid = drawing.subplots(rows, columns, squeeze=False).ravel()
    share = {"all": "all pixels", "support": "the support", "kappa": "the brightness"}[axis]
    for axes, measure in zip(grid, measures, strict=False):
        for at, (name, one) in enumerate(found.items()):
            colour = colormaps["tab20"](SHADES[(at - 1) % len(SHADES)])
            axes.plot(
                one.grid.tolist(),
                one.mean_curve(measure).tolist(),
                color="black" if at == 0 else colour,
                linewidth=2.2 if at == 0 else 1.2,
                zorder=3 if at == 0 else 2,
                label=name,
            )
        record = MEASURES.find(measure)
        axes.set_title(record.says(record.heading or measure), fontsize=10)
        axes.set_ylabel(record.unit, fontsize=9)
        axes.set_xlabel(f"share of {share}", fontsize=9)
        if log:
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter("{x:g}")
        axes.set_xlim(float(evaluation.grid[1]) if log else 0, 1)
        axes.tick_params(labelsize=8)
        axes.spines[["top", "right"]].set_visible(False)
    for axes in grid[len(measures) :]:
        axes.set_axis_off()
    handles, names = grid[0].get_legend_handles_labels()
    drawing.legend(handles, names, loc="outside lower center", ncols=4, fontsize=8, frameon=False)
    drawing.suptitle(f"{len(evaluation.labels)} images", fontsize=10)
    return drawing


def _first(found: Evaluations) -> str:
    if not found:
        raise SSplainError("There is nothing evaluated yet; give at least one explainer's maps.")
    return next(iter(found))
