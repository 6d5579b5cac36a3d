"""Projection on the l1 ball: the magnitudes sum to at most the radius."""

import torch
from torch import Tensor

from ssplain.prox.support import project_support


def project_l1(x: Tensor, radius: Tensor, support: Tensor | None = None) -> Tensor:
    r"""Project on \(\{m : \|m\|_1 \le r\} \cap S_0\).

    Points inside the ball stay. Outside, every magnitude shrinks by the same
    \(\theta = (\sum_{j \le \rho} u_j - r) / \rho\), where u holds the magnitudes in descending
    order and \(\rho\) is the last index with \(u_\rho > (\sum_{j \le \rho} u_j - r) / \rho\)
    (Duchi et al., Efficient Projections onto the l1-Ball, ICML 2008, Figure 1; sorting).

    Args:
        x: `(N, ...)`.
        radius: `(N,)` values >= 0.
        support: boolean like `x`; all of it if not given.

    >>> project_l1(torch.tensor([[3.0, -2.0, 0.5]]), torch.tensor([3.0]))
    tensor([[ 2., -1.,  0.]])
    """
    inside = x if support is None else project_support(x, support)
    size = inside.flatten(1).abs()
    if size.shape[1] == 0:
        return inside
    descending = size.sort(dim=1, descending=True).values
    count = torch.arange(1, size.shape[1] + 1, device=x.device, dtype=x.dtype)
    shrink = (descending.cumsum(1) - radius[:, None]) / count
    last = (descending > shrink).sum(1, keepdim=True).clamp(min=1) - 1
    theta = shrink.gather(1, last).clamp(min=0.0)
    shrunk = (size - theta).clamp(min=0.0).view_as(x)
    outside = (size.sum(1) > radius).view(-1, *[1] * (x.dim() - 1))
    return torch.where(outside, shrunk * inside.sign(), inside)
