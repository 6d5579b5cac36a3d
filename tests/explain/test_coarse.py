"""The coarse map beside the fine one: what it is, and what must hold of the order of both."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from ssplain import SSplain, preset
from ssplain.explain.coarse import FIRST, against_blank, coarse_map, fine_then_coarse
from ssplain.prox import ranked
from ssplain.question.inputs import find_support
from tests.explain.small import sparse_images, tiny

SETTINGS: dict[str, Any] = {"objective": "ranking", "iterations": 6, "coarse": 3}


def drawn(seed: int, *shape: int) -> Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed))


def test_the_map_is_the_same_again_and_in_any_batch() -> None:
    images, model = sparse_images(), tiny()
    whole = SSplain(model, **SETTINGS).attribute(images, 1)
    assert torch.equal(whole, SSplain(model, **SETTINGS).attribute(images, 1))
    assert torch.equal(whole, SSplain(model, **SETTINGS, batch_size=3).attribute(images, 1))
    alone = torch.cat([SSplain(model, **SETTINGS).attribute(one[None], 1) for one in images])
    assert torch.equal(whole, alone)


def test_pixels_off_the_support_come_last_and_the_mask_keeps_the_budget() -> None:
    images = sparse_images()
    result = SSplain(tiny(), **SETTINGS, budget=0.25).explain(images, 1)
    inside = result.support
    last = result.scores.masked_fill(~inside, -torch.inf).flatten(1).amax(1)
    for scores, own in zip(result.scores, inside, strict=True):
        assert float(scores[own].min()) > float(scores[~own].max())
    assert bool((last > 0).all())
    assert bool((result.kept_share <= 0.25).all())
    assert bool((result.mask[~inside] == 0).all())


class Halves(nn.Module):
    """Class 1 is as likely as its left half is bright, class 2 its right; 0 if there is nothing."""

    def forward(self, images: Tensor) -> Tensor:
        left, right = (half.mean((1, 2, 3)) for half in images.tensor_split(2, dim=3))
        return torch.stack([torch.full_like(left, 0.01), left, right], 1) * 40


@pytest.mark.parametrize("target", [1, 2])
def test_the_map_points_at_what_speaks_for_the_class(target: int) -> None:
    images = (drawn(1, 2, 1, 28, 28) > 0.5).float()
    with SSplain(Halves()).ask(images, target) as question:
        inside = find_support(images, "nonzero")
        found = coarse_map(question, inside, 3)
    sides = [half[half != 0].mean() for half in found.tensor_split(2, dim=3)]
    assert sides[target - 1] > sides[2 - target]
    assert sides[target - 1] > 0
    # and so does the order of both maps, after the pixels that the fine one puts first
    order = fine_then_coarse(drawn(2, 2, 1, 28, 28), found, inside)
    ranks = [half[half != 0].mean() for half in order.tensor_split(2, dim=3)]
    assert ranks[target - 1] > ranks[2 - target] + 0.1


def test_the_first_pixels_are_the_fine_maps_in_its_order() -> None:
    fine, rough = drawn(1, 3, 1, 20, 20), drawn(2, 3, 1, 20, 20)
    inside = drawn(3, 3, 1, 20, 20) > 0.3
    order = fine_then_coarse(fine, rough, inside)
    for f, o, own in zip(fine, order, inside, strict=True):
        count = int(FIRST * int(own.sum()))
        assert count >= 20
        top = f[own].argsort(descending=True)[:count]
        assert torch.equal(o[own].argsort(descending=True)[:count], top)
        assert len(o[own].unique()) == int(own.sum())
    assert bool((order[~inside] == 0).all())


def test_after_them_a_pixel_that_both_maps_rank_higher_comes_earlier() -> None:
    both = drawn(1, 1, 1, 20, 20)
    inside = torch.ones_like(both, dtype=torch.bool)
    assert torch.equal(fine_then_coarse(both, 3 * both, inside), ranked(both, inside))


def test_log_odds_are_against_the_blank_and_the_blanks_against_all() -> None:
    log_p = drawn(1, 4, 3).log_softmax(1)
    found = against_blank(log_p, torch.tensor([0, 1, 2, 0]))
    torch.testing.assert_close(found[0, 2], log_p[0, 2] - log_p[0, 0])
    torch.testing.assert_close(found[1, 0], log_p[1, 0] - log_p[1, 1])
    own = log_p[2, 2].exp()
    torch.testing.assert_close(found[2, 2], (own / (1 - own)).log())


@pytest.mark.parametrize(
    "settings",
    [{"segments": "superpixels"}, {"queries": 2}, {"objective": "dual"}],
)
def test_parts_models_without_gradient_and_other_questions_go_without(
    settings: dict[str, Any],
) -> None:
    images, model = sparse_images(), tiny()
    common = {**SETTINGS, **settings}
    with_it = SSplain(model, **common)
    without = SSplain(model, **{**common, "coarse": 0})
    assert with_it.coarse == 0
    assert torch.equal(with_it.attribute(images, 1), without.attribute(images, 1))


def test_settings_tell_of_it() -> None:
    assert SSplain(tiny(), **SETTINGS).settings()["coarse"] == 3
    assert "coarse" not in SSplain(tiny(), objective="ranking").settings()


def test_eyes_take_60_passes_in_all_and_digits_and_garments_go_without() -> None:
    eyes = preset("rop", "ranking")
    assert eyes["iterations"] + (eyes["start"] == "gradient") + eyes["coarse"] + 1 == 60
    assert preset("mnist", "ranking")["coarse"] == preset("fmnist", "ranking")["coarse"] == 0
