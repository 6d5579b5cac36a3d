"""Projection on the l0 ball: at most k values differ from zero."""

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

    >>> import torch
    >>> project_l0(torch.tensor([[0.2, -0.9, 0.5]]), torch.tensor([2]))
    tensor([[ 0.0000, -0.9000,  0.5000]])
    """
    inside = x if support is None else project_support(x, support)
    return project_support(inside, top_k(inside.abs(), k, order))
