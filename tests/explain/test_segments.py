"""Maps that are constant on segments, and what each segment is worth."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

import ssplain
from ssplain import SSplain, SSplainError, preset
from ssplain.explain.segments import find_segments, worth
from ssplain.prox import project_segments

STRIPES = torch.arange(1, 6).repeat_interleave(2)[None, :].repeat(4, 1)


class Weighted(nn.Module):
    """Each stripe of two columns speaks for the second class by its weight."""

    def forward(self, x: Tensor) -> Tensor:
        stripes = x[:, 0].reshape(len(x), 4, 5, 2).mean((1, 3))
        total = (stripes * torch.tensor([0.5, -2.0, 3.0, 0.0, 1.0])).sum(1)
        return torch.stack([torch.zeros_like(total), total], 1)


@given(st.lists(st.integers(0, 4), min_size=6, max_size=6), st.integers(0, 10_000))
def test_projection_is_the_nearest_constant(labels: list[int], seed: int) -> None:
    x = torch.randn(1, 6, generator=torch.Generator().manual_seed(seed), dtype=torch.double)
    found = project_segments(x, torch.tensor([labels]))[0].numpy()
    for label in set(labels):
        own = np.array(labels) == label
        expected = x[0].numpy()[own] if label == 0 else x[0].numpy()[own].mean()
        np.testing.assert_allclose(found[own], expected)


def test_a_map_of_segments_is_constant_and_ranks_them_rightly() -> None:
    settings = preset("mnist", "ranking")
    settings["tv_weight"] = settings["rho"] = 0.0
    images = torch.ones(2, 1, 4, 10)
    maps = SSplain(Weighted(), **settings, segments=STRIPES).attribute(images, 1)
    stripes = maps.reshape(2, 4, 5, 2)
    assert float((stripes - stripes[:, :1, :, :1]).abs().max()) < 1e-5
    assert stripes[0, 0, :, 0].argsort(descending=True).tolist() == [2, 4, 0, 3, 1]


def test_branches_of_a_vessel_tree() -> None:
    image = torch.zeros(1, 1, 64, 64)
    image[..., 30:34, 4:60] = 1.0
    image[..., 4:30, 30:33] = 1.0
    segments = find_segments(image, image > 0, "vessels")
    assert int((segments > 0).sum()) > 0.9 * int((image > 0).sum())
    assert int(segments.max()) == 3
    assert bool((segments[image == 0] == 0).all())


def test_superpixels_cover_the_support_and_nothing_else() -> None:
    images, _ = (part[:3] for part in ssplain.data.bundled("mnist"))
    support = images > 0
    segments = find_segments(images, support, "superpixels")
    assert torch.equal(segments > 0, support)
    assert all(20 <= int(one.max()) <= 60 for one in segments)


def test_what_a_segment_is_worth() -> None:
    images = torch.ones(1, 1, 4, 10)
    table = worth(Weighted(), images, STRIPES.float()[None, None], STRIPES, 1)
    assert [row.segment for row in table] == [5, 4, 3, 2, 1]
    assert [row.rank for row in table] == [1, 2, 3, 4, 5]
    sigmoid = torch.sigmoid
    third = table[2]
    assert (third.pixels, third.share) == (8, 0.2)
    assert third.alone == pytest.approx(float(sigmoid(torch.tensor(3.0))))
    whole = float(sigmoid(torch.tensor(2.5)))
    assert third.lost == pytest.approx(whole - float(sigmoid(torch.tensor(-0.5))), abs=1e-6)
    assert third.together == pytest.approx(float(sigmoid(torch.tensor(4.0))), abs=1e-6)
    assert table[-1].together == pytest.approx(whole, abs=1e-6)


def test_wrong_segments_are_answered_with_what_works() -> None:
    images = torch.ones(1, 1, 4, 10)
    with pytest.raises(SSplainError, match=r"'cells'.*'vessels', 'superpixels'"):
        SSplain(Weighted(), segments="cells").attribute(images)  # type: ignore[arg-type]
    with pytest.raises(SSplainError, match="whole numbers"):
        SSplain(Weighted(), segments=torch.rand(4, 10)).attribute(images)
