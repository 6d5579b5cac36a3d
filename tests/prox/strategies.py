"""Small batches for the projections, with many ties, signs, sizes and shapes."""

from typing import NamedTuple

import torch
from hypothesis import strategies as st
from torch import Tensor


class Case(NamedTuple):
    x: Tensor
    support: Tensor
    k: Tensor
    radius: Tensor


# few distinct values, so that ties are the rule, next to arbitrary ones
_values = st.one_of(
    st.sampled_from([-1.5, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 2.0]),
    st.floats(-3, 3, allow_nan=False, width=32),
)


@st.composite
def cases(draw: st.DrawFn, max_pixels: int = 6, max_batch: int = 3) -> Case:
    n = draw(st.integers(1, max_batch))
    height = draw(st.integers(1, 3))
    width = draw(st.integers(1, max_pixels // height))
    pixels = height * width
    flat = draw(st.lists(_values, min_size=n * pixels, max_size=n * pixels))
    inside = draw(st.lists(st.booleans(), min_size=n * pixels, max_size=n * pixels))
    k = draw(st.lists(st.integers(0, pixels + 2), min_size=n, max_size=n))
    radius = draw(st.lists(st.floats(0, 4, width=32), min_size=n, max_size=n))
    shape = (n, 1, height, width)
    return Case(
        torch.tensor(flat, dtype=torch.float64).view(shape),
        torch.tensor(inside).view(shape),
        torch.tensor(k),
        torch.tensor(radius, dtype=torch.float64),
    )
