"""`ssplain bench metrics`: scoring maps against the bare forward passes, labels against graphs."""

from collections.abc import Iterator
from functools import partial
from statistics import median
from typing import Any

import networkx as nx
import numpy as np
import torch
from torch import Tensor, nn

from ssplain.ask.batching import fitting_batch
from ssplain.ask.holding import frozen
from ssplain.bench.timing import in_turn, ratio, seconds
from ssplain.data import bundled
from ssplain.explain.registry import make, names
from ssplain.metrics import connected, insertion_deletion, kappa, largest_component, rank_pixels
from ssplain.metrics.components import Rule
from ssplain.metrics.order import AXES, FINE_POINTS, PAPER_POINTS, Axis
from ssplain.models import load

Case = dict[str, Any]

# minutes for 500 images, while what a score costs hardly depends on the map: random maps instead
SLOW = frozenset(
    {"occlusion", "lime", "kernel-shap", "extremal-perturbation", "igos", "regions", "rise"}
)


def cases() -> Iterator[Case]:
    """Yield the cases, quick ones first; the last takes minutes."""
    for rule in ("foreground", "printed"):
        yield _components(rule, images=8, points=1)
        yield _components(rule, images=2, points=PAPER_POINTS)
    for axis in AXES:
        yield _curves(axis, images=100)
    yield all_explainers(images=500)


def _curves(axis: Axis, images: int) -> Case:
    """Time all curves of one set of maps over the forward passes that they cannot do without."""
    model = load("lenet5-mnist")
    X, labels = (part[:images] for part in bundled("mnist"))
    maps = torch.randn(X.shape, generator=torch.Generator().manual_seed(0))
    needed: list[int] = []
    spent, passes = in_turn(
        partial(_score, model, X, labels, maps, axis=axis, needed=needed),
        lambda: _pass(model, needed[-1]),
        repeats=3,
    )
    return {
        "case": f"insertion, deletion, kappa and components over bare forwards, axis {axis}",
        "images": images,
        "steps": FINE_POINTS,
        "forwards": needed[-1],
        "ms_per_map": round(1e3 * median(spent) / images, 3),
        "bare_ms_per_map": round(1e3 * median(passes) / images, 3),
        "ratio": round(ratio(spent, passes), 2),
    }


def all_explainers(images: int) -> Case:
    """Time all curves of all explainers, each right before the bare passes that it needs.

    >>> all_explainers(images=2)["explainers"] == len(names())
    True
    """
    model = load("lenet5-mnist")
    X, labels = (part[:images] for part in bundled("mnist"))
    noise = torch.randn(X.shape, generator=torch.Generator().manual_seed(0))
    needed: list[int] = []
    spent, passes = [], []
    for name in names():
        maps = noise if name in SLOW else make(name, model, "mnist").attribute(X, labels)
        score = partial(_score, model, X, labels, maps, axis="support", needed=needed)
        spent.append(seconds(score))
        passes.append(seconds(partial(_pass, model, needed[-1])))
    return {
        "case": "the same for all explainers, axis support",
        "images": len(X),
        "explainers": len(spent),
        "of_them_random_maps": len(SLOW),
        "steps": FINE_POINTS,
        "forwards": sum(needed),
        "seconds": round(sum(spent), 1),
        "bare_seconds": round(sum(passes), 1),
        "ratio": round(sum(spent) / sum(passes), 2),
        "highest_ratio": round(max(a / b for a, b in zip(spent, passes, strict=True)), 2),
    }


def _score(
    model: nn.Module,
    images: Tensor,
    labels: Tensor,
    maps: Tensor,
    *,
    axis: Axis,
    needed: list[int],
) -> None:
    """Take all curves, and note how many distinct images the model had to see."""
    kappa(images, maps, axis=axis)
    connected(images, maps, axis=axis)
    needed.append(insertion_deletion(model, images, labels, maps, axis=axis).forwards)


def _pass(model: nn.Module, count: int) -> None:
    """Show the model so many digits, and do nothing else."""
    size = fitting_batch(28, 28)
    batch = torch.rand(size, 1, 28, 28, generator=torch.Generator().manual_seed(1))
    with frozen(model), torch.no_grad():
        for at in range(0, count, size):
            model(batch[: min(size, count - at)])


def _components(rule: Rule, images: int, points: int) -> Case:
    """Time the largest components of X_s at some steps, the whole image last, against graphs.

    One image at a time: a batch of images only gains from it.
    """
    X = bundled("rop")[0][:images, 0]
    stacks = [_inserted(one, points) for one in X]
    ours, graph = in_turn(
        lambda: [largest_component(stack, rule) for stack in stacks],
        lambda: [by_graph(one[0], rule) for stack in stacks for one in stack],
        repeats=9,
    )
    return {
        "case": f"largest component against a NetworkX graph, {rule} rule",
        "size": X.shape[-1],
        "images": images,
        "vessel_pixels": int((X > 0).sum()) // images,
        "steps": points,
        "ms_per_step": round(1e3 * median(ours) / (images * points), 2),
        "graph_ms_per_step": round(1e3 * median(graph) / (images * points), 2),
        "times_faster": round(ratio(graph, ours), 1),
    }


def _inserted(image: Tensor, points: int) -> Tensor:
    """Return the image (H, W) with ever more of its brightest pixels, `(points, 1, H, W)`."""
    rank = rank_pixels(image[None, None]).rank.view_as(image)
    shares = torch.linspace(1, 0, points + 1)[:-1].flip(0) * (image > 0).sum()
    return (image * (rank < shares[:, None, None]))[:, None]


def by_graph(image: Tensor, rule: Rule) -> int:
    """Find the largest component by a NetworkX graph of nodes (row, column), as the paper does.

    >>> by_graph(torch.tensor([[1.0, 1.0, 0.0, 1.0]]), "foreground")
    2
    """
    X = image.numpy()
    graph: nx.Graph[tuple[int, ...]] = nx.Graph()
    if rule == "foreground":
        graph.add_nodes_from(map(tuple, np.argwhere(X != 0).tolist()))
    for down, right in ((1, 0), (0, 1)):
        first = X[: X.shape[0] - down, : X.shape[1] - right]
        second = X[down:, right:]
        linked = (first != 0) & (second != 0) if rule == "foreground" else first != second
        graph.add_edges_from(
            ((j, k), (j + down, k + right)) for j, k in np.argwhere(linked).tolist()
        )
    return max(map(len, nx.connected_components(graph)), default=0)
