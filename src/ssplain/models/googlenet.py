"""GoogLeNet with batch normalisation, with the parameter names that its published weights have.

Reference: C. Szegedy et al., Going deeper with convolutions, CVPR 2015. The layer and parameter
names, and the 3x3 kernel where the paper has a 5x5 one, are those of torchvision's `googlenet`, so
its weights load unchanged.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

AUXILIARY = ("aux1.", "aux2.")  # heads that only help training; published weights carry them


class ConvBlock(nn.Module):
    """Convolution, batch normalisation and ReLU."""

    def __init__(
        self, inputs: int, outputs: int, kernel: int, *, stride: int = 1, padding: int = 0
    ) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, kernel, stride, padding, bias=False)
        self.bn: nn.Module = nn.BatchNorm2d(outputs, eps=0.001)
        self.relu = nn.ReLU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Apply the block."""
        return self.relu(self.bn(self.conv(x)))  # type: ignore[no-any-return]


class Inception(nn.Module):
    """Four parallel ways from the same input, joined channel-wise."""

    def __init__(
        self, inputs: int, one: int, three: tuple[int, int], five: tuple[int, int], pool: int
    ) -> None:
        super().__init__()
        self.branch1 = ConvBlock(inputs, one, 1)
        self.branch2 = nn.Sequential(
            ConvBlock(inputs, three[0], 1), ConvBlock(three[0], three[1], 3, padding=1)
        )
        self.branch3 = nn.Sequential(
            ConvBlock(inputs, five[0], 1), ConvBlock(five[0], five[1], 3, padding=1)
        )
        self.branch4 = nn.Sequential(
            nn.MaxPool2d(3, stride=1, padding=1, ceil_mode=True), ConvBlock(inputs, pool, 1)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Apply all four ways."""
        return torch.cat([self.branch1(x), self.branch2(x), self.branch3(x), self.branch4(x)], 1)


class GoogLeNet(nn.Module):
    """GoogLeNet for grey or colour images.

    Takes images (N, 1, H, W) or (N, 3, H, W) in [0, 1], and gives logits (N, classes). A grey image
    is repeated to three channels and values are brought to [-1, 1] inside the model, so that
    outside of it the background of an image stays exactly zero. Every activation is a module that
    is used once, as methods that replace or hook activations need.

    Args:
        classes: how many logits to give.

    Example:
        >>> model = GoogLeNet(classes=3)
        >>> sum(p.numel() for p in model.parameters())
        5602979
        >>> model.eval()(torch.zeros(1, 1, 224, 224)).shape
        torch.Size([1, 3])
    """

    def __init__(self, classes: int = 3) -> None:
        super().__init__()
        self.conv1 = ConvBlock(3, 64, 7, stride=2, padding=3)
        self.maxpool1 = nn.MaxPool2d(3, stride=2, ceil_mode=True)
        self.conv2 = ConvBlock(64, 64, 1)
        self.conv3 = ConvBlock(64, 192, 3, padding=1)
        self.maxpool2 = nn.MaxPool2d(3, stride=2, ceil_mode=True)
        self.inception3a = Inception(192, 64, (96, 128), (16, 32), 32)
        self.inception3b = Inception(256, 128, (128, 192), (32, 96), 64)
        self.maxpool3 = nn.MaxPool2d(3, stride=2, ceil_mode=True)
        self.inception4a = Inception(480, 192, (96, 208), (16, 48), 64)
        self.inception4b = Inception(512, 160, (112, 224), (24, 64), 64)
        self.inception4c = Inception(512, 128, (128, 256), (24, 64), 64)
        self.inception4d = Inception(512, 112, (144, 288), (32, 64), 64)
        self.inception4e = Inception(528, 256, (160, 320), (32, 128), 128)
        self.maxpool4 = nn.MaxPool2d(2, stride=2, ceil_mode=True)
        self.inception5a = Inception(832, 256, (160, 320), (32, 128), 128)
        self.inception5b = Inception(832, 384, (192, 384), (48, 128), 128)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.dropout = nn.Dropout(0.2)
        self.fc = nn.Linear(1024, classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d | nn.Linear):
                nn.init.trunc_normal_(module.weight, std=0.01, a=-2, b=2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Give the logits of a batch of images."""
        return self.fc(self.dropout(self.avgpool(self._features(x)).flatten(1)))  # type: ignore[no-any-return]

    def evidence(self, x: torch.Tensor) -> torch.Tensor:
        """Give each place's share in the logits, (N, classes, h, w): their mean is the logits.

        The mean over all places and the last layer are both linear, so they may change order. This
        is how a network that is told a grade only can be taught, and asked, where it sees it.

        Example:
            >>> model, images = GoogLeNet().eval(), torch.rand(1, 1, 64, 64)
            >>> evidence = model.evidence(images)
            >>> evidence.shape, torch.allclose(evidence.mean((2, 3)), model(images), atol=1e-5)
            (torch.Size([1, 3, 2, 2]), True)
        """
        weight = self.fc.weight[:, :, None, None]
        return nn.functional.conv2d(self._features(x), weight, self.fc.bias)

    def _features(self, x: torch.Tensor) -> torch.Tensor:
        x = 2 * x.expand(-1, 3, -1, -1) - 1
        x = self.maxpool1(self.conv1(x))
        x = self.maxpool2(self.conv3(self.conv2(x)))
        x = self.maxpool3(self.inception3b(self.inception3a(x)))
        x = self.inception4c(self.inception4b(self.inception4a(x)))
        x = self.maxpool4(self.inception4e(self.inception4d(x)))
        return self.inception5b(self.inception5a(x))  # type: ignore[no-any-return]

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> Any:  # noqa: ANN401 - torch's own type is not public
        """Load weights; those of auxiliary heads, which this network has not, are left out."""
        kept = {k: v for k, v in state_dict.items() if not k.startswith(AUXILIARY)}
        return super().load_state_dict(kept, strict, assign)
