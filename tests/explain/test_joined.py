"""The order that keeps together what it shows, against a slow one written from its definition."""

import heapq
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import ndimage
from torch import Tensor

from ssplain import SSplain, preset
from ssplain.errors import SSplainError
from ssplain.explain.coarse import FIRST
from ssplain.explain.joined import joined
from ssplain.metrics import connected
from ssplain.prox import ranked
from tests.explain.small import sparse_images, tiny

SETTINGS: dict[str, Any] = {"objective": "ranking", "iterations": 6, "joining": 0.3}


def drawn(seed: int, *shape: int) -> Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed))


def textbook(scores: Tensor, support: Tensor, pull: float) -> list[tuple[int, int]]:
    """Order the pixels of one plane by widest paths (Dijkstra's algorithm with minima)."""
    ranks = ranked(scores[None, None], support[None, None])[0, 0]
    inside = {(int(r), int(c)) for r, c in support.nonzero()}
    by_rank = sorted(inside, key=lambda at: -float(ranks[at]))
    first = by_rank[: int(FIRST * len(by_rank))]
    labels, _ = ndimage.label(support.numpy())
    sizes = {at: int((labels == labels[at]).sum()) for at in inside}
    begin = next(at for at in by_rank if at not in first and sizes[at] == max(sizes.values()))
    width = {begin: float(ranks[begin])}
    heap = [(-width[begin], begin)]
    while heap:
        reached, (r, c) = heapq.heappop(heap)
        for at in ((r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)):
            if at in inside and at not in width:
                own = 2.0 if at in first else float(ranks[at])
                width[at] = min(-reached, own)
                heapq.heappush(heap, (-width[at], at))
    value = {at: max(float(ranks[at]), width.get(at, -1.0) + pull) for at in inside}
    rest = [at for at in by_rank if at not in first]
    return first + sorted(rest, key=lambda at: (-value[at], -float(ranks[at])))


# no difference of two ranks is one of these pulls, so that no rounding decides
@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.05123, 0.25123, 0.61234, 3.0]))
def test_it_is_the_textbook_order(seed: int, pull: float) -> None:
    scores, support = drawn(seed, 9, 11), drawn(seed + 1, 9, 11) > 0.35
    if int(support.sum()) < 12:
        return
    found = joined(scores[None, None], support[None, None], pull)[0, 0]
    expected = textbook(scores, support, pull)
    places = found[support].sort(descending=True).values
    assert len(set(places.tolist())) == len(expected)
    assert [float(found[at]) for at in expected] == places.tolist()
    assert bool((found[~support] == 0).all())


def test_without_a_pull_the_order_stays() -> None:
    scores, support = drawn(1, 2, 1, 20, 20), drawn(2, 2, 1, 20, 20) > 0.4
    assert torch.equal(joined(scores, support, 0.0), ranked(scores, support))


def test_parts_grow_with_the_pull_and_the_first_pixels_stay() -> None:
    scores = drawn(1, 4, 1, 30, 30)
    images = torch.ones_like(scores)
    support = torch.ones_like(scores, dtype=torch.bool)
    areas = []
    for pull in (0.0, 0.3, 0.9):
        order = joined(scores, support, pull)
        areas.append(float(connected(images, order, points=21).mean()))
        top = order.flatten(1).argsort(dim=1, descending=True)[:, :90]
        assert torch.equal(top, scores.flatten(1).argsort(dim=1, descending=True)[:, :90])
    assert areas[0] + 0.02 < areas[1] < areas[2] - 0.02


def test_a_small_part_of_the_support_does_not_take_the_lead() -> None:
    scores, support = torch.zeros(1, 1, 1, 40), torch.ones(1, 1, 1, 40, dtype=torch.bool)
    support[..., 3] = support[..., 6:] = False
    support[..., 10:] = True
    scores[0, 0, 0, 4:6] = torch.tensor([5.0, 4.0])  # the speck, with the highest scores
    scores[0, 0, 0, 20:40] = torch.linspace(2, 1, 20)
    order = joined(scores, support, 0.5)[0, 0, 0]
    # what hangs together with the best of the largest part comes before the left end
    assert float(order[19]) > float(order[2])


def test_nothing_and_single_pixels_are_ordered_too() -> None:
    support = torch.zeros(2, 1, 3, 3, dtype=torch.bool)
    support[1, 0, 1, 1] = True
    assert torch.equal(joined(drawn(1, 2, 1, 3, 3), support, 0.5), torch.zeros(2, 1, 3, 3))


def test_an_image_has_the_same_map_in_any_batch_and_its_mask_keeps_the_budget() -> None:
    images, model = sparse_images(), tiny()
    whole = SSplain(model, **SETTINGS).attribute(images, 1)
    alone = torch.cat([SSplain(model, **SETTINGS).attribute(one[None], 1) for one in images])
    assert torch.equal(whole, alone)
    result = SSplain(model, **SETTINGS, budget=0.25).explain(images, 1)
    assert bool((result.kept_share <= 0.25).all())
    assert torch.equal(result.scores, SSplain(model, **SETTINGS, budget=0.25).attribute(images, 1))


@pytest.mark.parametrize("settings", [{"segments": "superpixels"}, {"objective": "dual"}])
def test_parts_and_other_questions_go_without(settings: dict[str, Any]) -> None:
    images, model = sparse_images(), tiny()
    common = {**SETTINGS, **settings}
    without = SSplain(model, **{**common, "joining": 0.0})
    assert SSplain(model, **common).joining == 0
    assert torch.equal(SSplain(model, **common).attribute(images, 1), without.attribute(images, 1))


def test_settings_tell_of_it_and_a_wrong_one_is_refused() -> None:
    assert SSplain(tiny(), **SETTINGS).settings()["joining"] == 0.3
    assert "joining" not in SSplain(tiny(), objective="ranking").settings()
    with pytest.raises(SSplainError, match="joining"):
        SSplain(tiny(), objective="ranking", joining=-0.1)


def test_eyes_are_joined_and_digits_and_garments_are_not() -> None:
    assert preset("rop", "ranking")["joining"] == 0.4
    assert preset("mnist", "ranking")["joining"] == preset("fmnist", "ranking")["joining"] == 0
