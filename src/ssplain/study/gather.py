"""Explaining and measuring: all of a study that takes long.

It is kept in a store under what it depends on. A run that was stopped goes on where it was, and
studies that need the same maps share them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ssplain.explain.registry import make
from ssplain.metrics import Evaluation
from ssplain.models.fingerprint import fingerprint
from ssplain.run import Maps, Store, maps_in_pieces
from ssplain.study.declare import Study, Variant
from ssplain.study.measured import look_at, measure_in_pieces, with_settled
from ssplain.study.scene import Scene

Progress = Callable[[float, float, str], None]


@dataclass(frozen=True, eq=False)
class Gathered:
    """What a study's figures and tables are made from.

    Attributes:
        study: what was to be done.
        scene: on what.
        maps: of each variant.
        found: by axis, or "maps", and title: what was measured.
        seconds: what it all took, pieces that were found done included.
    """

    study: Study
    scene: Scene
    maps: Mapping[Variant, Maps]
    found: Mapping[str, Mapping[str, Evaluation]]
    seconds: float

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
    >>> from pathlib import Path
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


def gather(
    study: Study, scene: Scene, store: Store, *, seed: int = 0, progress: Progress | None = None
) -> Gathered:
    """Explain the images by all explainers of a study, and measure the maps.

    Args:
        study: what to do.
        scene: model and images.
        store: where finished pieces are.
        seed: of all draws.
        progress: called with the work done, all of the work (in passes through the model), and
            what is being done.
    """
    targets = scene.labels if study.targets == "label" else scene.predicted()
    count = len(scene.images)
    costs = {v: passes(v.all_settings(scene.dataset), v.method, scene) for v in study.variants}
    measuring = sum(2 * points for _, points in study.axes)
    total, done, seconds = count * (sum(costs.values()) + measuring * len(costs)), 0.0, 0.0

    def telling(each: float, text: str) -> Callable[[int], None]:
        before = done
        return lambda at: None if progress is None else progress(before + at * each, total, text)

    maps: dict[Variant, Maps] = {}
    found: dict[str, dict[str, Evaluation]] = {}
    for variant, cost in costs.items():
        tell = telling(cost, f"{study.name}: {variant.title}, maps")
        made = maps[variant] = explain(store, scene, variant, targets, seed=seed, progress=tell)
        done += count * cost
        seconds += float(made.seconds.sum())
        for axis, points in study.axes:
            tell = telling(2 * points, f"{study.name}: {variant.title}, measures over {axis}")
            measured = measure_in_pieces(
                store,
                scene,
                made.maps,
                name=variant.method,
                axis=axis,
                points=points,
                seed=seed,
                progress=tell,
            )
            done += count * 2 * points
            seconds += measured.seconds
            own = with_settled(measured).evaluation(scene.labels)
            found.setdefault(axis, {})[variant.title] = own
        alone = look_at(scene.images, made.maps, maps[study.variants[0]].maps)
        own = Evaluation(alone, {}, torch.zeros(0), scene.labels)
        found.setdefault("maps", {})[variant.title] = own
    return Gathered(study, scene, maps, found, seconds)


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
