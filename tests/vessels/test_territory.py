import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from ssplain.vessels.territory import territories


def grid_graph(vessel: NDArray[np.bool_]) -> "nx.Graph[tuple[int, int]]":
    pixels = {(int(row), int(column)) for row, column in np.argwhere(vessel)}
    graph: nx.Graph[tuple[int, int]] = nx.Graph()
    graph.add_nodes_from(pixels)
    for row, column in pixels:
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
            if (row + down, column + right) in pixels:
                length = float(np.hypot(down, right))
                graph.add_edge((row, column), (row + down, column + right), weight=length)
    return graph


@given(arrays(np.bool_, (6, 7), elements=st.booleans()), st.data())
def test_a_pixel_goes_to_a_curve_that_is_nearest_inside_the_vessels(
    vessel: NDArray[np.bool_], data: st.DataObject
) -> None:
    pixels = [tuple(pixel) for pixel in np.argwhere(vessel).tolist()]
    if not pixels:
        return
    seeds = data.draw(st.lists(st.sampled_from(pixels), min_size=1, max_size=3, unique=True))
    labels = territories(vessel, [np.array([seed], dtype=float) for seed in seeds])
    graph = grid_graph(vessel)
    ways = [nx.single_source_dijkstra_path_length(graph, seed) for seed in seeds]
    for pixel in pixels:
        reach = [way.get(pixel, np.inf) for way in ways]
        if min(reach) == np.inf:
            assert labels[pixel] == 0
        else:
            assert reach[labels[pixel] - 1] <= min(reach) + 1e-9
    assert not labels[~vessel].any()


def test_the_rim_of_a_wide_vessel_is_not_given_to_a_thin_one_beside_it() -> None:
    vessel = np.zeros((40, 60), dtype=bool)
    vessel[5:22] = True  # centre line in row 13, rim in row 21
    vessel[24:27] = True  # centre line in row 25, only 4 px from that rim
    vessel[5:27, :2] = True  # they are one component
    columns = np.arange(2.0, 60)
    wide = np.column_stack([np.full(58, 13.0), columns])
    thin = np.column_stack([np.full(58, 25.0), columns])
    labels = territories(vessel, [wide, thin])
    assert (labels[5:22, 12:] == 1).all()
    assert (labels[24:27, 12:] == 2).all()


def test_no_curves_no_territories() -> None:
    assert not territories(np.ones((3, 3), dtype=bool), []).any()
