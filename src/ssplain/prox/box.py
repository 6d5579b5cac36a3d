"""Projection on S2, the masks with values in an interval."""

from torch import Tensor


def project_box(x: Tensor, low: float = 0.0, high: float = 1.0) -> Tensor:
    r"""Clip to the interval: \(\Pi_{S_2}(x)_i = \min(\max(x_i, low), high)\).

    >>> import torch
    >>> project_box(torch.tensor([[-0.5, 0.5, 1.5]]))
    tensor([[0.0000, 0.5000, 1.0000]])
    """
    return x.clamp(low, high)
