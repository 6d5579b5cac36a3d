"""Runs a declared study: maps, measures, figures, tables, and the record at the end.

All that takes long is kept in a store under what it depends on. A run that was stopped goes on
where it was, and studies that need the same maps share them.
"""

import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from ssplain.explain.registry import make
from ssplain.files import write_whole
from ssplain.metrics import Evaluation
from ssplain.models.fingerprint import fingerprint, hash_tensor
from ssplain.report.evaluation import evaluation_csv
from ssplain.report.record import Record, Shown, write_record
from ssplain.report.render import grey
from ssplain.run import Maps, Store, maps_in_pieces
from ssplain.study.declare import Study, Variant
from ssplain.study.measured import look_at, measure_in_pieces, with_settled
from ssplain.study.pictures import Panel, curves, dots, map_grid
from ssplain.study.results import Results, write_results
from ssplain.study.scene import Scene
from ssplain.study.style import save_figure, style
from ssplain.study.tables import curves_csv
from ssplain.version import __version__

Progress = Callable[[float, float, str], None]
FIGURE_IMAGES, EXAMPLE_IMAGES = 4, 10


class Part(Protocol):
    """Makes some of a study's figures and tables in a folder."""

    def __call__(self, work: "Work", folder: Path) -> Iterator[Shown]:
        """Yield what was written; a file whose name ends in .csv is a table."""
        ...


@dataclass(frozen=True, eq=False)
class Work:
    """A study that is being run.

    Attributes:
        study: what is to be done.
        scene: on what.
        store: where finished pieces are.
        seed: of all draws.
        targets: `(N,)` the explained classes.
        maps: of each variant.
        found: by axis, or "maps", and title: what was measured.
        seconds: what the measures took, those found done included.
    """

    study: Study
    scene: Scene
    store: Store
    seed: int
    targets: Tensor
    maps: dict[Variant, Maps] = field(default_factory=dict)
    found: dict[str, dict[str, Evaluation]] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)

    @property
    def note(self) -> str:
        """What a figure says about itself."""
        return f"{self.study.title}, {len(self.scene.images)} images"


