"""Stability as a study: how much of each explainer's maps stays under noise that nobody sees."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from ssplain.explain.stability import measure_stability
from ssplain.files import write_whole
from ssplain.metrics import Evaluation
from ssplain.progress import Progress
from ssplain.question.inputs import find_support
from ssplain.report.evaluation import evaluation_csv
from ssplain.report.record import Exhibit, Record
from ssplain.run.evaluations import evaluate_once
from ssplain.run.maps import Maps, explain_once
from ssplain.run.scene import Scene
from ssplain.run.store import Store
from ssplain.study.declare import NAMES
from ssplain.study.engine import finish, manifest
from ssplain.study.kinds import StabilityStudy, Variant
from ssplain.study.pictures import dots
from ssplain.study.style import save_figure, style
from ssplain.study.work import passes

MEASURED = ("overlap-1e-6", "overlap-1e-3", "ranks-1e-6", "ranks-1e-3")
RADII = (1e-6, 1e-3)


def run_stability(
    study: StabilityStudy,
    scenes: Mapping[str, Scene],
    home: Path,
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> Record:
    """Explain images again under noise; maps are kept, so that a stopped run goes on.

    Args:
        study: with all explainers; of the first two the insertion area is taken on all images.
        scenes: model and images of each data set.
        home: folder of all studies.
        seed: of all draws.
        progress: as in `ssplain.study.work.do`.
    """
    store, folder = Store(home / "store"), home / study.name
    costs = {
        (name, v): passes(v.all_settings(name), v.method, scene)
        for name, scene in scenes.items()
        for v in study.variants
    }
    found: dict[str, dict[str, Evaluation]] = {}
    done, seconds = 0.0, 0.0
    for (name, variant), cost in costs.items():
        few = _first(scenes[name], study.noisy)
        made, own = _noisy(store, few, variant, study.draws, seed)
        found.setdefault(group(name), {})[variant.title] = own
        seconds += made
        if variant in study.variants[:2]:
            whole = scenes[name]
            maps = _maps(store, whole, variant, seed)
            measured = evaluate_once(
                store, whole, maps.channels, name=variant.method, measures=["insertion"], seed=seed
            )
            found.setdefault(f"insertion on {name}", {})[variant.title] = measured
            seconds += float(maps.seconds.sum()) + measured.seconds
        done += cost
        if progress is not None:
            progress(done, sum(costs.values()), f"{study.name}: {variant.title} on {name}")
    return finish(
        study,
        home,
        found,
        _exhibits(folder, found, {name: len(scene.images) for name, scene in scenes.items()}),
        images=sum(len(scene.images) for scene in scenes.values()),
        settings={
            "images under noise, of each set": study.noisy,
            "draws": study.draws,
            "radii": list(RADII),
            **{v.title: {n: v.all_settings(n) for n in scenes} for v in study.variants},
        },
        manifest={name: manifest(study, scene, seed) for name, scene in scenes.items()},
        seconds=seconds,
    )


def group(dataset: str) -> str:
    """Return where the ledger finds the stability on a data set.

    >>> group("mnist")
    'stability on mnist'
    """
    return f"stability on {dataset}"


def _first(scene: Scene, count: int) -> Scene:
    return replace(scene, images=scene.images[:count], labels=scene.labels[:count])


def _maps(store: Store, scene: Scene, variant: Variant, seed: int) -> Maps:
    settings = variant.all_settings(scene.dataset)
    return explain_once(store, scene, variant.method, settings, scene.labels, seed=seed)


def _noisy(
    store: Store, scene: Scene, variant: Variant, draws: int, seed: int
) -> tuple[float, Evaluation]:
    """Return what the maps took, and how much of them stays, by image."""
    seconds = 0.0

    def explain(images: Tensor) -> Tensor:
        nonlocal seconds
        made = _maps(store, replace(scene, images=images), variant, seed)
        seconds += float(made.seconds.sum())
        return made.joined()

    support = find_support(scene.images, "nonzero")
    steady = measure_stability(explain, scene.images, support, radii=RADII, draws=draws, seed=seed)
    values = torch.cat([steady.overlap, steady.ranks])
    named = dict(zip(MEASURED, values, strict=True))
    return seconds, Evaluation.of_values(named, scene.labels)


def _exhibits(
    folder: Path, found: Mapping[str, Mapping[str, Evaluation]], counts: Mapping[str, int]
) -> list[Exhibit]:
    shown = []
    by_name = {NAMES[name]: found[group(name)] for name in counts}
    panels = [(name, measure) for name in by_name for measure in (MEASURED[0], MEASURED[3])]
    few = len(next(iter(next(iter(by_name.values())).values())).labels)
    with style():
        drawing = dots(by_name, panels, f"Stability of maps, {few} images of each set")
        figure = save_figure(drawing, folder, "stability")
    shown.append(
        Exhibit(
            figure,
            "How much of the top quarter of the support stays under noise of 1e-6 (rounding), and "
            "how alike the maps are under noise of 1e-3 (a quarter of a grey level), with 95 % "
            "intervals.",
        )
    )
    for name, count in counts.items():
        for kind, words in (
            (group(name), f"under noise, {few} images of {NAMES[name]}"),
            (f"insertion on {name}", f"of the insertion over the support, {count} images"),
        ):
            table = f"{kind.split(maxsplit=1)[0]}-{name}.csv"
            write_whole(folder / table, evaluation_csv(found[kind]).encode())
            shown.append(Exhibit(table, f"The numbers {words}, with 95 % intervals."))
    return shown
