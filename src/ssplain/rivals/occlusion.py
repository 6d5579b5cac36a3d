"""Occlusion: what the output loses when a window of the image is blacked out."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import conv_transpose2d, max_pool2d, pad

from ssplain.errors import SSplainError
from ssplain.question.checks import require
from ssplain.question.protocol import Attributor, Question


class Occlusion(Attributor):
    r"""The loss of output \(f_y(X) - f_y(X_w)\), averaged over the windows w that hold a pixel.

    M. Zeiler and R. Fergus, Visualizing and understanding convolutional networks, ECCV 2014.
    Windows start at multiples of the stride; the last ones are cut off at the border (Captum's
    rule). Windows that are black already change nothing and are not tried: on sparse images that
    saves most of the work and no result. All others, of all images, run in common batches.

    Args:
        model: a module or function of `(N, C, H, W)`.
        window: side of the square window in pixels.
        stride: pixels from one window to the next, at most the window.
        settings: as for `Attributor`.

    >>> twice = Occlusion(lambda x: 2 * x.flatten(1))
    >>> twice.attribute(torch.tensor([[3.0, 5.0, 0.0]]), target=1)
    tensor([[[[ 0., 10.,  0.]]]])
    """

    def __init__(
        self,
        model: Callable[..., Any],
        *,
        window: int = 1,
        stride: int = 1,
        **settings: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(model, **settings)
        require("window", window, least=1, whole=True)
        require("stride", stride, least=1, whole=True)
        if stride > window:
            raise SSplainError(
                f"stride={stride} is larger than window={window}, which would leave pixels out; "
                "give a stride of at most the window."
            )
        self.window, self.stride = window, stride

    def maps(self, question: Question) -> Tensor:
        """Return the mean loss of output over the windows that hold each pixel."""
        images = question.images
        n, _, height, width = images.shape
        if self.window > min(height, width):
            raise SSplainError(
                f"window={self.window} does not fit into images of {height}x{width} pixels; "
                "give a smaller one."
            )
        lost = self._lost(question)
        kernel = torch.ones(1, 1, self.window, self.window).to(images)
        total = conv_transpose2d(lost, kernel, stride=self.stride)
        count = conv_transpose2d(torch.ones_like(lost[:1]), kernel, stride=self.stride)
        return (total / count)[..., :height, :width].reshape(n, 1, height, width)

    def _lost(self, question: Question) -> Tensor:
        """Return what each window is worth, `(N, 1, rows, columns)`."""
        images, window, stride = question.images, self.window, self.stride
        height, width = images.shape[-2:]
        lit = (images != 0).any(1, keepdim=True).to(images.dtype)
        # room for the last window, which may reach over the border
        room = [-(size - window) % stride for size in (height, width)]
        places = max_pool2d(pad(lit, (0, room[1], 0, room[0])), window, stride)
        lost = torch.zeros_like(places)
        image, _, row, column = places.nonzero(as_tuple=True)
        ys = torch.arange(height, device=images.device)[:, None]
        xs = torch.arange(width, device=images.device)

        def occluded(at: Tensor) -> Tensor:
            top = (row[at] * stride)[:, None, None]
            left = (column[at] * stride)[:, None, None]
            inside = (ys >= top) & (ys < top + window) & (xs >= left) & (xs < left + window)
            return images[image[at]].masked_fill(inside[:, None], 0.0)

        everyone = torch.arange(len(images), device=images.device)
        whole = question.quiet().answers(lambda at: images[at], everyone)
        if len(image) > 0:
            lost[image, 0, row, column] = whole[image] - question.answers(occluded, image)
        return lost
