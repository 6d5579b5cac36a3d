import numpy as np
import pytest
from scipy.spatial.distance import cdist

from ssplain.simulate.discs import depths


@pytest.mark.parametrize("shape", [(60, 60), (40, 70), (70, 40)])
def test_depth_equals_a_search_over_all_discs(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    points = rng.uniform(0, 60, size=(50, 2))  # some beyond the border
    radii = rng.uniform(0.5, 4.5, size=50)
    depth, nearest = depths(points, radii, shape, margin=1.2)
    row, column = np.mgrid[: shape[0], : shape[1]]
    every = radii - cdist(np.stack([column.ravel(), row.ravel()], axis=1), points)
    close = every.max(axis=1) > -1  # what is drawn
    np.testing.assert_allclose(depth.ravel()[close], every.max(axis=1)[close])
    np.testing.assert_array_equal(nearest.ravel()[close], every.argmax(1)[close])
    assert (depth.ravel()[every.max(axis=1) < -6] == -20).all()
