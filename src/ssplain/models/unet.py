"""A small U-Net for pixelwise maps of photographs."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

_FOLD = 2  # side of the blocks of pixels that are folded into channels


class UNet(nn.Module):
    """U-Net (Ronneberger, Fischer and Brox, MICCAI 2015) that works on folded pixels.

    Blocks of 2 x 2 pixels are folded into channels at the entrance and unfolded at the
    exit, so that a wide network is cheap and its output as fine as its input. Takes images of any
    size, padded inside; gives logits (N, maps, H, W).

    Args:
        channels: of the image.
        widths: channels of each level, the finest first.
        maps: how many maps it gives.

    Example:
        >>> UNet(3, (8, 12, 16))(torch.zeros(1, 3, 45, 70)).shape
        torch.Size([1, 1, 45, 70])
    """

    def __init__(self, channels: int, widths: Sequence[int], maps: int = 1) -> None:
        super().__init__()
        self.coarsest = 2 ** len(widths)
        before = (channels * _FOLD**2, *widths[:-1])
        self.down = nn.ModuleList([_block(a, b) for a, b in zip(before, widths, strict=True)])
        self.up = nn.ModuleList([_block(a + b, a) for a, b in pairwise(widths)])
        self.head = nn.Conv2d(widths[0], maps * _FOLD**2, kernel_size=1)

    @staticmethod
    def of(weights: Mapping[str, Tensor]) -> "UNet":
        """Build the network that weights are for.

        Example:
            >>> UNet.of(UNet(3, (8, 12)).state_dict()).coarsest
            4
        """
        widths: list[int] = []
        while (first := weights.get(f"down.{len(widths)}.0.weight")) is not None:
            widths.append(first.shape[0])
        if not widths or "head.weight" not in weights:
            return UNet(3, (8,))  # whatever they are for, the comparison of names will say
        first, last = weights["down.0.0.weight"], weights["head.weight"]
        return UNet(first.shape[1] // _FOLD**2, widths, last.shape[0] // _FOLD**2)

    def forward(self, images: Tensor) -> Tensor:
        """Give the logits of every pixel."""
        height, width = images.shape[-2:]
        rows, columns = (-side % self.coarsest for side in (height, width))
        x = functional.pad(images, (0, columns, 0, rows), mode="replicate")
        x = functional.pixel_unshuffle(x, _FOLD).contiguous(memory_format=torch.channels_last)
        kept = []
        for level, block in enumerate(self.down):
            x = block(functional.max_pool2d(x, 2) if level else x)
            kept.append(x)
        for block, skip in zip(reversed(self.up), reversed(kept[:-1]), strict=True):
            x = functional.interpolate(x, scale_factor=2.0, mode="nearest")
            x = block(torch.cat([skip, x], dim=1))
        unfolded = functional.pixel_shuffle(self.head(x), _FOLD)
        return unfolded[..., :height, :width]


def _block(before: int, after: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(before, after, kernel_size=3, padding=1, bias=False),
        nn.BatchNorm2d(after),
        nn.ReLU(inplace=True),
        nn.Conv2d(after, after, kernel_size=3, padding=1, bias=False),
        nn.BatchNorm2d(after),
        nn.ReLU(inplace=True),
    )
