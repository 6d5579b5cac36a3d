"""Projection on the l0 ball: at most k values differ from zero."""

import torch
from torch import Tensor

from ssplain.prox.ranking import top_k
from ssplain.prox.support import project_support


def project_l0(
    x: Tensor, k: Tensor, support: Tensor | None = None, order: Tensor | None = None
) -> Tensor:
    r"""Project on \(\{m : \|m\|_0 \le k\} \cap S_0\).

    The nearest point keeps the k entries of the support with the largest magnitude and drops the
    rest. (The paper says "the top values", which is the same for its non-negative masks; the
    iterate can be negative, and there only the magnitude gives the Euclidean projection.)

    Args:
        x: `(N, ...)`.
        k: `(N,)` whole numbers >= 0.
        support: boolean like `x`; all of it if not given.
        order: who comes first among equal magnitudes, see `top_k`.

    >>> project_l0(torch.tensor([[0.2, -0.9, 0.5]]), torch.tensor([2]))
    tensor([[ 0.0000, -0.9000,  0.5000]])
    """
    inside = x if support is None else project_support(x, support)
    return project_support(inside, top_k(inside.abs(), k, order))


def soften_l0(x: Tensor, k: Tensor, support: Tensor, width: float) -> Tensor:
    r"""Shrink what `project_l0` drops, without its jump between pixels that are nearly equal.

    \(x \cdot \sigma((|x| - t) / w)\) with the threshold t at which the weights of the support sum
    to k; the limit w = 0 is the projection. Equal magnitudes keep equal shares of the budget, where
    the projection has to choose some of them.

    Args:
        x: `(N, ...)`.
        k: `(N,)` whole numbers >= 0.
        support: boolean like `x`.
        width: w, in the unit of x.

    >>> x = torch.tensor([[0.5, 0.5, 0.0]])
    >>> soften_l0(x, torch.tensor([1]), torch.ones_like(x, dtype=torch.bool), 0.02)
    tensor([[0.2500, 0.2500, 0.0000]])
    """
    # on the CPU, since not every device has 64 bits; and a mask is the same on each
    size, inside, most = (t.cpu() for t in (x.abs().flatten(1), support.flatten(1), k[:, None]))
    low = torch.full_like(size[:, :1], -1.0)
    high = size.amax(1, keepdim=True) + 1.0
    for _ in range(30):  # halves the interval to below what 32 bits tell apart
        middle = (low + high) / 2
        # by tanh: of the two it is the one that gives a pixel the same bits in any batch
        weight = torch.tanh((size - middle) / (2 * width)) * 0.5 + 0.5
        many = (weight * inside).double().sum(1, keepdim=True) > most
        low, high = torch.where(many, middle, low), torch.where(many, high, middle)
    return x * (weight * inside).to(x.device).view_as(x)
