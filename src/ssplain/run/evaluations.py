"""Maps that are measured once, piece by piece; `ssplain evaluate` and the studies share this."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from ssplain.metrics import FINE_POINTS, Evaluation, evaluate
from ssplain.metrics.curves import Baseline
from ssplain.metrics.measures import MEASURES
from ssplain.metrics.order import Axis
from ssplain.models.fingerprint import hash_tensor
from ssplain.progress import Progress
from ssplain.run.revision import revision
from ssplain.run.scene import Scene
from ssplain.run.store import About, Store
from ssplain.vessels import VesselTree


def evaluate_once(
    store: Store,
    scene: Scene,
    maps: Tensor,
    *,
    name: str,
    measures: Sequence[str] | None = None,
    axis: Axis = "support",
    points: int = FINE_POINTS,
    baseline: Baseline = "black",
    reference: Tensor | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Evaluation:
    """Measure maps a piece at a time; pieces that are in the store are not measured again.

    Args:
        store: where pieces are kept.
        scene: model and images, with what is known of them.
        maps: `(N, C, H, W)` or `(N, 1, H, W)`.
        name: of the explainer, for the files.
        measures: as in `ssplain.metrics.evaluate`, like `axis`, `points`, `baseline`, `reference`
            and `seed`.
        axis: of the curves.
        points: of the curves.
        baseline: of insertion and deletion.
        reference: maps to compare with.
        seed: of the order among equal scores.
        progress: told the images done.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from ssplain.run.scene import bundled_scene
    >>> scene = bundled_scene("mnist", 3)
    >>> with tempfile.TemporaryDirectory() as home:
    ...     store = Store(Path(home))
    ...     for _ in range(2):
    ...         found = evaluate_once(store, scene, scene.images, name="image", points=5)
    ...     len(list(Path(home).iterdir())), found.curves["kappa"].shape
    (1, torch.Size([3, 5]))
    """
    parts, total = [], len(maps)
    if measures is None:
        measures = scene.measures(with_reference=reference is not None)
    for start in range(0, total, scene.piece):
        rows = range(start, min(start + scene.piece, total))
        chosen = slice(rows.start, rows.stop)
        material: dict[str, Any] = {
            "images": scene.images[chosen],
            "labels": scene.labels[chosen],
            "maps": maps[chosen],
            "truth": None if scene.truth is None else scene.truth[chosen],
            "trees": scene.trees(rows),
            "reference": None if reference is None else reference[chosen],
        }
        settings: dict[str, Any] = {
            "measures": list(measures),
            "axis": axis,
            "points": points,
            "baseline": baseline,
            "seed": seed,
        }
        work = partial(_measured, scene, material | settings)
        about = _origin(scene, material, settings)
        parts.append(Evaluation.from_arrays(store.once(f"{name}-{axis}", about, work)))
        if progress is not None:
            progress(rows.stop, total)
    return Evaluation.join(parts)


def _measured(scene: Scene, given: dict[str, Any]) -> dict[str, NDArray[Any]]:
    return evaluate(scene.model, **given, **scene.options).arrays()


def _origin(scene: Scene, material: dict[str, Any], settings: dict[str, Any]) -> About:
    """Return all that measures depend on; None if the model cannot be told from others."""
    if scene.origin is None:
        return None
    trees = material["trees"]
    modules = [MEASURES.find(name).__module__ for name in settings["measures"]]
    modules.append(evaluate.__module__)
    tensors = {key: value for key, value in material.items() if key != "trees"}
    return {
        **settings,
        "code": sorted({revision(module) for module in modules}),
        "torch": torch.__version__,
        "model": scene.origin,
        "trees": None if trees is None else [_hash(tree) for tree in trees],
        **{key: None if one is None else hash_tensor(one) for key, one in tensors.items()},
    }


def _hash(tree: VesselTree) -> list[str]:
    """Tell a tree from others by what measures take from it: branches, lengths and curvature."""
    lengths = torch.tensor([branch.length for branch in tree.branches], dtype=torch.float64)
    planes = (tree.labels, tree.curvature.values, tree.curvature.measured)
    return [hash_tensor(tensor) for tensor in (lengths, *map(torch.from_numpy, planes))]
