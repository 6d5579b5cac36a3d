"""Anisotropic total variation of a batch of masks, and its subgradient in closed form."""

import torch
from torch import Tensor


def total_variation(x: Tensor, inside: Tensor | None = None) -> Tensor:
    r"""Sum of absolute differences between neighbours, one number per mask.

    \(\nu(M) = \sum_i \|M_{i\cdot} - M_{i-1\cdot}\|_1 + \sum_j \|M_{\cdot j} - M_{\cdot j-1}\|_1\)
    (Sunger et al., section 3.1), over the last two dimensions of `(N, ..., H, W)`.

    Args:
        x: the masks.
        inside: boolean like `x`; only neighbours that both lie inside count, so that a thin vessel
            does not pay for having an edge. All neighbours if None.

    >>> total_variation(torch.tensor([[[0.0, 1.0], [1.0, 1.0]]]))
    tensor([2.])
    >>> total_variation(torch.tensor([[[0.0, 1.0, 3.0]]]), torch.tensor([[[False, True, True]]]))
    tensor([2.])
    """
    down, across = _differences(x, inside)
    return down.abs().flatten(1).sum(1) + across.abs().flatten(1).sum(1)


def total_variation_gradient(
    x: Tensor, inside: Tensor | None = None, smooth: float = 0.0
) -> tuple[Tensor, Tensor]:
    r"""Total variation and the subgradient that is zero where neighbours are equal.

    The same as automatic differentiation gives, without building a graph. With `smooth` > 0, each
    difference d counts as \(\sqrt{d^2 + s^2} - s\), whose gradient has no jump at d = 0.

    >>> value, gradient = total_variation_gradient(torch.tensor([[[0.0, 1.0], [1.0, 1.0]]]))
    >>> gradient
    tensor([[[-2.,  1.],
             [ 1.,  0.]]])
    """
    down, across = _differences(x, inside)
    if smooth:
        lengths = [(d.square() + smooth**2).sqrt() for d in (down, across)]
        high, wide = ((one - smooth).flatten(1).sum(1) for one in lengths)
        value = high + wide
        down, across = down / lengths[0], across / lengths[1]
    else:
        value = down.abs().flatten(1).sum(1) + across.abs().flatten(1).sum(1)
        down, across = down.sign_(), across.sign_()
    gradient = torch.zeros_like(x)
    gradient[..., 1:, :] += down
    gradient[..., :-1, :] -= down
    gradient[..., 1:] += across
    gradient[..., :-1] -= across
    return value, gradient


def _differences(x: Tensor, inside: Tensor | None) -> tuple[Tensor, Tensor]:
    """Return how neighbours differ, down the rows and across the columns."""
    down, across = x.diff(dim=-2), x.diff(dim=-1)
    if inside is None:
        return down, across
    both_down = inside[..., 1:, :] & inside[..., :-1, :]
    both_across = inside[..., 1:] & inside[..., :-1]
    return down * both_down.to(x.dtype), across * both_across.to(x.dtype)
