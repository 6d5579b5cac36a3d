"""The graph of a vessel tree: branches between junctions and ends, without spurs.

Nodes of the `networkx.MultiGraph` have a `position` (row, column) and a `radius`; edges have the
`points` of their curve, which run from the node `start` to the other one. A closed branch is an
edge from a node to itself.
"""

import heapq
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components, dijkstra

from ssplain.vessels.pose import Plane
from ssplain.vessels.skeleton import Centreline

if TYPE_CHECKING:
    Network = nx.MultiGraph[int]
else:
    Network = nx.MultiGraph


def vessel_network(line: Centreline) -> Network:
    """Turn a centreline into branches: spurs removed, split junctions merged.

    Example:
        >>> from ssplain.vessels.skeleton import skeletonise
        >>> mask = np.zeros((60, 60), dtype=bool)
        >>> mask[28:33, 5:55] = mask[5:55, 28:33] = True
        >>> sorted(degree for _, degree in vessel_network(skeletonise(mask)).degree)
        [1, 1, 1, 1, 4]
    """
    graph = build(line.points, line.pairs, line.radii)
    prune(graph)
    contract(graph)
    return graph


def build(points: Plane, pairs: NDArray[np.intp], radius: Plane) -> Network:
    """Split a graph of centreline samples into branches: chains between samples of degree != 2.

    Args:
        points: (n, 2) samples (row, column).
        pairs: (m, 2) neighbouring samples.
        radius: (n,) vessel radius at the samples.

    Returns:
        The network; a cycle without a junction is one closed branch, a lone sample is a branch
        of length 0 between two ends.

    Example:
        >>> points = np.array([[0, 0], [0, 1], [0, 2], [0, 3], [1, 4]], dtype=float)
        >>> pairs = np.array([[0, 1], [1, 2], [2, 3], [3, 4]])
        >>> [data["points"].shape for *_, data in build(points, pairs, np.ones(5)).edges.data()]
        [(5, 2)]
    """
    graph: Network = nx.MultiGraph()
    is_node = np.bincount(pairs.ravel(), minlength=len(points)) != 2
    _, component = connected_components(_adjacency(len(points), pairs), directed=False)
    owners, first = np.unique(component, return_index=True)
    # a cycle without a junction: any of its samples may be its node
    is_node[first[~np.isin(owners, component[is_node])]] = True
    for node in np.flatnonzero(is_node).tolist():
        graph.add_node(node, position=points[node], radius=float(radius[node]))
    for chain in _chains(pairs, is_node):
        graph.add_edge(int(chain[0]), int(chain[-1]), points=points[chain], start=int(chain[0]))
    _tidy(graph)
    return graph


def prune(graph: Network) -> None:
    """Remove spurs, the shortest first: ends closer to a junction than 1.5 of its radii + 2 px."""
    heap = [spur for node in graph if (spur := _spur(graph, node))]
    heapq.heapify(heap)
    while heap:
        length, leaf = heapq.heappop(heap)
        spur = _spur(graph, leaf)
        if spur is None:
            continue
        if spur[0] > length:  # it grew when another spur was removed at its junction
            heapq.heappush(heap, spur)
            continue
        junction = next(iter(graph[leaf]))
        graph.remove_node(leaf)
        for node in _splice(graph, junction):
            if other := _spur(graph, node):
                heapq.heappush(heap, other)


def contract(graph: Network) -> None:
    """Merge junctions that are closer to each other than the larger of their radii.

    Thinning splits a crossing, and a wide fork, into several junctions; the branches of all of
    them are led to the middle.
    """
    nodes, degree = graph.nodes, dict(graph.degree)
    short = [
        (a, b, key)
        for a, b, key, data in graph.edges(keys=True, data=True)
        if min(degree[a], degree[b]) > 2
        and polyline_length(data["points"]) < max(nodes[a]["radius"], nodes[b]["radius"])
    ]
    graph.remove_edges_from(short)
    joined = nx.Graph((a, b) for a, b, _ in short)
    for cluster in map(sorted, nx.connected_components(joined)):
        _gather(graph, cluster)
    _tidy(graph)


def polyline_length(points: Plane) -> float:
    """Sum the lengths of the segments of an (n, 2) polyline.

    Example:
        >>> polyline_length(np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 5.0]]))
        6.0
    """
    return float(np.hypot(*np.diff(points, axis=0).T).sum())


