"""Averaged gradients: what they are, and that an image's are its own."""

from typing import Any

import torch
from scipy.ndimage import gaussian_filter
from torch import Tensor

from ssplain import SSplain
from ssplain.explain.spread import STRENGTH, Spread
from ssplain.solve import Term
from tests.explain.small import sparse_images, tiny

SETTINGS: dict[str, Any] = {"objective": "ranking", "iterations": 6, "spread": 2.0}


class Slope(Term):
    """A term with a gradient that is given."""

    name = "slope"

    def __init__(self, gradient: Tensor) -> None:
        self.gradient = gradient

    def value(self, masks: Tensor) -> Tensor:
        return (masks * self.gradient).flatten(1).sum(1)

    def take(self, rows: Tensor) -> "Slope":
        return Slope(self.gradient[rows])


def drawn(seed: int, *shape: int) -> Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_it_is_the_average_over_the_support_as_scipy_finds_it() -> None:
    gradient = drawn(1, 1, 1, 30, 20) - 0.5
    inside = (drawn(2, 1, 1, 30, 20) > 0.4).double()
    term = Spread(Slope(gradient), inside, reach=2.0)
    values, found = term.value_and_gradient(torch.ones_like(gradient))
    assert torch.allclose(values, gradient.flatten(1).sum(1))
    own = (gradient * inside)[0, 0].numpy()
    blur = [gaussian_filter(a, 2.0, mode="nearest") for a in (own, inside[0, 0].numpy())]
    average = torch.from_numpy(blur[0] / blur[1]) * inside[0, 0]
    wanted = torch.from_numpy(own) + STRENGTH * average * float(
        torch.from_numpy(own).norm() / average.norm()
    )
    assert torch.allclose(found[0, 0], wanted, atol=1e-6)


def test_neighbours_that_agree_make_each_other_stronger() -> None:
    inside = (drawn(2, 1, 1, 30, 20) > 0.4).double()
    alike, torn = inside, inside * (2 * drawn(3, 1, 1, 30, 20).round() - 1)
    found = [
        Spread(Slope(g), inside, reach=2.0).value_and_gradient(inside)[1] for g in (alike, torn)
    ]
    assert bool((found[0][inside > 0] > 5).all())
    # where they do not, a pixel's own sign counts for little against those around it
    assert float((found[1] * torn).sum() / inside.sum()) < 5


def test_an_image_gets_its_own_and_nothing_off_its_support() -> None:
    gradient, inside = drawn(1, 4, 1, 9, 9).float() - 0.5, (drawn(2, 4, 1, 9, 9) > 0.5).float()
    gradient[3] = 0
    term, masks = Spread(Slope(gradient), inside, 1.5), torch.ones(4, 1, 9, 9)
    whole = term.value_and_gradient(masks)[1]
    assert bool((whole[inside == 0] == 0).all())
    assert bool((whole[3] == 0).all())
    for row in range(4):
        one = torch.tensor([row])
        assert torch.equal(term.take(one).value_and_gradient(masks[one])[1], whole[one])


def test_maps_are_the_same_again_and_in_any_batch() -> None:
    images, model = sparse_images(), tiny()
    whole = SSplain(model, **SETTINGS).attribute(images, 1)
    assert torch.equal(whole, SSplain(model, **SETTINGS).attribute(images, 1))
    # the tiny network's own gradients differ in their last bits from batch to batch
    for size in (1, 3):
        other = SSplain(model, **SETTINGS, batch_size=size).attribute(images, 1)
        assert torch.allclose(whole, other, atol=1e-6)
    plain = SSplain(model, **{**SETTINGS, "spread": 0.0}).attribute(images, 1)
    assert not torch.allclose(whole, plain, atol=1e-2)


def test_settings_tell_of_it_only_where_it_is() -> None:
    assert SSplain(tiny(), **SETTINGS).settings()["spread"] == 2.0
    assert "spread" not in SSplain(tiny(), objective="ranking").settings()
    assert "spread" not in SSplain(tiny(), **SETTINGS, segments="superpixels").settings()
