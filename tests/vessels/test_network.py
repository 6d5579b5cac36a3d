from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from ssplain.vessels.network import Network, build, contract, polyline_length, prune, vessel_network
from ssplain.vessels.skeleton import neighbours, skeletonise


@given(arrays(np.bool_, (7, 8), elements=st.booleans()))
def test_every_step_between_samples_is_in_exactly_one_branch(thin: NDArray[np.bool_]) -> None:
    points, pairs = np.argwhere(thin).astype(float), neighbours(thin)
    network = build(points, pairs, np.ones(len(points)))
    steps = [
        frozenset({tuple(a), tuple(b)})
        for *_, data in network.edges.data()
        for a, b in zip(data["points"][:-1].tolist(), data["points"][1:].tolist(), strict=True)
        if a != b
    ]
    expected = [frozenset(map(tuple, points[pair].tolist())) for pair in pairs]
    assert sorted(map(sorted, steps)) == sorted(map(sorted, expected))


@given(arrays(np.bool_, (7, 8), elements=st.booleans()))
def test_nodes_are_the_ends_and_junctions_of_the_pixel_graph(thin: NDArray[np.bool_]) -> None:
    points, pairs = np.argwhere(thin).astype(float), neighbours(thin)
    network = build(points, pairs, np.ones(len(points)))
    pixels: nx.Graph[int] = nx.Graph()
    pixels.add_nodes_from(range(len(points)))
    pixels.add_edges_from(map(tuple, pairs.tolist()))
    junctions = sum(degree > 2 for _, degree in pixels.degree)
    assert sum(degree > 2 for _, degree in network.degree) == junctions
    assert nx.number_connected_components(network) == nx.number_connected_components(pixels)
    cycles = pixels.number_of_edges() - pixels.number_of_nodes()
    assert network.number_of_edges() - network.number_of_nodes() == cycles
    for a, b, data in network.edges.data():
        first, last = (a, b) if data["start"] == a else (b, a)
        assert np.array_equal(data["points"][0], network.nodes[first]["position"])
        assert np.array_equal(data["points"][-1], network.nodes[last]["position"])


def star(*lengths: int, radius: float = 2.0) -> Network:
    """Straight arms from one junction, along the two axes."""
    points, pairs = [(0.0, 0.0)], []
    for arm, length in enumerate(lengths):
        row, column = ((1, 0), (0, 1), (-1, 0), (0, -1))[arm]
        for step in range(1, length + 1):
            pairs.append((0 if step == 1 else len(points) - 1, len(points)))
            points.append((float(step * row), float(step * column)))
    return build(np.array(points), np.array(pairs), np.full(len(points), radius))


@pytest.mark.parametrize(("spur", "left"), [(4, 1), (5, 3)])
def test_a_spur_is_shorter_than_a_radius_and_a_half_and_two_pixels(spur: int, left: int) -> None:
    network = star(20, spur, 30)
    prune(network)
    lengths = sorted(polyline_length(data["points"]) for *_, data in network.edges.data())
    assert len(lengths) == left
    assert lengths[-1] == (50 if left == 1 else 30)


def test_of_two_spurs_the_shorter_goes_and_the_other_becomes_the_end() -> None:
    network = star(20, 3, 4)
    prune(network)
    (length,) = (polyline_length(data["points"]) for *_, data in network.edges.data())
    assert length == 24


def test_a_crossing_is_one_junction(phantoms: SimpleNamespace) -> None:
    cross = phantoms.stroke((20, 20), (200, 190), 6) | phantoms.stroke((30, 190), (190, 30), 6)
    network = vessel_network(skeletonise(cross))
    assert sorted(degree for _, degree in network.degree) == [1, 1, 1, 1, 4]


def test_contraction_leads_the_branches_to_the_middle() -> None:
    points = [(0.0, 0.0), (0.0, 1.0), (0.0, 2.0)]
    pairs = [(0, 1), (1, 2)]
    for root, row, column in ((0, 1, -1), (0, -1, -1), (2, 1, 1), (2, -1, 1)):
        for step in range(1, 11):
            pairs.append((root if step == 1 else len(points) - 1, len(points)))
            points.append((step * row, points[root][1] + step * column))
    network = build(np.array(points), np.array(pairs), np.full(len(points), 3.0))
    contract(network)
    (junction,) = (node for node, degree in network.degree if degree == 4)
    np.testing.assert_array_equal(network.nodes[junction]["position"], [0, 1])
    for *_, data in network.edges(junction, data=True):
        ends = data["points"][[0, -1]].tolist()
        assert [0.0, 1.0] in ends
        assert np.hypot(*np.diff(data["points"], axis=0).T).max() < 1.5


def test_a_grid_keeps_its_loops() -> None:
    grid = np.zeros((224, 224), dtype=bool)
    for line in (40, 90, 140, 190):
        grid[line - 2 : line + 3, 38:193] = True
        grid[38:193, line - 2 : line + 3] = True
    network = vessel_network(skeletonise(grid))
    degrees = sorted(degree for _, degree in network.degree)
    assert degrees == [3] * 8 + [4] * 4  # the four corners are bends, not junctions
    assert network.number_of_edges() == 20


def test_a_ring_is_one_closed_branch(phantoms: SimpleNamespace) -> None:
    network = vessel_network(skeletonise(phantoms.ring(40, 3)))
    ((a, b, data),) = network.edges.data()
    assert a == b
    assert np.array_equal(data["points"][0], data["points"][-1])


def test_a_lollipop_keeps_its_stick_and_its_loop(phantoms: SimpleNamespace) -> None:
    lollipop = phantoms.ring(30, 2) | phantoms.stroke((142, 112), (210, 112), 4)
    network = vessel_network(skeletonise(lollipop))
    assert sorted(degree for _, degree in network.degree) == [1, 3]
    assert network.number_of_edges() == 2
