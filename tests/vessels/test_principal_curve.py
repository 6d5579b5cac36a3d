from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
from scipy.spatial import KDTree

from ssplain.vessels import trace
from ssplain.vessels.principal_curve import principal_curve, project
from ssplain.vessels.skeleton import skeletonise


def test_projections_lie_on_the_ridge(phantoms: SimpleNamespace) -> None:
    wave = phantoms.wave(12, 60)
    mask = wave.distance <= 2
    start = np.argwhere(mask & (np.abs(phantoms.axes(0)[0]) < 80)).astype(float)
    truth = KDTree(wave.points)
    found = project(mask.astype(float), start, sigma=1.5)
    assert len(found) > 0.95 * len(start)
    assert np.mean(truth.query(start)[0]) > 0.8
    assert np.mean(truth.query(found)[0]) < 0.2


def test_a_gaussian_ridge_is_found_to_a_hundredth_of_a_pixel(phantoms: SimpleNamespace) -> None:
    along, across = phantoms.axes(17)
    image = np.exp(-(across**2) / 8)
    start = np.argwhere((np.abs(across) < 2) & (np.abs(along) < 60)).astype(float)
    found = project(image, start, sigma=1.5)
    assert len(found) == len(start)
    sine, cosine = np.sin(np.radians(17)), np.cos(np.radians(17))
    off = (found[:, 1] - 111.8) * sine - (found[:, 0] - 112.3) * cosine
    assert np.abs(off).max() < 0.01


def test_the_spanning_tree_is_that_of_networkx(phantoms: SimpleNamespace) -> None:
    image = phantoms.fork(20).astype(float)
    line = principal_curve(image, skeletonise(image > 0))
    weights = np.hypot(*(line.points[line.pairs[:, 0]] - line.points[line.pairs[:, 1]]).T)
    near: nx.Graph[int] = nx.Graph()
    near.add_nodes_from(range(len(line.points)))
    for a, b in KDTree(line.points).query_pairs(3.0):
        near.add_edge(a, b, weight=float(np.hypot(*(line.points[a] - line.points[b]))))
    expected = nx.minimum_spanning_tree(near).size(weight="weight")
    assert weights.sum() == pytest.approx(expected)


def test_both_ways_to_trace_agree(phantoms: SimpleNamespace) -> None:
    for image in (phantoms.fork(20), phantoms.bar(5, 30), phantoms.wave(12, 60).distance <= 2):
        one, other = trace(image), trace(image, method="principal-curve")
        assert len(one.branches) == len(other.branches)
        for a, b in zip(
            sorted(one.branches, key=lambda branch: branch.asd),
            sorted(other.branches, key=lambda branch: branch.asd),
            strict=True,
        ):
            assert b.length == pytest.approx(a.length, rel=0.04)
            assert b.asd == pytest.approx(a.asd, rel=0.05)


def test_a_spanning_tree_cuts_a_ring_open(phantoms: SimpleNamespace) -> None:
    ring = phantoms.ring(40, 3)
    assert nx.number_of_selfloops(trace(ring).graph) == 1
    tree = trace(ring, method="principal-curve")
    assert nx.is_forest(tree.graph)
    assert sum(branch.length for branch in tree.branches) == pytest.approx(2 * np.pi * 40, rel=0.05)
