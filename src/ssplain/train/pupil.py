"""GoogLeNet as it is while it learns to see windings.

Told grades only, a fresh GoogLeNet stayed at chance for the first 200 steps: windings of one or two
pixels are fine print to a network whose first two layers shrink the image fourfold. Three things
brought it off that plateau within as many steps: first filters that respond to lines, weights of
the size that keeps signals alive through the depth (He et al., ICCV 2015), and heads on the way
(Szegedy et al., CVPR 2015) that carry the loss to the layers where windings are seen.
"""

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from ssplain.models.googlenet import GoogLeNet

_WIDTHS = (0.9, 1.6)  # of lines, in pixels
_LENGTH = 2.5  # along a line, how far a filter looks


class Pupil(GoogLeNet):
    """GoogLeNet with heads after its blocks 3b and 4c that help training and are then left out.

    Example:
        >>> final, low, middle = Pupil(3).depths(torch.rand(1, 1, 64, 64))
        >>> final.shape == low.shape == middle.shape
        True
    """

    def __init__(self, classes: int = 3) -> None:
        super().__init__(classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
            elif isinstance(module, nn.BatchNorm2d):
                module.momentum = (
                    0.03  # averages over some hundred images in spite of small batches
                )
        with torch.no_grad():
            self.conv1.conv.weight.copy_(line_filters(64).unsqueeze(1).expand(-1, 3, -1, -1))
            self.fc.weight.zero_()
        self.aux1, self.aux2 = nn.Conv2d(480, classes, 1), nn.Conv2d(512, classes, 1)
        for head in (self.aux1, self.aux2):
            nn.init.zeros_(head.weight)

    def depths(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Evidence of each place, (N, classes, h, w): the network's own, and that of both heads."""
        seen: dict[str, Tensor] = {}
        hooks = [
            getattr(self, name).register_forward_hook(
                lambda _, __, output, name=name: seen.update({name: output})
            )
            for name in ("inception3b", "inception4c")
        ]
        try:
            final = self.evidence(x)
        finally:
            for hook in hooks:
                hook.remove()
        low, middle = (
            functional.adaptive_avg_pool2d(seen[name], (final.shape[2], final.shape[3]))
            for name in ("inception3b", "inception4c")
        )
        return final, self.aux1(low), self.aux2(middle)

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> Any:  # noqa: ANN401 - torch's own type is not public
        """Load weights, those of the heads too."""
        return nn.Module.load_state_dict(self, state_dict, strict, assign)

    def graduate(self) -> GoogLeNet:
        """Return the same network without the heads."""
        model = GoogLeNet(self.fc.out_features)
        model.load_state_dict(self.state_dict())
        return model.eval()


def line_filters(count: int, size: int = 7) -> Tensor:
    """Return filters (count, size, size) for lines and edges, in sixteen directions and two widths.

    Across a line of width s: `(1 - w^2 / s^2) exp(-w^2 / 2 s^2)` for its middle and
    `(w / s) exp(-w^2 / 2 s^2)` for its edges; a Gaussian along it. Each has mean 0.

    Example:
        >>> filters = line_filters(64)
        >>> filters.shape, bool(filters.mean((1, 2)).abs().max() < 1e-6)
        (torch.Size([64, 7, 7]), True)
    """
    at = torch.arange(size) - (size - 1) / 2
    row, column = torch.meshgrid(at, at, indexing="ij")
    filters = []
    for number in range(count):
        angle = math.pi * (number % 16) / 16
        across = (column * math.sin(angle) - row * math.cos(angle)) / _WIDTHS[number // 32 % 2]
        along = (column * math.cos(angle) + row * math.sin(angle)) / _LENGTH
        shape = across if number // 16 % 2 else 1 - across**2
        filters.append(shape * torch.exp(-(across**2) / 2 - along**2 / 2))
    stacked = torch.stack(filters)
    stacked = stacked - stacked.mean((1, 2), keepdim=True)
    sizes = torch.linalg.vector_norm(stacked, dim=(1, 2), keepdim=True)
    scaled: Tensor = math.sqrt(2 / 3) * stacked / sizes
    return scaled
