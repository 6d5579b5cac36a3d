"""Greedy search over regions, against trying all orders and where the answer is known."""

import torch
from torch import Tensor, nn

from ssplain.rivals.regions import GreedyRegions

STRIPES = torch.arange(1, 6).repeat_interleave(2)[None, :].repeat(4, 1)


class Weighted(nn.Module):
    """Two classes; each stripe of two columns speaks for the second by its weight."""

    def __init__(self, weights: list[float]) -> None:
        super().__init__()
        self.weights = torch.tensor(weights)

    def forward(self, x: Tensor) -> Tensor:
        stripes = x[:, 0].reshape(len(x), 4, 5, 2).mean((1, 3))
        total = (stripes * self.weights).sum(1)
        return torch.stack([torch.zeros_like(total), total], 1)


def places(maps: Tensor) -> list[float]:
    return maps[0, 0, 0, ::2].tolist()


def test_stripes_that_add_up_are_ranked_by_their_weights() -> None:
    explainer = GreedyRegions(Weighted([0.5, -2.0, 3.0, 0.0, 1.0]), segments=STRIPES)
    assert places(explainer.attribute(torch.ones(1, 1, 4, 10), 1)) == [3.0, 1.0, 5.0, 2.0, 4.0]


def test_what_works_only_together_comes_together() -> None:
    """One by one the first two stripes do nothing; whoever scores them alone misses them."""

    class Both(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            stripes = x[:, 0].reshape(len(x), 4, 5, 2).mean((1, 3))
            total = 6 * stripes[:, 0] * stripes[:, 1] + stripes[:, 4] - 3
            return torch.stack([torch.zeros_like(total), total], 1)

    found = places(GreedyRegions(Both(), segments=STRIPES).attribute(torch.ones(1, 1, 4, 10), 1))
    assert sorted(found[:2]) == [4.0, 5.0]
    assert found[4] == 3.0


def test_images_with_different_numbers_of_regions_share_a_batch() -> None:
    model = Weighted([0.5, -2.0, 3.0, 0.0, 1.0])
    segments = torch.stack([STRIPES, STRIPES.clamp(max=2)])[:, None]
    images = torch.rand(2, 1, 4, 10, generator=torch.Generator().manual_seed(0)) + 0.2
    together = GreedyRegions(model, segments=segments).attribute(images, 1)
    for i in range(2):
        alone = GreedyRegions(model, segments=segments[i, 0]).attribute(images[i], 1)
        assert torch.equal(alone[0], together[i])
    assert torch.unique(together[0]).tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert torch.unique(together[1]).tolist() == [1.0, 2.0]
