"""Explaining and measuring: all of a study that takes long.

It is kept in a store under what it depends on. A run that was stopped goes on where it was, and
studies that need the same maps share them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ssplain.metrics import MEASURES, Evaluation, evaluate
from ssplain.progress import Progress, portion
from ssplain.run.evaluations import evaluate_once
from ssplain.run.maps import Maps, explain_once
from ssplain.run.scene import Scene
from ssplain.run.store import Store
from ssplain.study.kinds import MapStudy, Variant


@dataclass(frozen=True, eq=False)
class Work:
    """What a study's figures and tables are made from.

    Attributes:
        study: what was to be done.
        scene: on what.
        maps: of each variant.
        found: by axis, or "maps", and title: what was measured.
        seconds: what it all took, pieces that were found done included.
    """

    study: MapStudy
    scene: Scene
    maps: Mapping[Variant, Maps]
    found: Mapping[str, Mapping[str, Evaluation]]
    seconds: float

    @property
    def note(self) -> str:
        """What a figure says about itself."""
        return f"{self.study.title}, {len(self.scene.images)} images"


def do(
    study: MapStudy, scene: Scene, store: Store, *, seed: int = 0, progress: Progress | None = None
) -> Work:
    """Explain the images by all explainers of a study, and measure the maps.

    Args:
        study: what to do.
        scene: model and images.
        store: where finished pieces are.
        seed: of all draws.
        progress: told the work done, in passes through the model, and what is being done.
    """
    targets = scene.labels if study.targets == "label" else scene.predicted()
    count = len(scene.images)
    costs = {v: passes(v.all_settings(scene.dataset), v.method, scene) for v in study.variants}
    measuring = sum(2 * points for _, points in study.axes)
    total, done, seconds = count * (sum(costs.values()) + measuring * len(costs)), 0.0, 0.0
    every = scene.measures(with_reference=True)
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
        first = maps[study.variants[0]].joined()
        found.setdefault("maps", {})[variant.title] = evaluate(
            scene.model,
            scene.images,
            scene.labels,
            made.channels,
            measures=looks,
            reference=first,
        )
    return Work(study, scene, maps, found, seconds)


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
