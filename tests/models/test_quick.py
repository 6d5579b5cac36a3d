"""The quick network says what the slow one says, forth and back."""

import copy

import pytest
import torch
from torch import Tensor, nn

from ssplain.models import GoogLeNet, load, quick
from ssplain.models.googlenet import ConvBlock


@pytest.fixture(scope="module")
def network() -> nn.Module:
    return load("googlenet-rop").double()


def _both(model: nn.Module, images: Tensor) -> tuple[Tensor, Tensor]:
    inputs = images.clone().requires_grad_()
    logits = model(inputs)
    (gradient,) = torch.autograd.grad(logits[:, 2].sum(), inputs)
    return logits.detach(), gradient


@pytest.mark.parametrize("channels", [1, 3])
def test_logits_and_gradients_are_those_of_the_network(network: nn.Module, channels: int) -> None:
    generator = torch.Generator().manual_seed(1)
    images = torch.rand(2, channels, 96, 80, generator=generator, dtype=torch.float64)
    for usual, fast in zip(_both(network, images), _both(quick(network), images), strict=True):
        torch.testing.assert_close(fast, usual, rtol=0, atol=1e-9)
    # and the normalisations did matter: without them the answer is another one
    bare = copy.deepcopy(network)
    for module in bare.modules():
        if isinstance(module, ConvBlock):
            module.bn = nn.Identity()
    assert not torch.allclose(bare(images), network(images), atol=1e-2)


def test_the_network_itself_stays_as_it_is(network: nn.Module) -> None:
    before = copy.deepcopy(network.state_dict())
    made = quick(network)
    assert isinstance(made, GoogLeNet)
    assert not any(isinstance(module, nn.BatchNorm2d) for module in made.modules())
    assert not made.training
    assert made.conv3.conv.weight.is_contiguous(memory_format=torch.channels_last)
    after = network.state_dict()
    assert all(torch.equal(value, after[name]) for name, value in before.items())
    assert not quick(GoogLeNet().train()).training


def test_another_network_is_itself() -> None:
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    assert quick(model) is model
