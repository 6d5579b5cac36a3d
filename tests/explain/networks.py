"""Random networks of the kinds that users have."""

from typing import Any

import torch
from hypothesis import strategies as st
from torch import Tensor, nn

ACTIVATIONS = (nn.ReLU, nn.GELU, nn.SiLU, nn.Tanh, nn.Sigmoid, nn.LeakyReLU, nn.ELU, nn.Hardswish)

KINDS = ("plain", "plain", "depthwise", "grouped", "dilated", "transposed")


class Attention(nn.Module):
    """A small vision transformer."""

    def __init__(self, channels: int, size: int, patch: int, heads: int, first: bool) -> None:
        super().__init__()
        width, tokens = 8 * heads, (size // patch) ** 2
        self.patches = nn.Conv2d(channels, width, patch, patch)
        self.places = nn.Parameter(torch.randn(1, tokens, width) / 10)
        layer = nn.TransformerEncoderLayer(
            width, heads, 2 * width, dropout=0.0, batch_first=True, norm_first=first
        )
        self.layers = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.head = nn.Linear(width, 3)

    def forward(self, x: Tensor) -> Tensor:
        tokens = self.patches(x).flatten(2).transpose(1, 2) + self.places
        return self.head(self.layers(tokens).mean(1))  # type: ignore[no-any-return]


@st.composite
def networks(draw: st.DrawFn) -> tuple[nn.Module, tuple[int, int, int]]:
    """Draw a network with the shape of its images: convolutions of all sorts, or attention."""
    torch.manual_seed(draw(st.integers(0, 10**6)))
    channels, size = draw(st.sampled_from((1, 3))), draw(st.sampled_from((8, 12, 16)))
    if draw(st.integers(0, 4)) == 0:
        patch, heads = draw(st.sampled_from((2, 4))), draw(st.sampled_from((1, 2)))
        model: nn.Module = Attention(channels, size, patch, heads, draw(st.booleans()))
    else:
        model = draw(_convolutions(channels))
    _shake(model)
    return model.eval(), (channels, size, size)


@st.composite
def _convolutions(draw: st.DrawFn, channels: int) -> nn.Module:
    layers: list[nn.Module] = []
    for _ in range(draw(st.integers(1, 3))):
        layer = draw(_convolution(channels))
        channels = layer.out_channels
        layers.append(layer)
        norm = draw(st.sampled_from(("none", "batch", "batch", "group")))
        if channels == 1 and norm == "group":  # PyTorch refuses a group of one value
            norm = "none"
        if norm != "none":
            layers.append(
                nn.BatchNorm2d(channels) if norm == "batch" else nn.GroupNorm(1, channels)
            )
        layers.append(draw(st.sampled_from(ACTIVATIONS))())
        pooling = draw(st.sampled_from((None, None, nn.MaxPool2d, nn.AvgPool2d)))
        if pooling is not None:
            layers.append(pooling(2, ceil_mode=True))
    side = draw(st.sampled_from((1, 2)))
    layers += [nn.AdaptiveAvgPool2d(side), nn.Flatten()]
    return nn.Sequential(*layers, nn.Linear(channels * side * side, draw(st.integers(2, 5))))


@st.composite
def _convolution(draw: st.DrawFn, channels: int) -> Any:  # noqa: ANN401 - one of two layers
    out = draw(st.sampled_from((4, 8, 16)))
    kernel, stride = draw(st.sampled_from((1, 2, 3, 5))), draw(st.sampled_from((1, 1, 2)))
    kind = draw(
        st.sampled_from(("plain", "plain", "depthwise", "grouped", "dilated", "transposed"))
    )
    if kind == "transposed":
        return nn.ConvTranspose2d(channels, out, kernel, stride)
    if kind == "depthwise":
        return nn.Conv2d(channels, channels, kernel, stride, kernel // 2, groups=channels)
    if kind == "grouped" and channels % 4 == 0:
        return nn.Conv2d(channels, out, kernel, stride, kernel // 2, groups=4)
    dilation = 2 if kind == "dilated" else 1
    return nn.Conv2d(channels, out, kernel, stride, kernel // 2 * dilation, dilation)


def _shake(model: nn.Module) -> None:
    """Give batch norms statistics, as after training."""
    for layer in model.modules():
        if isinstance(layer, nn.BatchNorm2d) and layer.running_mean is not None:
            layer.running_mean.normal_()
            assert layer.running_var is not None
            layer.running_var.uniform_(0.5, 2)
