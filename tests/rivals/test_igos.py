"""iGOS++: its gradient against differences, its steps, and where the answer is known."""

import pytest
import torch
from torch import Tensor, nn

from ssplain import SSplainError
from ssplain.rivals.igos import IntegratedMasks, _Scene
from tests.explain.small import pictures, small


class Corner(nn.Module):
    """The second class is as likely as the upper left quarter is bright."""

    def forward(self, x: Tensor) -> Tensor:
        seen = x[:, 0, :5, :5].mean((1, 2))
        return torch.stack([torch.zeros_like(seen), 10 * seen - 5], 1)


def test_the_quarter_that_decides_is_found() -> None:
    explainer = IntegratedMasks(Corner(), points=5, baseline="black", smoothness=0.0)
    scores = explainer.attribute(torch.ones(1, 1, 10, 10), 1)[0, 0]
    assert float(scores[:5, :5].min()) > 0.5
    rest = scores.clone()
    rest[:5, :5] = 0
    assert float(rest.max()) < 0.05


def test_one_scaling_is_the_plain_gradient() -> None:
    """With a single point the slope is that of the objective itself, as differences give it."""
    model, images = small().double(), pictures().double()
    explainer = IntegratedMasks(model, points=1)
    with explainer.ask(images, 1) as question:
        scene = _Scene(question, slice(0, 3), question.images, 0.3 * question.images)
        generator = torch.Generator().manual_seed(0)
        masks = torch.rand(2, 3, 1, 12, 10, generator=generator, dtype=torch.double)
        slope = explainer._slope(scene, masks)
        way = torch.randn(masks.shape, generator=generator, dtype=torch.double) * 1e-6
        with torch.no_grad():
            change = explainer._objective(scene, masks + way) - explainer._objective(
                scene, masks - way
            )
    torch.testing.assert_close(change, 2 * (slope * way).sum((0, 2, 3, 4)), rtol=1e-4, atol=1e-12)


def test_roughness_is_free_at_the_images_edges() -> None:
    explainer = IntegratedMasks(Corner(), sparsity=0.0, smoothness=1.0)
    image = torch.zeros(1, 1, 6, 6)
    image[..., 3:] = 1.0
    along, across = torch.ones(2, 1, 1, 6, 6), torch.ones(2, 1, 1, 6, 6)
    along[..., 3:] = 0.0  # the mask's edge on the image's
    across[..., 3:, :] = 0.0
    assert float(explainer._penalty(along, image)) < 1e-6
    assert float(explainer._penalty(across, image)) == pytest.approx(6 / 36)


def test_coarse_masks_are_enlarged() -> None:
    maps = IntegratedMasks(small(), size=4, iterations=2, points=2).attribute(pictures(), 1)
    assert maps.shape == (3, 1, 12, 10)


def test_an_unknown_baseline_is_named() -> None:
    with pytest.raises(SSplainError, match=r"'white'.*'blur' or 'black'"):
        IntegratedMasks(small(), baseline="white")  # type: ignore[arg-type]
