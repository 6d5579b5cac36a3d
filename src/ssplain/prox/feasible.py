"""Exact projections on all three sets at once: support, sparsity and the box [0, 1].

The copies of the ADMM each satisfy one set; these functions give the nearest mask that satisfies
all of them, which is what may be called sparse.
"""

import torch
from torch import Tensor

from ssplain.prox.box import project_box
from ssplain.prox.ranking import top_k
from ssplain.prox.support import project_support


def project_l0_box(
    x: Tensor, k: Tensor, support: Tensor | None = None, order: Tensor | None = None
) -> Tensor:
    r"""Project on \(\{m : \|m\|_0 \le k,\ 0 \le m \le 1\} \cap S_0\).

    Keeping entry i instead of dropping it saves \(x_i^2 - (x_i - \Pi_{[0,1]}(x_i))^2\), which
    is zero for negative values and grows with \(x_i\) for positive ones. So the nearest point
    keeps the k largest values (not magnitudes) of the support and clips them.

    >>> project_l0_box(torch.tensor([[0.2, -0.9, 1.5]]), torch.tensor([2]))
    tensor([[0.2000, 0.0000, 1.0000]])
    """
    inside = project_box(x if support is None else project_support(x, support))
    # Rank by x, not by the clipped values: those above 1 would all be equal.
    ranked = x if support is None else x.masked_fill(~support, -torch.inf)
    return project_support(inside, top_k(ranked, k, order))


def project_l1_box(x: Tensor, radius: Tensor, support: Tensor | None = None) -> Tensor:
    r"""Project on \(\{m : \|m\|_1 \le r,\ 0 \le m \le 1\} \cap S_0\).

    The nearest point is \(\Pi_{[0,1]}(x - \theta)\) with the smallest \(\theta \ge 0\) whose
    sum is at most r. The sum is piecewise linear and falls with \(\theta\), with corners at
    \(x_i\) and \(x_i - 1\): evaluate it at the sorted corners, interpolate between the two that
    enclose r.

    >>> project_l1_box(torch.tensor([[0.9, 0.7, -3.0]]), torch.tensor([1.0]))
    tensor([[0.6000, 0.4000, 0.0000]])
    """
    inside = x if support is None else project_support(x, support)
    flat = inside.flatten(1)
    if flat.shape[1] == 0:
        return inside
    # The k-th corner from above: the slope grows by one at each x_i (it enters) and falls by one
    # at each x_i - 1 (it is full), so sums at all corners are a running sum over the gaps.
    corners, position = torch.cat([flat, flat - 1.0], dim=1).sort(dim=1, descending=True)
    rising = torch.where(position < flat.shape[1], 1.0, -1.0).to(x.dtype).cumsum(1)
    gained = rising[:, :-1] * (corners[:, :-1] - corners[:, 1:])
    sums = torch.cat([torch.zeros_like(gained[:, :1]), gained.cumsum(1)], dim=1)
    before = (sums <= radius[:, None]).sum(1, keepdim=True).clamp(max=sums.shape[1]) - 1
    slope = rising.gather(1, before).clamp(min=1.0)
    theta = corners.gather(1, before) - (radius[:, None] - sums.gather(1, before)) / slope
    shrunk = project_box(flat - theta.clamp(min=0.0)).view_as(x)
    return shrunk if support is None else project_support(shrunk, support)
