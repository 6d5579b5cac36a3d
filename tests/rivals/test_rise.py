"""RISE against its formula and where the answer is known."""

import pytest
import torch
from torch import Tensor

from ssplain import SSplainError
from ssplain.rivals.rise import Rise
from tests.explain.small import pictures, small


def test_masks_are_smooth_and_kept_as_often_as_said() -> None:
    masks = Rise(small(), cells=4, keep=0.3).draw(400, (30, 21), torch.Generator().manual_seed(0))
    assert masks.shape == (400, 1, 30, 21)
    assert 0 <= float(masks.min()) < 0.01
    assert 0.99 < float(masks.max()) < 1 + 1e-9
    torch.testing.assert_close(
        masks.mean(0), torch.full((1, 30, 21), 0.3).double(), atol=0.1, rtol=0
    )
    # a cell is 8 x 6 pixels, so neighbours differ by at most an eighth or a sixth
    assert float(masks.diff(dim=2).abs().max()) <= 1 / 8 + 1e-9
    assert float(masks.diff(dim=3).abs().max()) <= 1 / 6 + 1e-9


def test_scores_are_the_mean_of_masks_weighted_by_probabilities() -> None:
    model, images = small(), pictures()
    rise = Rise(model, samples=70, cells=3, seed=4)
    generator = torch.Generator().manual_seed(4)
    masks = torch.cat([rise.draw(n, (12, 10), generator) for n in (50, 20)]).float()
    found = rise.attribute(images, [0, 1, 2])
    for image, target, scores in zip(images, (0, 1, 2), found, strict=True):
        p = model(image * masks).softmax(1)[:, target]
        expected = (p[:, None, None] * masks[:, 0]).sum(0) / (70 * 0.5)
        torch.testing.assert_close(scores[0], expected.detach(), rtol=1e-4, atol=1e-6)


def test_the_quarter_that_decides_ranks_first() -> None:
    def corner(x: Tensor) -> Tensor:
        seen = x[:, 0, :6, :6].mean((1, 2))
        return torch.stack([torch.zeros_like(seen), 12 * seen - 6], 1)

    scores = Rise(corner, samples=600, cells=4).attribute(torch.ones(1, 1, 12, 12), 1)[0, 0]
    top = scores >= scores.flatten().sort(descending=True).values[35]
    assert int(top[:6, :6].sum()) >= 30


def test_a_share_that_is_none_is_named() -> None:
    with pytest.raises(SSplainError, match=r"keep=1\.5"):
        Rise(small(), keep=1.5)
