"""The figures and tables of a study, each made from what was gathered."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

import numpy as np
import torch

from ssplain.files import npz_bytes, write_whole
from ssplain.report.evaluation import evaluation_csv
from ssplain.report.record import Exhibit
from ssplain.report.render import grey
from ssplain.study.pictures import Panel, against_passes, curves, dots, map_grid
from ssplain.study.style import save_figure
from ssplain.study.tables import curves_csv
from ssplain.study.work import Work

FIGURE_IMAGES = 4
EXAMPLES = "examples.npz"
AXES = {
    "all": "the share of all pixels, as in the paper",
    "support": "the support alone",
    "kappa": "the share of the brightness",
}
DRAWN = ("all", "support")


class Part(Protocol):
    """Makes some of a study's figures and tables in a folder."""

    def __call__(self, work: Work, folder: Path) -> Iterator[Exhibit]:
        """Yield what was written; a file whose name ends in .csv is a table."""
        ...


def _panels(axis: str) -> list[Panel]:
    measures = ["deletion", "insertion", "connected", "kappa"]
    if axis == "support":  # how much of the support is in says nothing about the brightness alone
        measures = measures[:3]
    return [(axis, measure) for measure in measures]


def _curves(work: Work, folder: Path) -> Iterator[Exhibit]:
    for axis in (axis for axis, _ in work.study.axes if axis in DRAWN):
        drawing = curves(work.found, _panels(axis), work.note)
        yield Exhibit(
            save_figure(drawing, folder, f"curves-{axis}"),
            f"Mean curves over {AXES[axis]}; pixels enter or leave from the highest score on.",
        )
    for axis, points in work.study.axes:
        table = f"measures-{axis}.csv"
        write_whole(folder / table, evaluation_csv(work.found[axis]).encode())
        yield Exhibit(
            table,
            f"Areas under the curves over {AXES[axis]}, and other measures, with 95 % intervals of "
            "a class-stratified bootstrap, and the paired difference to the first explainer.",
        )
        table = f"curves-{axis}.csv"
        write_whole(folder / table, curves_csv(work.found[axis]).encode())
        yield Exhibit(table, f"The mean curves over {AXES[axis]}, at {points} points.")


def _areas(work: Work, folder: Path) -> Iterator[Exhibit]:
    axes = [axis for axis, _ in work.study.axes if axis != "kappa"]
    panels = [(axis, measure) for axis in axes for measure in ("deletion", "insertion")]
    yield Exhibit(
        save_figure(dots(work.found, panels, work.note), folder, "areas"),
        "Areas under the curves with 95 % intervals, best on top: over all pixels as in the paper, "
        "and over the support alone, where the background gives nobody an advantage.",
    )


def _vessels(work: Work, folder: Path) -> Iterator[Exhibit]:
    panels = [(axis, m) for axis in ("all", "kappa") for m in ("curvature", "dilation")]
    yield Exhibit(
        save_figure(curves(work.found, panels, work.note), folder, "vessels"),
        "Curvature and dilation similarity over the share of pixels and over the brightness.",
    )
    names = ("curvature-gain", "diameter-gain")
    drawing = dots(work.found, [("support", name) for name in names], work.note)
    yield Exhibit(
        save_figure(drawing, folder, "vessels-normalised"),
        "How much more than a random order the maps prefer tortuous and wide vessels (1: ideal).",
    )


def _localisation(work: Work, folder: Path) -> Iterator[Exhibit]:
    names = ("average-precision-above-chance", "precision-above-chance")
    drawing = dots(work.found, [("support", name) for name in names], work.note)
    yield Exhibit(
        save_figure(drawing, folder, "localisation"),
        "How well the maps point at the planted disease, above a random order within the vessels.",
    )


def _maps(work: Work, folder: Path) -> Iterator[Exhibit]:
    study, scene, rows = work.study, work.scene, work.rows[:FIGURE_IMAGES]
    drawn = {
        variant: maps[:FIGURE_IMAGES]
        for variant, maps in work.maps.items()
        if not study.drawn or variant in study.drawn
    }
    names = [scene.classes[int(scene.labels[row])] for row in rows]
    drawing = map_grid(scene.images[rows], drawn, names, study.title)
    yield Exhibit(
        save_figure(drawing, folder, "maps"),
        "Scores of the first image of some classes, and the top 5 % of the pixels, the rest purple."
        " Scores are shown from zero to the highest of each map.",
    )


def _agreement(work: Work, folder: Path) -> Iterator[Exhibit]:
    table = "maps.csv"
    write_whole(folder / table, evaluation_csv(work.found["maps"]).encode())
    yield Exhibit(
        table,
        "Of the maps alone: the share of the top pixels off the support, the Gini index and the "
        "total variation of what speaks for the class, and the rank correlation with the first "
        "explainer's maps on the support.",
    )
    panels = [("maps", name) for name in ("background", "sparsity", "shown-roughness", "agreement")]
    yield Exhibit(
        save_figure(dots(work.found, panels, work.note), folder, "maps-measures"),
        "The same with 95 % intervals.",
    )


def _passes(work: Work, folder: Path) -> Iterator[Exhibit]:
    found = work.found["support"]
    drawing = against_passes(found, ("insertion", "deletion"), work.note)
    yield Exhibit(
        save_figure(drawing, folder, "passes"),
        "What iterative explainers reach with so many passes of the model; a forward pass with its "
        "gradient is one.",
    )
    table = "passes.csv"
    write_whole(folder / table, evaluation_csv(found).encode())
    yield Exhibit(table, "The same numbers with 95 % intervals.")


EXHIBITS: Mapping[str, Part] = {
    "curves": _curves,
    "areas": _areas,
    "vessels": _vessels,
    "localisation": _localisation,
    "maps": _maps,
    "agreement": _agreement,
    "passes": _passes,
}


def write_examples(work: Work, folder: Path) -> str:
    """Write maps of a few images for the page's slider, scaled to a highest magnitude of 1."""
    scene, rows = work.scene, work.rows
    scores = torch.stack([maps[:, 0] for maps in work.maps.values()], 1)
    scores = scores / scores.abs().amax((2, 3), keepdim=True).clamp(min=1e-30)
    arrays = {
        "images": np.stack([grey(scene.images[row])[..., 0] for row in rows]),
        "titles": np.array([scene.classes[int(scene.labels[row])] for row in rows]),
        "names": np.array([variant.title for variant in work.maps]),
        # rounded to half precision: the order of the pixels all but stays, the file is half as big
        "scores": scores.half().float().numpy(),
    }
    write_whole(folder / EXAMPLES, npz_bytes(arrays))
    return EXAMPLES
