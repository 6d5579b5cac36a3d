"""Maps that are measured once."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from ssplain.metrics import FINE_POINTS, Evaluation, evaluate
from ssplain.metrics.curves import Baseline
from ssplain.metrics.order import Axis
from ssplain.models.fingerprint import fingerprint, hash_tensor
from ssplain.run.store import Store
from ssplain.version import __version__
from ssplain.vessels import VesselTree


def evaluate_once(
    store: Store,
    model: nn.Module,
    images: Tensor,
    labels: Tensor | None,
    maps: Tensor,
    *,
    name: str,
    axis: Axis = "support",
    points: int = FINE_POINTS,
    baseline: Baseline = "black",
    truth: Tensor | None = None,
    trees: Sequence[VesselTree] | None = None,
    seed: int = 0,
) -> Evaluation:
    """Measure the maps of one explainer, or find what was measured on the same maps before.

    Args:
        store: where results are kept.
        model: whose weights tell it from others.
        images: `(N, C, H, W)`.
        labels: `(N,)`, None for the predicted ones.
        maps: `(N, 1, H, W)`.
        name: of the explainer, for the file.
        axis: as in `ssplain.metrics.evaluate`, like all that follow.
        points: of the curves.
        baseline: of insertion and deletion.
        truth: diseased pixels.
        trees: vessels.
        seed: of the order among equal scores.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import ssplain
    >>> model = ssplain.models.load("lenet5-mnist")
    >>> images, labels = (part[:4] for part in ssplain.data.bundled("mnist"))
    >>> with tempfile.TemporaryDirectory() as home:
    ...     store = Store(Path(home))
    ...     for _ in range(2):
    ...         found = evaluate_once(store, model, images, labels, images, name="X", points=3)
    ...     len(list(Path(home).iterdir())), found.curves["kappa"].shape
    (1, torch.Size([3]))
    """
    about = {
        "model": fingerprint(model),
        "images": hash_tensor(images),
        "labels": "predicted" if labels is None else labels.tolist(),
        "maps": hash_tensor(maps),
        "axis": axis,
        "points": points,
        "baseline": baseline,
        "truth": None if truth is None else hash_tensor(truth),
        "trees": None if trees is None else [_hash(tree) for tree in trees],
        "seed": seed,
        "version": __version__,
    }
    arrays = store.once(
        f"{name}-{axis}",
        about,
        lambda: evaluate(
            model,
            images,
            labels,
            maps,
            axis=axis,
            points=points,
            baseline=baseline,
            truth=truth,
            trees=trees,
            seed=seed,
        ).arrays(),
    )
    return Evaluation.from_arrays(arrays)


def _hash(tree: VesselTree) -> list[str]:
    """Tell a tree from others by what measures take from it: branches, lengths and curvature."""
    lengths = torch.tensor([branch.length for branch in tree.branches], dtype=torch.float64)
    planes = (tree.labels, tree.curvature.values, tree.curvature.measured)
    return [hash_tensor(tensor) for tensor in (lengths, *map(torch.from_numpy, planes))]
