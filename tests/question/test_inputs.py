import pytest
import torch

from ssplain.errors import SSplainError
from ssplain.question.inputs import find_support, intensity, pixel_budget, start_mask, tie_order

IMAGE = torch.tensor([[[[0.0, 0.25], [0.5, 1.0]]]])
INSIDE = IMAGE > 0


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ("intensity", [0, 0.25, 0.5, 1]),
        ("ones", [0, 1, 1, 1]),
        ("minmax", [0, 0, 1 / 3, 1]),
    ],
)
def test_a_mask_starts_where_it_says(start: str, expected: list[float]) -> None:
    found = start_mask(IMAGE, INSIDE, start)
    torch.testing.assert_close(found.flatten(), torch.tensor(expected, dtype=torch.float32))
    twice = start_mask(2 * IMAGE, INSIDE, start)  # whatever the image's range
    torch.testing.assert_close(twice, found)


def test_a_flat_image_starts_at_ones() -> None:
    flat = torch.full((1, 1, 2, 2), 0.5)
    assert bool((start_mask(flat, flat > 0, "minmax") == 1).all())


def test_a_random_start_is_the_seeds_and_the_same_for_each_image() -> None:
    images = torch.ones(2, 1, 4, 5)
    first, other = (start_mask(images, images > 0, "random", seed) for seed in (0, 1))
    assert torch.equal(first[0], first[1])
    assert not torch.equal(first, other)
    assert bool(((first >= 0) & (first < 1)).all())


def test_a_start_of_ones_own_is_spread_over_the_images() -> None:
    images, own = torch.ones(3, 1, 2, 2), torch.tensor([[0.1, 0.2], [0.3, 0.4]])
    inside = torch.tensor([[[[True, True], [True, False]]]]).expand(3, -1, -1, -1)
    found = start_mask(images, inside, own)
    assert found.shape == (3, 1, 2, 2)
    torch.testing.assert_close(found[2, 0], torch.tensor([[0.1, 0.2], [0.3, 0.0]]))
    with pytest.raises(SSplainError, match="holds NaN"):
        start_mask(images, inside, own * torch.nan)
    with pytest.raises(SSplainError, match="start has shape"):
        start_mask(images, inside, torch.ones(2, 1, 2, 2))


def test_supports() -> None:
    two = torch.cat([IMAGE, IMAGE.flip(-1)])
    assert find_support(two, "nonzero").sum((1, 2, 3)).tolist() == [3, 3]
    assert find_support(two, 0.5).sum((1, 2, 3)).tolist() == [1, 1]  # above, not at
    assert find_support(two, None).all()
    assert torch.equal(find_support(two, lambda x: x > 0.3), two > 0.3)
    assert torch.equal(
        find_support(two, torch.tensor([[1, 0], [0, 2]]))[1, 0].int(), torch.eye(2).int()
    )
    colour = torch.zeros(1, 3, 1, 2)
    colour[0, 2, 0, 1] = -1.0
    assert find_support(colour, "nonzero").flatten().tolist() == [False, True]
    assert intensity(colour).flatten().tolist() == pytest.approx([0, 1 / 3])


def test_otsu_splits_each_image_by_itself() -> None:
    dim = torch.tensor([[[[0.1, 0.1, 0.2, 0.2]]]])
    both = torch.cat([dim, 4 * dim])
    assert find_support(both, "otsu").flatten(1).tolist() == [[False, False, True, True]] * 2


@pytest.mark.parametrize(
    ("budget", "pixels"), [(0.29, 29), (0.295, 29), (1.0, 100), (0.001, 1), (0.5, 50)]
)
def test_the_budget_is_never_exceeded(budget: float, pixels: int) -> None:
    assert pixel_budget(torch.ones(1, 1, 10, 10, dtype=torch.bool), budget).tolist() == [pixels]


@pytest.mark.parametrize("budget", [0, -0.1, 1.01])
def test_a_budget_is_a_share(budget: float) -> None:
    with pytest.raises(SSplainError, match="not a share of the support"):
        pixel_budget(torch.ones(1, 1, 2, 2, dtype=torch.bool), budget)


def test_equal_pixels_are_kept_from_the_middle_out() -> None:
    bar = torch.zeros(1, 1, 5, 9)
    bar[..., 1:4, 2:7] = 1.0
    order = tie_order(bar)[0].tolist()
    assert order[0] == 2 * 9 + 4
    assert {place // 9 for place in order[:3]} == {2}
    assert sorted(order) == list(range(45))
