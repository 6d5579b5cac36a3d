"""`ssplain bench metrics`: scoring maps against the bare forward passes, labels against graphs."""

from collections.abc import Iterator
from statistics import median
from typing import Any

import networkx as nx
import numpy as np
import torch
from torch import Tensor

from ssplain.bench.timing import in_turn, ratio
from ssplain.bench.vessels import fan
from ssplain.data import bundled
from ssplain.metrics import connected, insertion_deletion, kappa, largest_component
from ssplain.metrics.components import Rule
from ssplain.metrics.order import AXES, Axis
from ssplain.models import load
from ssplain.models.adapter import frozen
from ssplain.models.batching import fitting_batch

Case = dict[str, Any]


def cases() -> Iterator[Case]:
    """Yield the cases, quick ones first."""
    for rule in ("foreground", "printed"):
        yield _components(rule)
    for axis in AXES:
        yield _curves(axis, images=100)


def _curves(axis: Axis, images: int) -> Case:
    """Time all curves of one set of maps over the forward passes that they cannot do without."""
    model = load("lenet5-mnist")
    X, labels = (part[:images] for part in bundled("mnist"))
    maps = torch.randn(X.shape, generator=torch.Generator().manual_seed(0))
    needed = insertion_deletion(model, X, labels, maps, axis=axis).forwards
    size = fitting_batch(*X.shape[-2:])
    batch = torch.rand(size, 1, 28, 28, generator=torch.Generator().manual_seed(1))

    def ours() -> None:
        insertion_deletion(model, X, labels, maps, axis=axis)
        kappa(X, maps, axis=axis)
        connected(X, maps, axis=axis)

    def bare() -> None:
        with frozen(model), torch.no_grad():
            for at in range(0, needed, size):
                model(batch[: min(size, needed - at)])

    spent, passes = in_turn(ours, bare, repeats=3)
    return {
        "case": f"insertion, deletion, kappa and components over bare forwards, axis {axis}",
        "images": images,
        "steps": 101,
        "forwards": needed,
        "ms_per_map": round(1e3 * median(spent) / images, 3),
        "bare_ms_per_map": round(1e3 * median(passes) / images, 3),
        "ratio": round(ratio(spent, passes), 2),
    }


def _components(rule: Rule) -> Case:
    """Time the largest component of one image by labelling and by a graph."""
    picture = torch.from_numpy(fan())[None, None]
    ours, graph = in_turn(
        lambda: largest_component(picture, rule), lambda: by_graph(picture[0, 0], rule), repeats=9
    )
    return {
        "case": f"largest component against a NetworkX graph, {rule} rule",
        "size": picture.shape[-1],
        "vessel_pixels": int((picture > 0).sum()),
        "ms": round(1e3 * median(ours), 2),
        "graph_ms": round(1e3 * median(graph), 2),
        "times_faster": round(ratio(graph, ours), 1),
    }


def by_graph(image: Tensor, rule: Rule) -> int:
    """The largest component by a NetworkX graph whose nodes are (row, column), as in the paper.

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
