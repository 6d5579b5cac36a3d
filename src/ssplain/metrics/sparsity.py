r"""How much of an image a map lets in, how concentrated it is, and how rough.

\(\kappa_s = \|X_s\|_1 / \|X\|_1\) is the share of an image's brightness among the first pixels of
an order (Sunger et al., section 4.2): it stays low as long as a map ranks the background first.
"""

import torch
from torch import Tensor

from ssplain import prox
from ssplain.ask.batching import as_batch
from ssplain.errors import SSplainError
from ssplain.metrics.order import FINE_POINTS, Axis, at_counts, brightness_share, steps
from ssplain.question.inputs import Support


def kappa(
    images: Tensor,
    maps: Tensor,
    *,
    axis: Axis = "all",
    points: int = FINE_POINTS,
    support: Support = "nonzero",
    seed: int = 0,
) -> Tensor:
    """Return the normalised sparsity of each image at each step, `(N, points)`.

    Each image has its own ratio; their mean over images is not the ratio of the means.

    >>> X = torch.tensor([[[[0.0, 1.0, 3.0, 0.0]]]])
    >>> kappa(X, X, points=5)
    tensor([[0.0000, 0.7500, 1.0000, 1.0000, 1.0000]], dtype=torch.float64)
    """
    batch = as_batch(images)
    order, counts = steps(batch, maps, axis, points, support=support, seed=seed)
    return at_counts(brightness_share(batch, order), counts.cpu())


def gini(maps: Tensor, inside: Tensor | None = None) -> Tensor:
    r"""Return how concentrated each map's magnitude is, `(N,)`: 0 is even, near 1 is one pixel.

    \(1 - 2 \sum_k \frac{v_{(k)}}{\|v\|_1} \frac{P - k + 1/2}{P}\) for the P magnitudes in rising
    order (Hurley and Rickard, IEEE Trans. Information Theory 55, 2009). A map of zeros has 0.

    Args:
        maps: `(N, 1, H, W)`.
        inside: `(N, 1, H, W)` boolean; only these pixels count. A map that is zero outside the
            support is concentrated for that reason alone.

    >>> gini(torch.tensor([[1.0, 1.0], [0.0, 4.0]]))
    tensor([0.0000, 0.5000], dtype=torch.float64)
    """
    values = _finite(maps).flatten(1).double().abs()
    within = torch.ones_like(values, dtype=torch.bool) if inside is None else inside.flatten(1)
    rising = values.masked_fill(~within, -1.0).sort(dim=1).values
    size = within.sum(1, keepdim=True)
    place = torch.arange(1, values.shape[1] + 1, device=maps.device) - (values.shape[1] - size)
    weight = (size - place + 0.5).double() / size.clamp(min=1)
    rising = rising.masked_fill(place < 1, 0.0)
    total = rising.sum(1)
    spread = 1 - 2 * (rising * weight).sum(1) / total.clamp(min=torch.finfo(torch.float64).tiny)
    return torch.where(total > 0, spread, 0.0)


def roughness(maps: Tensor) -> Tensor:
    """Return the total variation of each map, scaled to a range of 1, per pixel, `(N,)`.

    Scaled, since explainers have units of their own. A constant map has 0.

    >>> roughness(torch.tensor([[[[0.0, 10.0], [0.0, 10.0]]]]))
    tensor([0.5000], dtype=torch.float64)
    """
    values = _finite(maps).double()
    span = values.flatten(1).amax(1) - values.flatten(1).amin(1)
    variation = prox.total_variation(values) / values[0].numel()
    return variation / torch.where(span > 0, span, 1.0)


def _finite(maps: Tensor) -> Tensor:
    if maps.numel() == 0 or not bool(torch.isfinite(maps).all()):
        raise SSplainError(
            f"The maps of shape {tuple(maps.shape)} are empty or hold NaN or infinite values; "
            "compute them again, or leave those images out."
        )
    return maps
