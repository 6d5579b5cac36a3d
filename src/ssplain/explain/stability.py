r"""How much of a map stays when the image changes by less than anybody can see.

A map may turn on rounding: noise of a millionth decides between pixels that are as good as each
other. Whoever reads it should know. Each image is explained again with uniform noise on its
support; the share of the highest-ranking quarter that stays, and the rank correlation on the
support, say how far the map can be taken at its word.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ssplain.errors import SSplainError
from ssplain.prox import top_k
from ssplain.question.inputs import pixel_budget

Numbers = NDArray[np.float64]

# rounding, as another machine or batch may bring; and a quarter of a grey level of 8 bits
RADII = (1e-6, 1e-3)
DRAWS = 3
SHARE = 0.25  # of the support: how much of a map is looked at first
STEADY = 0.95  # a map of which less stays under rounding is told of


@dataclass(frozen=True, eq=False)
class Stability:
    """How much of the maps of N images stays under noise.

    Attributes:
        radii: of the noise, in units of the image; R of them.
        draws: how often each image was explained again at each radius.
        overlap: `(R, N)`, the mean share of the top quarter of the support that stays there.
        ranks: `(R, N)`, the mean rank correlation with the map without noise, on the support.
    """

    radii: tuple[float, ...]
    draws: int
    overlap: Tensor
    ranks: Tensor

    @property
    def steady(self) -> Tensor:
        """Whether the least noise leaves 95 % of the top quarter in place, `(N,)`."""
        return self.overlap[self.radii.index(min(self.radii))] >= STEADY

    def take(self, row: int) -> "Stability":
        """Return that of one image, still as one of a batch."""
        rows = slice(row, row + 1)
        return Stability(self.radii, self.draws, self.overlap[:, rows], self.ranks[:, rows])

    def numbers(self, row: int) -> dict[str, float]:
        """Return the numbers of one image by name.

        >>> one = torch.tensor([[0.5]])
        >>> Stability((1e-6,), 1, one, one).numbers(0)
        {'overlap_1e-06': 0.5, 'ranks_1e-06': 0.5}
        """
        found = {}
        for radius, overlap, ranks in zip(self.radii, self.overlap, self.ranks, strict=True):
            found[f"overlap_{radius:.0e}"] = round(float(overlap[row]), 6)
            found[f"ranks_{radius:.0e}"] = round(float(ranks[row]), 6)
        return found

    def about(self) -> dict[str, Any]:
        """Return all of it, ready for JSON."""
        lists = {"overlap": self.overlap.tolist(), "ranks": self.ranks.tolist()}
        return {"radii": list(self.radii), "draws": self.draws, **lists}

    @staticmethod
    def read(about: Mapping[str, Any]) -> "Stability":
        """Read what `about` wrote."""
        overlap, ranks = (torch.tensor(about[name]).double() for name in ("overlap", "ranks"))
        return Stability(tuple(about["radii"]), int(about["draws"]), overlap, ranks)


def measure_stability(
    explain: Callable[[Tensor], Tensor],
    images: Tensor,
    support: Tensor,
    *,
    scores: Tensor | None = None,
    radii: Sequence[float] = RADII,
    draws: int = DRAWS,
    seed: int = 0,
) -> Stability:
    """Explain images again under noise, and say how much of each map stays.

    It costs as much as explaining all images `len(radii) * draws` times.

    Args:
        explain: returns maps `(N, 1, H, W)` for images; fix the target in it, or noise may change
            the question.
        images: `(N, C, H, W)`.
        support: `(N, 1, H, W)` boolean. Noise falls here alone: a noisy background would be
            another image.
        scores: `(N, 1, H, W)`, the maps without noise; made if they are not given.
        radii: of the noise, uniform in [-radius, radius].
        draws: how many noisy copies of each image for each radius.
        seed: of the noise, which is the same field for each image, whatever its neighbours.

    >>> images = torch.rand(2, 1, 6, 6)
    >>> found = measure_stability(lambda x: x.round(decimals=2), images, images > 0, draws=1)
    >>> bool((found.overlap[0] > 0.8).all())
    True
    """
    if draws < 1 or not radii or not all(radius > 0 for radius in radii):
        raise SSplainError(
            f"draws={draws!r} and radii={radii!r} do not work; give at least one draw, and radii "
            "above 0."
        )
    first = explain(images) if scores is None else scores
    inside = support.to(first.device)
    k = pixel_budget(inside, SHARE)
    kept = _top(first, inside, k)
    generator = torch.Generator().manual_seed(seed)
    # drawn on the CPU, so that every device sees the same noise
    fields = [2 * torch.rand(images.shape[1:], generator=generator) - 1 for _ in range(draws)]
    overlap, ranks = [], []
    for radius in radii:
        moved = [explain(images + support * field.to(images) * radius) for field in fields]
        shared = [(kept & _top(one, inside, k)).flatten(1).sum(1) / k for one in moved]
        overlap.append(torch.stack(shared).cpu().double().mean(0))
        ranks.append(torch.stack([rank_agreement(first, one, inside) for one in moved]).mean(0))
    return Stability(tuple(radii), draws, torch.stack(overlap), torch.stack(ranks))


def _top(maps: Tensor, inside: Tensor, k: Tensor) -> Tensor:
    return top_k(maps.masked_fill(~inside, -torch.inf), k)


def rank_agreement(first: Tensor, second: Tensor, inside: Tensor) -> Tensor:
    """Return Spearman's rank correlation of two maps `(N, 1, H, W)` on the support, `(N,)`.

    >>> maps = torch.tensor([[[[1.0, -2.0, 3.0, 9.0]]]])
    >>> rank_agreement(maps, -maps, torch.tensor([[[[True, True, True, False]]]])).item()
    -1.0
    """
    rows = [
        torch.where(inside.cpu(), side.detach().cpu().double(), torch.nan).flatten(1).numpy()
        for side in (first, second)
    ]
    return torch.from_numpy(rank_correlation(*rows))


def rank_correlation(first: Numbers, second: Numbers) -> Numbers:
    """Return Spearman's correlation of each row `(N, P)` with its partner; NaN is left out.

    Where one side is constant there is no order to agree with, and the correlation is 0.

    >>> rank_correlation(np.array([[1.0, 5.0, 9.0]]), np.array([[0.1, 0.4, 0.2]]))
    array([0.5])
    """
    from scipy.stats import rankdata  # noqa: PLC0415 - half a second, and seldom wanted

    ranks = [rankdata(side, axis=1, nan_policy="omit") for side in (first, second)]
    a, b = (r - np.nanmean(r, axis=1, keepdims=True) for r in ranks)
    scale = np.sqrt(np.nansum(a * a, axis=1) * np.nansum(b * b, axis=1))
    together: Numbers = np.nansum(a * b, axis=1)
    correlation: Numbers = np.divide(together, scale, out=np.zeros_like(scale), where=scale > 0)
    return correlation
