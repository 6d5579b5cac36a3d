"""Photographs as arrays."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ssplain.fundus.field import field
from ssplain.fundus.photo import as_photo, resized


@given(st.integers(33, 300), st.integers(33, 300), st.integers(0, 2**32 - 1))
def test_a_resized_photograph_is_a_photograph(height: int, width: int, seed: int) -> None:
    """White is exactly 1, of which the weights of a mean may make 1.0000001."""
    rng = np.random.default_rng(seed)
    photo = rng.random((120, 131, 3), dtype=np.float32)
    photo[rng.random((120, 131)) < 0.5] = 1
    small = resized(photo, (height, width))
    assert small.shape == (height, width, 3)
    assert photo.min() <= small.min()
    assert small.max() <= 1
    as_photo(small)


def test_a_large_photograph_with_glare_has_a_field() -> None:
    """Larger than what the reading takes, so that it is reduced; no camera of ours gave such."""
    rows, columns = np.mgrid[:1411, :1411] - 705.0
    eye = (rows**2 + columns**2 < 690**2)[..., None] * np.array([1.0, 0.5, 0.2])
    assert field(resized(eye.astype(np.float32), (1200, 1200))).radius > 500


def test_values_other_than_colours_keep_their_range() -> None:
    contrast = np.linspace(-3, 7, 60, dtype=np.float32).reshape(6, 10, 1)
    assert resized(contrast, (13, 21)).min() < 0
    assert resized(contrast, (13, 21)).max() > 1