def explain(
    store: Store,
    scene: Scene,
    variant: Variant,
    targets: Tensor,
    *,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Maps:
    """Return the maps of one explainer on all images, found in the store or made.

    >>> import tempfile
    >>> from ssplain.study.scene import bundled_scene
    >>> scene = bundled_scene("mnist", 2)
    >>> with tempfile.TemporaryDirectory() as home:
    ...     made = explain(Store(Path(home)), scene, Variant("", "saliency"), scene.labels)
    >>> made.maps.shape
    torch.Size([2, 1, 28, 28])
    """
    settings = variant.all_settings(scene.dataset)
    return maps_in_pieces(
        store,
        make(variant.method, scene.model, seed=seed, **settings),
        scene.images,
        targets,
        {"model": fingerprint(scene.model), "settings": settings, "seed": seed},
        name=variant.method,
        piece=scene.piece,
        progress=progress,
    )


def run(
    study: Study, scene: Scene, home: Path, *, seed: int = 0, progress: Progress | None = None
) -> Record:
    """Run a study and write its folder; the record comes last.

    Args:
        study: what to do.
        scene: model and images.
        home: folder of all studies; the store is in it.
        seed: of all draws.
        progress: called with the work done, all of the work (in passes through the model), and
            what is being done.
    """
    targets = scene.labels if study.targets == "label" else scene.predicted()
    work = Work(study, scene, Store(home / "store"), seed, targets)
    _explain_and_measure(work, progress)
    folder = home / study.name
    shown: list[Shown] = []
    with style():
        for name in study.parts:
            shown += PARTS[name](work, folder)
    explaining = sum(float(made.seconds.sum()) for made in work.maps.values())
    return finish(
        study,
        home,
        work.found,
        shown,
        images=len(scene.images),
        settings={
            "targets": study.targets,
            **{v.title: v.all_settings(scene.dataset) for v in study.variants},
        },
        manifest=manifest(scene, seed),
        seconds=explaining + sum(work.seconds),
        examples=_write_examples(work, folder) if study.name.startswith("maps-") else None,
    )


def finish(
    study: Study,
    home: Path,
    found: Mapping[str, Mapping[str, Evaluation]],
    shown: Sequence[Shown],
    *,
    images: int,
    settings: Mapping[str, Any],
    manifest: Mapping[str, Any],
    seconds: float,
    examples: str | None = None,
) -> Record:
    """Write the values of each image and then the record, which says that the study is whole."""
    folder = home / study.name
    write_results(folder, Results(study.name, images, found))
    record = Record(
        name=study.name,
        title=study.title,
        where=study.where,
        dataset=study.dataset,
        images=images,
        settings=settings,
        manifest=manifest,
        seconds=round(seconds, 1),
        figures=tuple(one for one in shown if not one.file.endswith(".csv")),
        tables=tuple(one for one in shown if one.file.endswith(".csv")),
        examples=examples,
    )
    write_record(folder, record)
    return record


def manifest(scene: Scene, seed: int) -> dict[str, Any]:
    """Return what the results depend on, beside the settings."""
    return {
        "ssplain": __version__,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "threads": torch.get_num_threads(),
        "model": fingerprint(scene.model),
        "images": hash_tensor(scene.images),
        "seed": seed,
    }


def _explain_and_measure(work: Work, progress: Progress | None) -> None:
    study, scene = work.study, work.scene
    count = len(scene.images)
    costs = {v: passes(v.all_settings(scene.dataset), v.method, scene) for v in study.variants}
    measuring = sum(2 * points for _, points in study.axes)
    total, done = count * (sum(costs.values()) + measuring * len(costs)), 0.0

    def telling(each: float, text: str) -> Callable[[int], None]:
        before = done
        return lambda at: None if progress is None else progress(before + at * each, total, text)

    for variant, cost in costs.items():
        tell = telling(cost, f"{study.name}: {variant.title}, maps")
        made = explain(work.store, scene, variant, work.targets, seed=work.seed, progress=tell)
        done += count * cost
        work.maps[variant] = made
        first = work.maps[study.variants[0]].maps
        alone = look_at(scene.images, made.maps, first)
        for axis, points in study.axes:
            tell = telling(2 * points, f"{study.name}: {variant.title}, measures over {axis}")
            measured = measure_in_pieces(
                work.store,
                scene,
                made.maps,
                name=variant.method,
                axis=axis,
                points=points,
                seed=work.seed,
                progress=tell,
            )
            done += count * 2 * points
            work.seconds.append(measured.seconds)
            found = with_settled(measured).evaluation(scene.labels)
            work.found.setdefault(axis, {})[variant.title] = found
        no_curve = torch.zeros(0)
        own = Evaluation(alone, {}, no_curve, scene.labels)
        work.found.setdefault("maps", {})[variant.title] = own


def passes(settings: Mapping[str, Any], method: str, scene: Scene) -> float:
    """Return about how many passes through the model one map takes, for the remaining time.

    >>> from ssplain.study.scene import bundled_scene
    >>> passes({"iterations": 20}, "ssplain-0", bundled_scene("mnist", 1))
    60.0
    """
    gradient = 3.0  # forward and backward
    if method == "occlusion":
        height, width = scene.images.shape[-2:]
        window, stride = settings["window"], settings["stride"]
        return float(((height - window) // stride + 1) * ((width - window) // stride + 1))
    if "samples" in settings:
        return float(settings["samples"])
    if method == "integrated-gradients":
        return 50 * gradient
    both = 2 if method.startswith("extremal") and settings.get("variant") != "preserve" else 1
    return gradient * both * float(settings.get("iterations", 1))


def _panels(axis: str) -> list[Panel]:
    measures = ["deletion", "insertion", "connected", "kappa"]
    if axis == "support":  # how much of the support is in says nothing about the brightness alone
        measures = measures[:3]
    return [(axis, measure) for measure in measures]


def _curves(work: Work, folder: Path) -> Iterator[Shown]:
    places = {"all": "the share of all pixels, as in the paper", "support": "the support alone"}
    for axis in (axis for axis, _ in work.study.axes if axis in places):
        drawing = curves(work.found, _panels(axis), work.note)
        yield Shown(
            save_figure(drawing, folder, f"curves-{axis}"),
            f"Mean curves over {places[axis]}; pixels enter or leave from the highest score on.",
        )
    for axis, points in work.study.axes:
        table = f"measures-{axis}.csv"
        write_whole(folder / table, evaluation_csv(work.found[axis]).encode())
        yield Shown(
            table,
            f"Areas under the curves over {axis} and other measures, with 95 % intervals of a "
            "class-stratified bootstrap, and the paired difference to the first explainer.",
        )
        table = f"curves-{axis}.csv"
        write_whole(folder / table, curves_csv(work.found[axis]).encode())
        yield Shown(table, f"The mean curves over {axis} at {points} points.")


def _areas(work: Work, folder: Path) -> Iterator[Shown]:
    axes = [axis for axis, _ in work.study.axes if axis != "kappa"]
    panels = [(axis, measure) for axis in axes for measure in ("deletion", "insertion")]
    yield Shown(
        save_figure(dots(work.found, panels, work.note), folder, "areas"),
        "Areas under the curves with 95 % intervals, best on top: over all pixels as in the paper, "
        "and over the support alone, where the background gives nobody an advantage.",
    )


def _vessels(work: Work, folder: Path) -> Iterator[Shown]:
    panels = [(axis, m) for axis in ("all", "kappa") for m in ("curvature", "dilation")]
    yield Shown(
        save_figure(curves(work.found, panels, work.note), folder, "vessels"),
        "Curvature and dilation similarity over the share of pixels and over the brightness.",
    )
    names = ("curvature, random 0 to ideal 1", "mean-diameter, random 0 to ideal 1")
    drawing = dots(work.found, [("support", name) for name in names], work.note)
    yield Shown(
        save_figure(drawing, folder, "vessels-normalised"),
        "How much more than a random order the maps prefer tortuous and wide vessels (1: ideal).",
    )


def _localisation(work: Work, folder: Path) -> Iterator[Shown]:
    names = ("average-precision above chance", "precision above chance")
    drawing = dots(work.found, [("support", name) for name in names], work.note)
    yield Shown(
        save_figure(drawing, folder, "localisation"),
        "How well the maps point at the planted disease, above a random order within the vessels.",
    )


def _maps(work: Work, folder: Path) -> Iterator[Shown]:
    study, scene = work.study, work.scene
    rows = scene.examples(FIGURE_IMAGES)
    drawn = {
        variant: made.maps[rows]
        for variant, made in work.maps.items()
        if not study.drawn or variant.title in study.drawn
    }
    names = [scene.classes[int(scene.labels[row])] for row in rows]
    drawing = map_grid(scene.images[rows], drawn, names, study.title)
    yield Shown(
        save_figure(drawing, folder, "maps"),
        "Scores of the first image of some classes, and the top 5 % of the pixels, the rest purple."
        " Scores are shown from zero to the highest of each map.",
    )


def _agreement(work: Work, folder: Path) -> Iterator[Shown]:
    table = "maps.csv"
    write_whole(folder / table, evaluation_csv(work.found["maps"]).encode())
    yield Shown(
        table,
        "Of the maps alone: the share of the top pixels off the support, the Gini index and the "
        "total variation of what speaks for the class, and the rank correlation with the first "
        "explainer's maps on the support.",
    )
    panels = [("maps", name) for name in ("background", "sparsity", "roughness", "agreement")]
    yield Shown(
        save_figure(dots(work.found, panels, work.note), folder, "maps-measures"),
        "The same with 95 % intervals.",
    )


PARTS: Mapping[str, Part] = {
    "curves": _curves,
    "areas": _areas,
    "vessels": _vessels,
    "localisation": _localisation,
    "maps": _maps,
    "agreement": _agreement,
}


def _write_examples(work: Work, folder: Path) -> str:
    """Write maps of a few images for the page's slider, scaled to a highest magnitude of 1."""
    scene = work.scene
    rows = scene.examples(EXAMPLE_IMAGES)
    scores = torch.stack([made.maps[rows, 0] for made in work.maps.values()], 1)
    scores = scores / scores.abs().amax((2, 3), keepdim=True).clamp(min=1e-30)
    content = BytesIO()
    np.savez_compressed(
        content,
        images=np.stack([grey(scene.images[row])[..., 0] for row in rows]),
        titles=np.array([scene.classes[int(scene.labels[row])] for row in rows]),
        names=np.array([variant.title for variant in work.maps]),
        # half precision keeps the order of the pixels and halves the file
        scores=scores.half().float().numpy(),
    )
    write_whole(folder / "examples.npz", content.getvalue())
    return "examples.npz"
