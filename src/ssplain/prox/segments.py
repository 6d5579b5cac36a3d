"""Projection on the masks that are constant on each of given segments."""

import torch
from torch import Tensor


def project_segments(x: Tensor, labels: Tensor) -> Tensor:
    r"""Replace each value by the mean over its segment.

    The masks that are constant on segments are a linear space; its nearest point has, on each
    segment, the constant with the smallest squared distance to the values there: their mean.

    Args:
        x: `(N, ...)`.
        labels: whole numbers like `x`; pixels with 0 belong to no segment and stay.

    >>> x = torch.tensor([[1.0, 3.0, 5.0, 7.0]])
    >>> project_segments(x, torch.tensor([[1, 1, 0, 2]]))
    tensor([[2., 2., 5., 7.]])
    """
    flat, where = x.flatten(1), labels.flatten(1)
    size = int(where.max()) + 1 if where.numel() else 1
    sums = flat.new_zeros(len(flat), size).scatter_add(1, where, flat)
    counts = flat.new_zeros(len(flat), size).scatter_add(1, where, torch.ones_like(flat))
    means = (sums / counts.clamp(min=1.0)).gather(1, where)
    return torch.where(where > 0, means, flat).view_as(x)
