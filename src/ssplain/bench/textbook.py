"""Algorithm 1 for one image, written from the paper line by line: slow, plain, independent.

Shares no code with `ssplain.explain`, so that tests can hold the batched explainer against it, and
benchmarks can say what batching is worth.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

Vector = NDArray[np.float64]


def keep_largest(values: Vector, count: int) -> Vector:
    """Zero all but the entries of largest magnitude."""
    kept = np.zeros_like(values)
    best = np.argsort(-np.abs(values))[:count]
    kept[best] = values[best]
    return kept


def onto_l1_ball(values: Vector, count: int) -> Vector:
    """Shrink to the l1 norm that the largest `count` values have, by bisection."""
    radius = max(float(np.sort(values)[::-1][:count].sum()), 0.0)
    if np.abs(values).sum() <= radius:
        return values.copy()
    low, high = 0.0, float(np.abs(values).max())
    for _ in range(200):
        theta = (low + high) / 2
        if np.maximum(np.abs(values) - theta, 0).sum() > radius:
            low = theta
        else:
            high = theta
    return np.asarray(np.sign(values) * np.maximum(np.abs(values) - high, 0))


def textbook(
    model: nn.Module,
    image: Tensor,
    target: int,
    *,
    budget: float,
    norm: str,
    tv_weight: float,
    rho: float,
    lr: float,
    iterations: int,
    use_support: bool = True,
) -> Tensor:
    """Return M(K) on the image's shape (H, W), zero outside the support.

    The weights of the model stay unfrozen, as in a first version that anybody writes, so their
    gradients are computed too.

    >>> model = nn.Sequential(nn.Flatten(), nn.Linear(4, 2))
    >>> chosen = {"budget": 0.5, "norm": "l0", "tv_weight": 0.1, "rho": 0.1, "lr": 0.1}
    >>> image = torch.tensor([[0.0, 0.5], [1.0, 0.2]])
    >>> (textbook(model, image, 0, **chosen, iterations=3) != 0).tolist()
    [[False, True], [True, True]]
    """
    rows, columns = torch.nonzero((image != 0) | (not use_support), as_tuple=True)
    count = int(budget * len(rows))
    project = keep_largest if norm == "l0" else onto_l1_ball

    def numbers(tensor: Tensor) -> Vector:
        return np.asarray(tensor.detach().numpy(), dtype=np.float64)

    start = (image / image.max())[rows, columns]
    m = start.clone().requires_grad_()
    optimiser = torch.optim.Adam([m], lr=lr)
    u1 = torch.zeros_like(start)
    u2 = torch.zeros_like(start)
    m1 = torch.from_numpy(project(numbers(start), count)).to(start)
    m2 = start.clamp(0, 1)
    for _ in range(iterations):
        optimiser.zero_grad()
        model.zero_grad()
        mask = torch.zeros_like(image).index_put((rows, columns), m)
        logits = model((image * mask)[None, None])
        loss = nn.functional.cross_entropy(logits, torch.tensor([target]))
        variation = (mask[1:] - mask[:-1]).abs().sum() + (mask[:, 1:] - mask[:, :-1]).abs().sum()
        penalty = ((m - m1 + u1) ** 2).sum() + ((m - m2 + u2) ** 2).sum()
        total = loss + tv_weight * variation + rho / 2 * penalty
        torch.autograd.backward(total)
        optimiser.step()
        with torch.no_grad():
            m1 = torch.from_numpy(project(numbers(m + u1), count)).to(start)
            m2 = (m + u2).clamp(0, 1)
            u1 = u1 + rho * (m - m1)
            u2 = u2 + rho * (m - m2)
    return torch.zeros_like(image).index_put((rows, columns), m.detach())
