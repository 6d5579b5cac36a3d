"""The quick network says what the slow one says, forth and back."""

import pytest
import torch
from torch import Tensor, nn

from ssplain.models import load
from ssplain.reading.quick import GreyStem, quick


@pytest.fixture(scope="module")
def network() -> nn.Module:
    return load("googlenet-rop")


def _both(model: nn.Module, images: Tensor) -> tuple[Tensor, Tensor]:
    inputs = images.clone().requires_grad_()
    logits = model(inputs)
    (gradient,) = torch.autograd.grad(logits[:, 2].sum(), inputs)
    return logits.detach(), gradient


def test_logits_and_gradients_are_those_of_the_network(network: nn.Module) -> None:
    images = torch.rand(2, 1, 96, 80, generator=torch.Generator().manual_seed(1))
    usual, fast = _both(network.double(), images.double()), _both(quick(network), images.double())
    assert torch.allclose(usual[0], fast[0], rtol=0, atol=1e-9)
    assert torch.allclose(usual[1], fast[1], rtol=0, atol=1e-9)


def test_the_network_itself_stays_as_it_is(network: nn.Module) -> None:
    before = {name: value.clone() for name, value in network.state_dict().items()}
    assert sum(isinstance(layer, GreyStem) for layer in quick(network).modules()) == 1
    assert not any(isinstance(layer, GreyStem) for layer in network.modules())
    after = network.state_dict()
    assert all(torch.equal(value, after[name]) for name, value in before.items())


def test_another_network_is_only_laid_out() -> None:
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    images = torch.rand(2, 1, 20, 20)
    assert torch.allclose(quick(model)(images), model(images))
