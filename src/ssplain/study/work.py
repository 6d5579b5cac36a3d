"""Explaining and measuring: all of a study that takes long.

It is kept in a store under what it depends on. A run that was stopped goes on where it was, and
studies that need the same maps share them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from torch import Tensor

from ssplain.errors import SSplainError
from ssplain.metrics import MEASURES, Evaluation, evaluate
from ssplain.progress import Progress, portion
from ssplain.run.evaluations import evaluate_once
from ssplain.run.maps import Maps, explain_once
from ssplain.run.scene import Scene
from ssplain.run.store import Store
from ssplain.study.kinds import MapStudy, Variant
from ssplain.study.results import Found, Results

SHOWN_IMAGES = 10
ALIKE = 0.1  # mean difference of an image's values beyond which two runs are not one study


@dataclass(frozen=True, eq=False)
class Work:
    """What a study's figures and tables are made from.

    Attributes:
        study: what was to be done.
        scene: on what.
        rows: the images that are shown.
        maps: of each variant, of these images, `(n, 1, H, W)`.
        found: by axis, or "maps", and title: what was measured.
        seconds: what it all took, pieces that were found done included.
        drift: by title, how far images that an earlier run had done are off when they are done
            again; empty if there was none.
    """

    study: MapStudy
    scene: Scene
    rows: list[int]
    maps: Mapping[Variant, Tensor]
    found: Found
    seconds: float
    drift: Mapping[str, float] = field(default_factory=dict)

    @property
    def note(self) -> str:
        """What a figure says about itself."""
        return f"{self.study.title}, {len(self.scene.images)} images"


def do(
    study: MapStudy,
    scene: Scene,
    store: Store,
    *,
    seed: int = 0,
    before: Results | None = None,
    progress: Progress | None = None,
) -> Work:
    """Explain the images by all explainers of a study, and measure the maps.

    Args:
        study: what to do.
        scene: model and images.
        store: where finished pieces are.
        seed: of all draws.
        before: what an earlier run found of the first images. These are not done again, but for
            those that are shown (the first one where none is), which tell whether the two runs
            belong together.
        progress: told the work done, in passes through the model, and what is being done.
    """
    rows = scene.examples(SHOWN_IMAGES)
    if before is None:
        all_of_it = _see(study, scene, store, seed, progress)
        maps = {variant: made.joined()[rows] for variant, made in all_of_it.maps.items()}
        return Work(study, scene, rows, maps, all_of_it.found, all_of_it.seconds)
    known, total = before.images, len(scene.images)
    kept = {title for by in before.found.values() for title in by}
    old, new = (
        replace(study, variants=tuple(v for v in study.variants if (v.title in kept) is there))
        for there in (True, False)
    )
    repeated = rows if "maps" in study.exhibits else [0]
    parts = [(old, repeated), (old, range(known, total)), (new, range(total))]
    sizes = [len(part.variants) * len(some) for part, some in parts]
    again, rest, anew = (
        _see(
            part,
            scene.take(some),
            store,
            seed,
            portion(progress, sum(sizes[:i]), sizes[i], sum(sizes)),
        )
        for i, (part, some) in enumerate(parts)
    )
    drift = _drift(before.found, again.found, repeated)
    found = {
        group: {
            v.title: _followed(before.found[group][v.title], rest.found[group][v.title])
            if v.title in kept
            else anew.found[group][v.title]
            for v in study.variants
        }
        for group in before.found
    }
    maps = {variant: made.joined() for variant, made in again.maps.items()}
    maps |= {variant: made.joined()[repeated] for variant, made in anew.maps.items()}
    seconds = sum(one.seconds for one in (again, rest, anew))
    return Work(study, scene, repeated, maps, found, seconds, drift)


def _followed(before: Evaluation, rest: Evaluation) -> Evaluation:
    """Put further images after those of an earlier run, in the measures that both have."""
    values = {name: before.values[name] for name in rest.values}
    return Evaluation.join([replace(before, values=values), rest])


@dataclass(frozen=True, eq=False)
class _Seen:
    """All maps of some images, and what was measured on them."""

    maps: Mapping[Variant, Maps]
    found: Found
    seconds: float


def _see(
    study: MapStudy, scene: Scene, store: Store, seed: int, progress: Progress | None
) -> _Seen:
    targets = scene.labels if study.targets == "label" else scene.predicted()
    count = len(scene.images)
    costs = {v: passes(v.all_settings(scene.dataset), v.method, scene) for v in study.variants}
    measuring = sum(2 * points for _, points in study.axes)
    total, done, seconds = count * (sum(costs.values()) + measuring * len(costs)), 0.0, 0.0
    every = scene.measures(with_reference="agreement" in study.exhibits)
    looks = [name for name in every if MEASURES[name].kind == "appearance"]
    steps = [name for name in every if name not in looks]
    maps: dict[Variant, Maps] = {}
    found: dict[str, dict[str, Evaluation]] = {}
    for variant, cost in costs.items():

        def telling(each: float, text: str, title: str = variant.title) -> Progress | None:
            words = f"{study.name}: {title}, {text}"
            return portion(progress, done, each * count, total, words)  # noqa: B023 - used at once

        settings = variant.all_settings(scene.dataset)
        made = maps[variant] = explain_once(
            store,
            scene,
            variant.method,
            settings,
            targets,
            seed=seed,
            progress=telling(cost, "maps"),
        )
        done += count * cost
        seconds += float(made.seconds.sum())
        for axis, points in study.axes:
            own = evaluate_once(
                store,
                scene,
                made.channels,
                name=variant.method,
                measures=steps,
                axis=axis,
                points=points,
                seed=seed,
                progress=telling(2 * points, f"measures over {axis}"),
            )
            found.setdefault(axis, {})[variant.title] = own
            done += count * 2 * points
            seconds += own.seconds
        first = maps[study.variants[0]].joined() if "agreement" in study.exhibits else None
        found.setdefault("maps", {})[variant.title] = evaluate(
            scene.model,
            scene.images,
            scene.labels,
            made.channels,
            measures=looks,
            reference=first,
        )
    return _Seen(maps, found, seconds)


def _drift(before: Found, again: Found, rows: list[int]) -> dict[str, float]:
    """Return by title how far the values of images are from those of an earlier run, on average.

    Other machines round otherwise, and a few pixels of a map may change places for it; another
    explainer, or another measure, is further off than that.
    """
    off: dict[str, list[float]] = {}
    for group, by_title in again.items():
        for title, own in by_title.items():
            kept = before[group][title]
            both = [(i, row) for i, row in enumerate(rows) if row < len(kept.labels)]
            here, there = (list(some) for some in zip(*both, strict=True))
            for name, values in own.values.items():
                old = kept.values[name][there]
                gaps = (values[here] - old).abs() / old.abs().clamp(min=1)
                off.setdefault(title, []).append(float(gaps.nanmean().nan_to_num()))
    drift = {title: sum(each) / len(each) for title, each in off.items()}
    for title, mean in drift.items():
        if mean > ALIKE:
            raise SSplainError(
                f"{title} gives other values than in the earlier run ({mean:.2f} off on average), "
                "so the two do not belong together; run all images anew, without --go-on."
            )
    return drift


def passes(settings: Mapping[str, Any], method: str, scene: Scene) -> float:
    """Return about how many passes through the model one map takes, for the remaining time.

    >>> from ssplain.run.scene import bundled_scene
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
    both = 2 if method.startswith("extremal") and settings.get("objective") != "preserve" else 1
    return gradient * both * float(settings.get("iterations", 1))
