import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from ssplain.prox import share_threshold, top_k
from tests.prox.strategies import Case, cases


@given(cases())
def test_agrees_with_a_stable_sort_in_numpy(case: Case) -> None:
    kept = top_k(case.x, case.k).flatten(1).numpy()
    for row, values, k in zip(kept, case.x.flatten(1).numpy(), case.k.tolist(), strict=True):
        first = np.argsort(-values, kind="stable")[:k]
        assert set(np.flatnonzero(row)) == set(first)


@given(cases(), st.randoms(use_true_random=False))
def test_order_decides_between_equals_only(case: Case, random: object) -> None:
    flat = case.x.flatten(1)
    pixels = flat.shape[1]
    permutations = [list(range(pixels)) for _ in range(len(flat))]
    for permutation in permutations:
        random.shuffle(permutation)  # type: ignore[attr-defined]
    order = torch.tensor(permutations)
    kept = top_k(case.x, case.k, order).flatten(1)
    for row, values, k, permutation in zip(
        kept, flat.tolist(), case.k.tolist(), permutations, strict=True
    ):
        place = {pixel: rank for rank, pixel in enumerate(permutation)}
        expected = sorted(range(pixels), key=lambda i: (-values[i], place[i]))[:k]
        assert set(row.nonzero().flatten().tolist()) == set(expected)


@given(cases())
def test_a_member_does_not_see_the_rest_of_the_batch(case: Case) -> None:
    together = top_k(case.x, case.k)
    for i in range(len(case.x)):
        assert torch.equal(together[i : i + 1], top_k(case.x[i : i + 1], case.k[i : i + 1]))


def test_infinite_values_rank_last_and_first() -> None:
    values = torch.tensor([[-torch.inf, 0.0, torch.inf, -torch.inf]])
    assert top_k(values, torch.tensor([1])).tolist() == [[False, False, True, False]]
    assert top_k(values, torch.tensor([3])).tolist() == [[True, True, True, False]]


def test_as_many_lie_above_a_share_as_it_says() -> None:
    values = torch.rand(3, 1, 10, 10, generator=torch.Generator().manual_seed(0))
    inside = torch.zeros(3, 1, 10, 10, dtype=torch.bool)
    for i, count in enumerate((100, 40, 20)):
        inside[i].view(-1)[:count] = True
    for share in (0.05, 0.25, 0.5, 0.95):
        above = (values > share_threshold(values, inside, share)) & inside
        assert above.flatten(1).sum(1).tolist() == [share * n for n in (100, 40, 20)]


def test_a_share_below_one_pixel_takes_the_first() -> None:
    values, inside = torch.tensor([[3.0, 1.0]]), torch.ones(1, 2, dtype=torch.bool)
    assert share_threshold(values, inside, 0.01).item() == 3.0
    assert share_threshold(values, inside, 0.99).item() == 1.0
