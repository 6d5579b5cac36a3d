"""The faster way back through a convolution gives what PyTorch's own gives."""

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from ssplain.ask.model_pass import ModelPass


def used(output: Tensor) -> bool:
    return "ImageConvolution" in type(output.grad_fn).__name__


def frozen_layer(channels: int, maps: int, **options: Any) -> nn.Conv2d:  # noqa: ANN401
    layer = nn.Conv2d(channels, maps, **options).double()
    return layer.requires_grad_(requires_grad=False)


def trainable_bias(layer: nn.Conv2d) -> nn.Conv2d:
    assert layer.bias is not None
    layer.bias.requires_grad_()
    return layer


PAIRS = st.tuples(st.integers(0, 4), st.integers(0, 4))


@given(channels=st.integers(1, 3), padding=PAIRS, beyond=PAIRS, size=PAIRS)
@settings(deadline=None, max_examples=60)
def test_values_and_gradients_are_those_of_pytorch(
    channels: int, padding: tuple[int, int], beyond: tuple[int, int], size: tuple[int, int]
) -> None:
    kernel = (padding[0] + beyond[0] + 1, padding[1] + beyond[1] + 1)
    layer = frozen_layer(channels, 5, kernel_size=kernel, padding=padding)
    shape = (9 + size[0], 9 + size[1])
    images = torch.randn(2, channels, *shape, dtype=torch.float64, requires_grad=True)
    with ModelPass():
        ours = layer(images)
    assert used(ours)
    theirs = layer(images)
    assert torch.equal(ours, theirs)
    slope = torch.randn_like(theirs)
    torch.testing.assert_close(
        torch.autograd.grad(ours, images, slope), torch.autograd.grad(theirs, images, slope)
    )


@pytest.mark.parametrize("count", [1, 2])
def test_a_call_of_the_function_may_say_its_padding_as_it_likes(count: int) -> None:
    """To the bit; a lone image has those that it has beside an empty one, as in a batch."""
    images, weight = torch.randn(count, 1, 6, 6, requires_grad=True), torch.randn(2, 1, 3, 3)
    beside = torch.cat([images, torch.zeros_like(images)]) if count == 1 else images
    usual = nn.functional.conv2d(beside, weight, None, (1, 1), 1, (1, 1), 1)[:count]
    with ModelPass():
        for padding in (1, (1,), "same", (1, 1)):
            same = nn.functional.conv2d(images, weight, None, (1, 1), padding, (1, 1), 1)
            assert torch.equal(same, usual)


def test_second_derivatives_pass_too() -> None:
    layer = frozen_layer(1, 2, kernel_size=3, padding=1)

    def curved(images: Tensor) -> Tensor:
        with ModelPass():
            bent: Tensor = layer(images).tanh()
            return bent

    images = torch.randn(1, 1, 5, 6, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(curved, images)


@pytest.mark.parametrize(
    "layer",
    [
        frozen_layer(4, 2, kernel_size=3),
        frozen_layer(1, 2, kernel_size=3, stride=2),
        frozen_layer(1, 2, kernel_size=3, dilation=2),
        frozen_layer(2, 2, kernel_size=3, groups=2),
        frozen_layer(1, 2, kernel_size=3, padding="same"),
        frozen_layer(1, 2, kernel_size=1, padding=1),
        frozen_layer(1, 2, kernel_size=3).requires_grad_(),
        trainable_bias(frozen_layer(1, 2, kernel_size=3)),
    ],
    ids=["channels", "stride", "dilation", "groups", "same", "wide padding", "trainable", "bias"],
)
def test_other_convolutions_are_left_alone(layer: nn.Conv2d) -> None:
    images = torch.randn(2, layer.in_channels, 9, 9, dtype=torch.float64, requires_grad=True)
    with ModelPass():
        ours = layer(images)
    assert not used(ours)
    assert torch.equal(ours, layer(images))
    ours.sum().backward()
    for own in layer.parameters():
        assert (own.grad is not None) == own.requires_grad