def _adjacency(count: int, pairs: NDArray[np.intp]) -> csr_array:
    return coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), (count, count)).tocsr()


def _chains(pairs: NDArray[np.intp], is_node: NDArray[np.bool_]) -> list[NDArray[np.intp]]:
    """Order the samples of every branch, its two nodes included, without a walk in Python.

    Without the nodes every branch is a path; the hops from one end of the path are the order.
    """
    nodes_of = is_node[pairs].sum(axis=1)
    paths = _adjacency(len(is_node), pairs[nodes_of == 0])
    _, owner = connected_components(paths, directed=False)

    links = pairs[nodes_of == 1]
    links = np.where(is_node[links[:, :1]], links[:, ::-1], links)  # path end first, then node
    links = links[np.argsort(owner[links[:, 0]], kind="stable")]
    heads, tails = links[0::2], links[1::2]  # each path has two ends

    inner = np.flatnonzero(~is_node)
    chains: list[NDArray[np.intp]] = list(pairs[nodes_of == 2])
    if len(inner):
        hops = dijkstra(paths, directed=False, indices=heads[:, 0], unweighted=True, min_only=True)
        order = inner[np.lexsort((hops[inner], owner[inner]))]
        cuts = np.flatnonzero(np.diff(owner[order])) + 1
        chains += [
            np.concatenate([head, path, tail])
            for head, path, tail in zip(
                heads[:, 1:], np.split(order, cuts), tails[:, 1:], strict=True
            )
        ]
    return chains


def _spur(graph: Network, leaf: int) -> tuple[float, int] | None:
    """Return the length of the spur that ends in `leaf`, or None if there is none."""
    if leaf not in graph or graph.degree[leaf] != 1:
        return None
    ((_, junction, data),) = graph.edges(leaf, data=True)
    length = polyline_length(data["points"])
    if graph.degree[junction] < 3 or length >= 1.5 * graph.nodes[junction]["radius"] + 2:
        return None
    return length, leaf


def _splice(graph: Network, node: int) -> tuple[int, ...]:
    """Join the two branches that meet in a node of degree 2; returns the ends of the new one."""
    edges = list(graph.edges(node, data=True))
    # the edge of a closed branch is listed once but counts twice in the degree
    if graph.degree[node] != 2 or len(edges) != 2:
        return ()
    (_, a, before), (_, b, after) = edges
    arriving = before["points"] if before["start"] != node else before["points"][::-1]
    leaving = after["points"] if after["start"] == node else after["points"][::-1]
    graph.remove_node(node)
    graph.add_edge(a, b, points=np.concatenate([arriving, leaving[1:]]), start=a)
    return a, b


def _gather(graph: Network, cluster: list[int]) -> None:
    """Replace a cluster of junctions by one in their middle."""
    kept = cluster[0]
    middle = np.mean([graph.nodes[node]["position"] for node in cluster], axis=0)
    edges = list(graph.edges(cluster, keys=True, data=True))
    radius = max(graph.nodes[node]["radius"] for node in cluster)
    for a, b, key, data in edges:
        graph.remove_edge(a, b, key)
        end = b if data["start"] == a else a
        points = data["points"]
        if data["start"] in cluster:
            points = np.concatenate([_straight(middle, points[0])[:-1], points])
        if end in cluster:
            points = np.concatenate([points, _straight(points[-1], middle)[1:]])
        start = kept if data["start"] in cluster else data["start"]
        graph.add_edge(start, kept if end in cluster else end, points=points, start=start)
    graph.remove_nodes_from(cluster[1:])
    graph.nodes[kept].update(position=middle, radius=radius)


def _straight(a: Plane, b: Plane) -> Plane:
    """Points from `a` to `b`, about one pixel apart."""
    return np.linspace(a, b, 2 + int(np.hypot(*(b - a))))


def _tidy(graph: Network) -> None:
    """Leave no node of degree 2 or 0: join its branches, or give it a branch of length 0."""
    for node in list(graph):
        _splice(graph, node)
    for node in [node for node in graph if graph.degree[node] == 0]:
        twin = max(graph) + 1
        graph.add_node(twin, **graph.nodes[node])
        points = np.stack([graph.nodes[node]["position"]] * 2)
        graph.add_edge(node, twin, points=points, start=node)
