"""Execution times as a study: what the maps took when they were made, against the paper's table."""

from collections.abc import Callable
from pathlib import Path

from matplotlib.figure import Figure

from ssplain.explain.registry import METHODS
from ssplain.files import write_whole
from ssplain.metrics import Evaluation
from ssplain.report.record import Record, Shown
from ssplain.run import Store
from ssplain.study.declare import NAMES, Study
from ssplain.study.engine import Progress, explain, finish, manifest, passes
from ssplain.study.scene import Scene
from ssplain.study.style import BLUE, VERMILION, save_figure, style
from ssplain.study.tables import csv_text

# seconds per image, mean of the paper's Table 1
PAPER = {
    "rop": {
        "SSplain-0": 29.91,
        "KernelSHAP": 29.57,
        "LIME": 27.86,
        "Occlusion": 114.60,
        "Extremal Perturbation": 222.36,
    },
    "mnist": {
        "SSplain-0": 1.58,
        "KernelSHAP": 0.23,
        "LIME": 0.21,
        "Occlusion": 0.64,
        "Extremal Perturbation": 15.13,
    },
    "fmnist": {
        "SSplain-0": 1.59,
        "KernelSHAP": 0.24,
        "LIME": 0.23,
        "Occlusion": 0.64,
        "Extremal Perturbation": 15.19,
    },
}
COLUMNS = (
    "data set",
    "explainer",
    "family",
    "images",
    "ms per image",
    "sd between pieces",
    "times SSplain-0",
    "times SSplain in the paper",
)
Row = tuple[str, str, str, int, float, float, float, float | str]


def key(dataset: str, title: str) -> str:
    """Return the name under which the ledger finds the times of an explainer.

    >>> key("mnist", "LIME")
    'mnist, LIME'
    """
    return f"{dataset}, {title}"


def run_times(
    study: Study,
    scenes: Callable[[str], Scene | None],
    home: Path,
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> Record:
    """Gather the times of all data sets; maps that are not there yet are made.

    Args:
        study: with all explainers to be timed, SSplain first.
        scenes: gives each data set's model and images, None where there is no model.
        home: folder of all studies.
        seed: of all draws.
        progress: as in `ssplain.study.engine.run`.
    """
    store, folder = Store(home / "store"), home / study.name
    there = {name: scene for name in study.dataset.split(", ") if (scene := scenes(name))}
    costs = {
        (name, v): passes(v.all_settings(name), v.method, scene) * len(scene.images)
        for name, scene in there.items()
        for v in study.variants
    }
    found: dict[str, Evaluation] = {}
    done = 0.0
    for (name, variant), cost in costs.items():
        scene = there[name]
        made = explain(store, scene, variant, scene.labels, seed=seed)
        none = made.seconds[:0]
        own = Evaluation({"seconds": made.seconds}, {}, none, scene.labels)
        found[key(name, variant.title)] = own
        done += cost
        if progress is not None:
            progress(done, sum(costs.values()), f"{study.name}: {variant.title} on {name}")
    rows = [row(name, variant.title, variant.method, found) for name, variant in costs]
    write_whole(folder / "times.csv", csv_text(COLUMNS, rows).encode())
    with style():
        figure = save_figure(times_figure(rows), folder, "times")
    shown = [
        Shown(
            figure,
            "Time per image over SSplain's, here and in the paper. Only ratios travel: the paper's "
            "images went one by one, ours in batches, and the machine did other work too.",
        ),
        Shown(
            "times.csv",
            "Time per image, measured when the maps were made: each image has its share of its "
            "piece (50 small or 2 large images in a batch).",
        ),
    ]
    return finish(
        study,
        home,
        {"times": found},
        shown,
        images=sum(len(scene.images) for scene in there.values()),
        settings={name: len(scene.images) for name, scene in there.items()},
        manifest={name: manifest(scene, seed) for name, scene in there.items()},
        seconds=sum(float(one.values["seconds"].sum()) for one in found.values()),
    )


def row(dataset: str, title: str, method: str, found: dict[str, Evaluation]) -> Row:
    """Return a line of the table."""
    own = found[key(dataset, title)].values["seconds"].double()
    ours = found[key(dataset, "SSplain-0")].values["seconds"].double()
    printed = PAPER[dataset]
    theirs = printed[title] / printed["SSplain-0"] if title in printed else ""
    return (
        dataset,
        title,
        METHODS[method].family,
        len(own),
        float(1e3 * own.mean()),
        float(1e3 * own.std(correction=0)),
        float(own.mean() / ours.mean()),
        theirs,
    )


def times_figure(rows: list[Row]) -> Figure:
    """Draw the times over SSplain's, here (filled) and in the paper (hollow)."""
    datasets = list(dict.fromkeys(r[0] for r in rows))
    drawing = Figure(figsize=(3.3 * len(datasets) + 1.4, 3.4), layout="constrained")
    grid = drawing.subplots(1, len(datasets), squeeze=False, sharey=True)[0]
    for axes, dataset in zip(grid, datasets, strict=True):
        own = sorted((r for r in rows if r[0] == dataset), key=lambda r: r[6])
        for place, one in enumerate(own):
            axes.plot(one[6], place, "o", color=BLUE, label="here" if not place else None)
            if isinstance(one[7], float):
                axes.plot(one[7], place, "D", color=VERMILION, markerfacecolor="white")
        axes.axvline(1, color="0.5", linewidth=0.8)
        axes.set_yticks(range(len(own)), [one[1] for one in own])
        axes.set(xscale="log", title=NAMES[dataset], xlabel="time per image / that of SSplain-0")
        axes.tick_params(labelleft=True)
    (mark,) = grid[0].plot([], [], "D", color=VERMILION, markerfacecolor="white")
    here = grid[0].get_legend_handles_labels()[0]
    drawing.legend([*here, mark], ["here", "in the paper"], loc="outside right center")
    return drawing
