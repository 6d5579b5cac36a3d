"""How connected the first pixels of a map are: the largest connected component.

Two rules. The paper's appendix links neighbours (up, down, left, right) whose values *differ*;
under it a flat bar of 539 pixels has a largest component of 3, and at half the pixels scattered
ones score higher than contiguous ones. The foreground rule links neighbours that are both there,
and is what one means by connected; it is the default.

Reference: Sunger et al., WACV 2026, section 4.3 and appendix.
"""

from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import ndimage
from torch import Tensor

from ssplain.errors import SSplainError
from ssplain.explain.inputs import Support, as_batch
from ssplain.metrics.order import FINE_POINTS, Axis, steps

Rule = Literal["foreground", "printed"]

# neighbours within a plane of a stack, none between planes
_FOUR = np.zeros((3, 3, 3), dtype=bool)
_FOUR[1] = ndimage.generate_binary_structure(2, 1)


def largest_component(images: Tensor, rule: Rule = "foreground") -> Tensor:
    """Return how many pixels the largest connected component of each image has, `(N,)`.

    Args:
        images: `(N, C, H, W)`; a pixel is there if any channel differs from zero, and two differ
            if any channel does.
        rule: "foreground" or "printed".

    >>> bar = torch.tensor([[[[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]]])
    >>> largest_component(bar).item(), largest_component(bar, "printed").item()
    (3, 3)
    """
    planes = images.detach().cpu().numpy()
    if rule == "foreground":
        there = (planes != 0).any(axis=1)
        return torch.from_numpy(_largest(there, there))
    if rule != "printed":
        raise SSplainError(f"rule={rule!r} is not known; use 'foreground' or 'printed'.")
    n, _, height, width = planes.shape
    down = (planes[:, :, 1:] != planes[:, :, :-1]).any(axis=1)
    across = (planes[..., 1:] != planes[..., :-1]).any(axis=1)
    # a grid of twice the size, with a cell for each pixel and one for each link between two
    grid = np.zeros((n, 2 * height - 1, 2 * width - 1), dtype=bool)
    grid[:, 1::2, ::2], grid[:, ::2, 1::2] = down, across
    # the graph is made of links: a pixel without one is not in it
    linked = np.zeros((n, height, width), dtype=bool)
    linked[:, 1:] = down
    linked[:, :-1] |= down
    linked[..., 1:] |= across
    linked[..., :-1] |= across
    grid[:, ::2, ::2] = linked
    return torch.from_numpy(_largest(grid, linked))


def connected(
    images: Tensor,
    maps: Tensor,
    *,
    rule: Rule = "foreground",
    axis: Axis = "all",
    points: int = FINE_POINTS,
    support: Support = "nonzero",
    seed: int = 0,
) -> Tensor:
    """Return the largest component of X_s as a share of the largest of X, `(N, points)`.

    An image that has no component, such as a flat one under the printed rule, has zeros.

    >>> X = torch.tensor([[[[1.0, 1.0, 1.0, 1.0]]]])
    >>> M = torch.tensor([[[[4.0, 1.0, 2.0, 3.0]]]])
    >>> connected(X, M, points=5)
    tensor([[0.0000, 0.2500, 0.2500, 0.5000, 1.0000]], dtype=torch.float64)
    """
    batch = as_batch(images)
    order, counts = steps(batch, maps, axis, points, support=support, seed=seed)
    whole = largest_component(batch, rule).double()
    ranks = order.rank.view(-1, 1, *batch.shape[-2:])
    # one image at a time: all steps of all images at once would not fit into memory
    found = torch.stack(
        [
            largest_component(image * (rank < count[:, None, None, None]), rule)
            for image, rank, count in zip(batch, ranks, counts, strict=True)
        ]
    )
    return found / whole.clamp(min=1)[:, None]


def _largest(cells: NDArray[np.bool_], pixels: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Label all planes at once; count the pixels in the largest component of each.

    Args:
        cells: `(N, ...)` what is labelled, on the grid of the pixels or on one twice as fine.
        pixels: `(N, H, W)` which pixels there are.
    """
    labels, found = ndimage.label(cells, structure=_FOUR)
    finer = 1 if cells.shape == pixels.shape else 2
    sizes = np.bincount(labels[:, ::finer, ::finer][pixels], minlength=found + 1)
    # labels rise from plane to plane, so the last of a plane tells which are its own
    last = labels.reshape(len(labels), -1).max(axis=1)
    owner = np.searchsorted(np.maximum.accumulate(last), np.arange(1, found + 1))
    largest = np.zeros(len(labels), dtype=np.int64)
    np.maximum.at(largest, owner, sizes[1:])
    return largest
