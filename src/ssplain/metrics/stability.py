"""Does a map stay the same when nothing that matters changes: a little noise, another seed?"""

from collections.abc import Callable
from itertools import combinations

import torch
from torch import Tensor

from ssplain.ask.batching import as_batch
from ssplain.errors import SSplainError
from ssplain.metrics.agreement import spearman
from ssplain.metrics.order import check_maps
from ssplain.question.inputs import Support, find_support


def max_sensitivity(
    explain: Callable[[Tensor], Tensor],
    images: Tensor,
    *,
    radius: float = 0.02,
    draws: int = 10,
    support: Support = "nonzero",
    seed: int = 0,
) -> Tensor:
    r"""Return how far a map moves at most under small noise, relative to its size, `(N,)`.

    \(\max_{\|r\|_\infty \le \epsilon} \|E(X + r) - E(X)\|_2 / \|E(X)\|_2\), estimated by uniform
    noise (Yeh et al., On the (in)fidelity and sensitivity of explanations, NeurIPS 2019). Lower is
    better; a map of zeros is divided by 1.

    Args:
        explain: returns maps `(N, 1, H, W)` for images; fix the target in it.
        images: `(N, C, H, W)`.
        radius: of the noise, in the unit of the images.
        draws: how many noisy copies of each image.
        support: noise falls here only, since a noisy background would be another support; None for
            everywhere.
        seed: of the noise, which is the same field for each image.

    >>> max_sensitivity(lambda x: x * 0 + 1, torch.rand(2, 1, 4, 4)).tolist()
    [0.0, 0.0]
    """
    batch = as_batch(images)
    if not radius > 0 or draws < 1:
        raise SSplainError(
            f"radius={radius!r} and draws={draws!r} do not work; give a radius above 0 and at "
            "least 1 draw."
        )
    inside = find_support(batch, support)
    original = check_maps(explain(batch), batch).cpu().double().flatten(1)
    size = original.norm(dim=1)
    size = torch.where(size > 0, size, 1.0)
    generator = torch.Generator().manual_seed(seed)
    worst = torch.zeros_like(size)
    for _ in range(draws):
        field = torch.rand(batch.shape[1:], generator=generator, dtype=batch.dtype)
        noisy = batch + inside * (2 * field - 1).to(batch.device) * radius
        moved = check_maps(explain(noisy), batch).cpu().double().flatten(1) - original
        worst = torch.maximum(worst, moved.norm(dim=1) / size)
    return worst


def seed_agreement(runs: Tensor, inside: Tensor) -> Tensor:
    """Return the mean rank correlation of every two runs of an explainer, `(N,)`.

    Args:
        runs: `(R, N, 1, H, W)`, the maps of R >= 2 seeds.
        inside: `(N, 1, H, W)` boolean, the support.

    >>> maps = torch.rand(1, 2, 1, 4, 4).expand(3, -1, -1, -1, -1)
    >>> seed_agreement(maps, torch.ones(2, 1, 4, 4, dtype=torch.bool)).round(decimals=6).tolist()
    [1.0, 1.0]
    """
    if len(runs) < 2:
        raise SSplainError(f"There are {len(runs)} runs; give the maps of at least 2 seeds.")
    return torch.stack([spearman(a, b, inside) for a, b in combinations(runs, 2)]).mean(0)
