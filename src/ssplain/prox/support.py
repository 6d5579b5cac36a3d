"""Projection on S0, the masks that vanish outside a given set of pixels."""

from torch import Tensor


def project_support(x: Tensor, support: Tensor) -> Tensor:
    r"""Set everything outside the support to zero: \(\Pi_{S_0}(x) = x \odot 1_{S_0}\).

    >>> import torch
    >>> project_support(torch.tensor([[3.0, -1.0]]), torch.tensor([[True, False]]))
    tensor([[3., 0.]])
    """
    # masked_fill, not a product: -0.0 and infinities must not survive outside the support
    return x.masked_fill(~support, 0.0)
