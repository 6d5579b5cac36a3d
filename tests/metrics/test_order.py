import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ssplain.errors import SSplainError
from ssplain.metrics.order import AXES, check_maps, rank_pixels, steps


def test_highest_first_negative_last() -> None:
    order = rank_pixels(torch.tensor([[[[-3.0, 0.5], [2.0, -0.1]]]]))
    assert order.pixels.tolist() == [[2, 1, 3, 0]]
    assert order.rank.tolist() == [[3, 1, 0, 2]]
    assert order.tie_share.tolist() == [0.0]


def test_all_negative_maps_are_ranked_like_any_other() -> None:
    order = rank_pixels(torch.tensor([[[[-3.0, -1.0, -2.0]]]]))
    assert order.pixels.tolist() == [[1, 2, 0]]


def test_ties_follow_the_seed_and_not_the_batch() -> None:
    flat = torch.zeros(3, 1, 8, 8)
    flat[1] = torch.arange(64.0).view(1, 8, 8)
    order, alone = rank_pixels(flat, seed=5), rank_pixels(flat[2:], seed=5)
    assert torch.equal(order.pixels[2:], alone.pixels)
    assert order.tie_share.tolist() == [1.0, 0.0, 1.0]
    assert not torch.equal(alone.pixels, rank_pixels(flat[2:], seed=6).pixels)
    # a random order, not the scan order that would favour the top of the image
    assert order.pixels[0].tolist() != sorted(order.pixels[0].tolist())
    assert sorted(order.pixels[0].tolist()) == list(range(64))


def test_inside_pixels_come_before_higher_ones_outside() -> None:
    maps = torch.tensor([[[[9.0, 1.0, 8.0, 2.0]]]])
    inside = torch.tensor([[[[False, True, False, True]]]])
    order = rank_pixels(maps, inside)
    assert order.pixels[0, :2].tolist() == [3, 1]
    assert order.size.tolist() == [2]
    assert order.tie_share.tolist() == [0.0]


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=12), st.integers(0, 5))
def test_order_is_a_sorted_permutation_with_the_right_tie_share(
    values: list[int], seed: int
) -> None:
    maps = torch.tensor(values, dtype=torch.float64).view(1, 1, 1, -1)
    order = rank_pixels(maps, seed=seed)
    ranked = maps.flatten()[order.pixels[0]].tolist()
    assert ranked == sorted(values, reverse=True)
    assert order.pixels[0][order.rank[0]].tolist() == list(range(len(values)))
    shared = sum(values.count(v) > 1 for v in values) / len(values)
    assert order.tie_share.item() == pytest.approx(shared)


def test_counts_of_each_axis_by_hand() -> None:
    X = torch.tensor([[[[0.0, 4.0, 1.0, 0.0, 3.0, 2.0]]]])
    M = torch.tensor([[[[9.0, 8.0, 7.0, 6.0, 5.0, 4.0]]]])
    assert steps(X, M, "all", 4)[1].tolist() == [[0, 2, 4, 6]]
    assert steps(X, M, "support", 5)[1].tolist() == [[0, 1, 2, 3, 4]]
    # brightness after 1, 2, ... pixels: 0, .4, .5, .5, .8, 1
    assert steps(X, M, "kappa", 11)[1].tolist() == [[0, 2, 2, 2, 2, 3, 5, 5, 5, 6, 6]]


def test_kappa_steps_are_exact_where_sums_are_rounded() -> None:
    """Ten equal pixels: a tenth of the brightness each, whatever rounding makes of 0.3."""
    X = torch.full((1, 1, 1, 10), 0.1)
    M = torch.arange(10.0).view(1, 1, 1, 10)
    assert steps(X, M, "kappa", 11)[1].tolist() == [list(range(11))]


@pytest.mark.parametrize("axis", AXES)
def test_every_axis_ends_with_the_whole_image(axis: str) -> None:
    generator = torch.Generator().manual_seed(1)
    there = torch.rand(4, 1, 9, 7, generator=generator) > 0.5
    X = torch.rand(4, 1, 9, 7, generator=generator) * there
    M = torch.randn(4, 1, 9, 7, generator=generator)
    order, counts = steps(X, M, axis, 26)  # type: ignore[arg-type]
    assert bool((counts.diff(dim=1) >= 0).all())
    first = order.rank < counts[:, -1:]
    assert torch.equal(X.flatten(1) * first, X.flatten(1))
    assert counts[:, 0].tolist() == [0] * 4


@pytest.mark.parametrize(
    ("maps", "says"),
    [
        (torch.zeros(2, 1, 4, 5), r"shape \(2, 1, 4, 5\)"),
        (torch.zeros(2, 3, 4, 4), "one value per pixel"),
        (torch.zeros(1, 1, 4, 4), "one value per pixel"),
        (torch.full((2, 1, 4, 4), torch.nan), "Map 0 holds NaN"),
        (torch.tensor([0.0, torch.inf]).view(2, 1, 1, 1).expand(2, 1, 4, 4), "Map 1 holds NaN"),
        ([[0.0]], "give a torch tensor"),
    ],
)
def test_maps_that_rank_nothing_are_refused(maps: torch.Tensor, says: str) -> None:
    with pytest.raises(SSplainError, match=says):
        check_maps(maps, torch.zeros(2, 1, 4, 4))


def test_integer_maps_are_ranked() -> None:
    images = torch.zeros(1, 1, 1, 3)
    maps = check_maps(torch.tensor([[[[1, 3, 2]]]]), images)
    assert rank_pixels(maps).pixels.tolist() == [[1, 2, 0]]


@pytest.mark.parametrize(
    ("axis", "points", "image", "says"),
    [
        ("pixels", 5, 1.0, "axis='pixels' is not known"),
        ("all", 1, 1.0, "points=1"),
        ("kappa", 5, 0.0, "empty support"),
        ("support", 5, 0.0, "empty support"),
    ],
)
def test_steps_that_make_no_sense_are_refused(
    axis: str, points: int, image: float, says: str
) -> None:
    X = torch.full((1, 1, 2, 2), image)
    with pytest.raises(SSplainError, match=says):
        steps(X, X, axis, points)  # type: ignore[arg-type]
