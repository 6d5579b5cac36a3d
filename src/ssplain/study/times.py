"""Execution times as a study: one image at a time, as in the paper, against the paper's table.

Counted is the time that the processor worked for us, not the time on the clock, so that other work
on the machine disturbs it little.
"""

import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import torch
from matplotlib.figure import Figure
from numpy.typing import NDArray
from torch import Tensor

from ssplain.explain.registry import METHODS, make
from ssplain.files import write_whole
from ssplain.metrics import Evaluation
from ssplain.models.fingerprint import hash_tensor
from ssplain.progress import Progress
from ssplain.question.protocol import Explainer
from ssplain.report.record import Exhibit, Record
from ssplain.run.revision import revision
from ssplain.run.scene import Scene
from ssplain.run.store import Store
from ssplain.study.declare import NAMES, OURS
from ssplain.study.engine import finish, manifest
from ssplain.study.kinds import TimesStudy, Variant
from ssplain.study.style import BLUE, VERMILION, save_figure, style
from ssplain.study.tables import csv_text
from ssplain.study.work import passes

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
    "sd",
    "times SSplain-0",
    "times SSplain in the paper",
)
Row = tuple[str, str, str, int, float, float, float, float | str]


def group(dataset: str) -> str:
    """Return where the ledger finds the times on a data set.

    >>> group("mnist")
    'times on mnist'
    """
    return f"times on {dataset}"


def run_times(
    study: TimesStudy,
    scenes: Mapping[str, Scene],
    home: Path,
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> Record:
    """Time explainers on each data set; times that are in the store are not taken again.

    Args:
        study: with all explainers to be timed, SSplain first.
        scenes: model and images of each data set that has a model.
        home: folder of all studies.
        seed: of all draws.
        progress: as in `ssplain.study.work.do`.
    """
    store, folder = Store(home / "store"), home / study.name
    costs = {
        (name, v): passes(v.all_settings(name), v.method, scene) * len(scene.images)
        for name, scene in scenes.items()
        for v in study.variants
    }
    found: dict[str, dict[str, Evaluation]] = {}
    done = 0.0
    for (name, variant), cost in costs.items():
        seconds = _seconds(store, scenes[name], variant, seed)
        own = Evaluation.of_values({"seconds": seconds}, scenes[name].labels)
        found.setdefault(group(name), {})[variant.title] = own
        done += cost
        if progress is not None:
            progress(done, sum(costs.values()), f"{study.name}: {variant.title} on {name}")
    rows = [row(name, variant, found[group(name)]) for name, variant in costs]
    write_whole(folder / "times.csv", csv_text(COLUMNS, rows).encode())
    with style():
        figure = save_figure(times_figure(rows), folder, "times")
    shown = [
        Exhibit(
            figure,
            "Processor time per image over SSplain's, here and in the paper. Only ratios travel "
            "from one machine to another.",
        ),
        Exhibit("times.csv", "Processor time per image, one image at a time, mean and deviation."),
    ]
    return finish(
        study,
        home,
        found,
        shown,
        images=sum(len(scene.images) for scene in scenes.values()),
        settings={name: len(scene.images) for name, scene in scenes.items()},
        manifest={name: manifest(study, scene, seed) for name, scene in scenes.items()},
        seconds=sum(
            float(one.values["seconds"].sum()) for own in found.values() for one in own.values()
        ),
    )


def _seconds(store: Store, scene: Scene, variant: Variant, seed: int) -> Tensor:
    """Return the processor time of each image, `(N,)`."""
    settings = variant.all_settings(scene.dataset)
    explainer = make(variant.method, scene.model, seed=seed, **settings)
    about = {
        "model": scene.origin,
        "settings": settings,
        "threads": torch.get_num_threads(),
        "seed": seed,
        "code": revision(type(explainer).__module__),
        "torch": torch.__version__,
    }
    spent = []
    for i in range(len(scene.images)):
        image, label = scene.images[i : i + 1], scene.labels[i : i + 1]
        own = about | {"images": hash_tensor(image), "labels": label.tolist()}
        work = partial(_time, explainer, image, label)
        spent.append(store.once(f"times-{variant.method}", own, work)["seconds"])
    return torch.tensor(np.array(spent))


def _time(explainer: Explainer, image: Tensor, label: Tensor) -> dict[str, NDArray[np.float64]]:
    # small images twice: the first call loads and chooses kernels
    calls = 2 if image[0, 0].numel() <= 64 * 64 else 1
    spent = 0.0
    for _ in range(calls):
        started = time.process_time()
        explainer.attribute(image, label)
        spent = time.process_time() - started
    return {"seconds": np.array(spent)}


def row(dataset: str, variant: Variant, found: Mapping[str, Evaluation]) -> Row:
    """Return a line of the table."""
    own = found[variant.title].values["seconds"].double()
    ours = found[OURS.title].values["seconds"].double()
    printed = PAPER[dataset]
    theirs = printed[variant.title] / printed[OURS.title] if variant.title in printed else ""
    return (
        dataset,
        variant.title,
        METHODS[variant.method].family,
        len(own),
        float(1e3 * own.mean()),
        float(1e3 * own.std(correction=0)),
        float(own.mean() / ours.mean()),
        theirs,
    )


def times_figure(rows: Sequence[Row]) -> Figure:
    """Draw the times over SSplain's, here (filled) and in the paper (hollow)."""
    datasets = list(dict.fromkeys(r[0] for r in rows))
    drawing = Figure(figsize=(3.4 * len(datasets) + 1.2, 3.2), layout="constrained")
    grid = drawing.subplots(1, len(datasets), squeeze=False)[0]
    for axes, dataset in zip(grid, datasets, strict=True):
        own = sorted((r for r in rows if r[0] == dataset), key=lambda r: -r[6])
        axes.axvline(1, color="0.5", linewidth=0.8)
        places = range(len(own))
        axes.plot([r[6] for r in own], places, "o", color=BLUE, label="here")
        printed = [(r[7], place) for place, r in enumerate(own) if isinstance(r[7], float)]
        axes.plot(
            [x for x, _ in printed],
            [place for _, place in printed],
            "D",
            color=VERMILION,
            markerfacecolor="none",
            label="in the paper",
        )
        axes.set_yticks(places, [r[1] for r in own])
        axes.set(xscale="log", title=NAMES[dataset], xlabel="time per image / SSplain-0's")
    handles, labels = grid[0].get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside right center")
    return drawing
