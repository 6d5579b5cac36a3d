"""The picture that the network sees: a square around the field of view, at the network's size."""

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from ssplain.fundus.field import Field

Plane = NDArray[np.float32]


@dataclass(frozen=True)
class Frame:
    """Where the network's square lies on an image.

    Attributes:
        shape: height and width of the image.
        top: row of the image at which the square begins; may lie outside.
        left: column at which it begins.
        side: of the square, in px of the image.
        size: side of the picture that the network takes.
    """

    shape: tuple[int, int]
    top: int
    left: int
    side: int
    size: int

    @staticmethod
    def around(
        shape: tuple[int, int], centre: tuple[float, float], side: float, size: int
    ) -> "Frame":
        """Return the square of a side around a centre.

        >>> Frame.around((30, 40), (14.5, 19.5), 40, 20)
        Frame(shape=(30, 40), top=-5, left=0, side=40, size=20)
        """
        whole = max(1, round(side))
        top, left = (round(middle - (whole - 1) / 2) for middle in centre)
        return Frame(shape, top, left, whole, size)

    @staticmethod
    def of_field(view: Field, size: int) -> "Frame":
        """Return the square around a field of view; around the whole frame if the eye fills that.

        >>> from ssplain.fundus.field import field
        >>> Frame.of_field(field(np.full((300, 400, 3), 0.5)), 224).side
        400
        """
        height, width = view.mask.shape
        return Frame.around((height, width), (view.row, view.column), view.side, size)

    def mirrored(self) -> "Frame":
        """Return the same square on the image with left and right exchanged.

        >>> Frame((30, 40), top=0, left=4, side=20, size=20).mirrored().left
        16
        """
        return replace(self, left=self.shape[1] - self.left - self.side)

    @property
    def _overlap(self) -> tuple[tuple[slice, slice], tuple[slice, slice]]:
        """The part of the image that lies in the square, in the image and in the square."""
        first = (self.top, self.left)
        begin = [max(0, at) for at in first]
        end = [min(length, at + self.side) for length, at in zip(self.shape, first, strict=True)]
        rows, columns = (slice(a, max(a, b)) for a, b in zip(begin, end, strict=True))
        inner = [slice(a - at, max(a, b) - at) for a, b, at in zip(begin, end, first, strict=True)]
        return (rows, columns), (inner[0], inner[1])

    def to_network(self, plane: Plane) -> Tensor:
        """Cut the square out of an image (H, W), black where there is none, at the network's size.

        Returns:
            (1, size, size); black stays exactly 0.

        Example:
            >>> frame = Frame.around((30, 40), (14.5, 19.5), 40, 20)
            >>> frame.to_network(np.ones((30, 40), np.float32)).shape
            torch.Size([1, 20, 20])
        """
        there, here = self._overlap
        square = torch.zeros(1, 1, self.side, self.side)
        square[0, 0][here] = torch.from_numpy(np.ascontiguousarray(plane[there], dtype=np.float32))
        if self.side == self.size:
            return square[0]
        size = (self.size, self.size)
        scaled = functional.interpolate(square, size=size, mode="bilinear", antialias=True)
        return scaled[0].clamp(0, 1)

    def to_image(self, plane: Tensor) -> Plane:
        """Bring (size, size) values of the network's picture back to the image (H, W).

        Example:
            >>> frame = Frame.around((30, 40), (14.5, 19.5), 40, 40)
            >>> image = np.random.default_rng(0).random((30, 40), np.float32)
            >>> bool((frame.to_image(frame.to_network(image)[0]) == image).all())
            True
        """
        square = plane.detach().float()[None, None]
        if self.side != self.size:
            side = (self.side, self.side)
            square = functional.interpolate(square, size=side, mode="bilinear", align_corners=False)
        there, here = self._overlap
        image = np.zeros(self.shape, np.float32)
        image[there] = square[0, 0][here].numpy()
        return image

    def lay(self, plane: Tensor, support: Tensor) -> Tensor:
        """Bring values of the network's pixels back to the image without mixing in the ground.

        Args:
            plane: (size, size).
            support: (size, size) boolean: the pixels that count.

        Returns:
            (H, W); the lowest value of the support where nothing of it is near.

        Example:
            >>> frame = Frame.around((30, 40), (14.5, 19.5), 40, 20)
            >>> support = torch.zeros(20, 20, dtype=torch.bool)
            >>> support[8] = True
            >>> laid = frame.lay(torch.where(support, 3.0, -9.0), support)
            >>> float(laid.min()), float(laid.max())
            (3.0, 3.0)
        """
        lowest = float(plane[support].min()) if bool(support.any()) else 0.0
        values = torch.where(support, plane.float() - lowest, 0.0)
        above, there = (torch.from_numpy(self.to_image(p)) for p in (values, support.float()))
        return torch.where(there > 0, above / there.clamp(min=1e-6), 0.0) + lowest
