"""Does a map point at the diseased vessels? For images whose truth is known, as simulated ones are.

Pixels are ranked within the support, since finding the vessels on a black ground is no merit, and
each number comes with what a random order within the support would reach on average.
"""

from dataclasses import dataclass, fields

import torch
from torch import Tensor

from ssplain.ask.batching import as_batch
from ssplain.errors import SSplainError
from ssplain.metrics.order import at_counts, check_maps, rank_pixels
from ssplain.question.inputs import Support, find_support


@dataclass(frozen=True, eq=False)
class Scores:
    """Four numbers per image, `(N,)` each; NaN for images without a diseased pixel.

    Attributes:
        precision: the share of the map's top pixels that is diseased.
        recall: the share of the diseased pixels among the map's top ones.
        pointing: whether the highest pixel is diseased (the pointing game).
        average_precision: mean precision at the diseased pixels of the order.
    """

    precision: Tensor
    recall: Tensor
    pointing: Tensor
    average_precision: Tensor

    def mean(self) -> dict[str, float]:
        """Average each score over the images that have disease."""
        return {f.name: float(getattr(self, f.name).nanmean()) for f in fields(self)}


@dataclass(frozen=True, eq=False)
class Localisation:
    """How well maps point at the truth, and how well a random order within the support would."""

    observed: Scores
    random: Scores


def localise(
    images: Tensor,
    maps: Tensor,
    truth: Tensor,
    *,
    share: float = 0.1,
    support: Support = "nonzero",
    seed: int = 0,
) -> Localisation:
    r"""Compare the order of a map with the diseased pixels.

    With m of n pixels diseased, a random order has precision and pointing m / n, a recall of the
    share taken, and an average precision of
    \(\frac{H_n}{n} + \frac{m - 1}{n - 1} (1 - \frac{H_n}{n})\), where \(H_n = \sum_{k=1}^n 1/k\).

    Args:
        images: `(N, C, H, W)`.
        maps: `(N, 1, H, W)`.
        truth: `(N, 1, H, W)`, above zero where diseased; pixels outside the support do not count.
        share: how much of the support precision and recall look at.
        support: as in `SSplain`.
        seed: of the order among equal scores.

    >>> X = torch.ones(1, 1, 1, 4)
    >>> found = localise(X, torch.tensor([[[[4.0, 3.0, 2.0, 1.0]]]]),
    ...                  torch.tensor([[[[1.0, 0.0, 1.0, 0.0]]]]), share=0.5)
    >>> found.observed.precision.item(), round(found.observed.average_precision.item(), 3)
    (0.5, 0.833)
    >>> found.random.precision.item()
    0.5
    """
    batch = as_batch(images)
    if not 0 < share <= 1:
        raise SSplainError(f"share={share!r} is not a share of the support; give 0.1, say.")
    if tuple(truth.shape) != (len(batch), 1, *batch.shape[-2:]):
        raise SSplainError(
            f"The truth has shape {tuple(truth.shape)} and the images {tuple(batch.shape)}; give "
            "one value per pixel, (N, 1, H, W)."
        )
    inside = find_support(batch, support)
    order = rank_pixels(check_maps(maps, batch), inside, seed)
    diseased = (truth.to(batch.device) > 0) & inside
    hits = diseased.flatten(1).gather(1, order.pixels).double()
    found = hits.cumsum(1)
    n, m = order.size.double(), found[:, -1]
    k = (order.size * share + 0.5).floor().long().clamp(min=1)
    top = at_counts(found, k[:, None]).squeeze(1)
    places = torch.arange(1, hits.shape[1] + 1, device=hits.device, dtype=torch.float64)
    harmonic = (1 / places).cumsum(0)[order.size - 1] / n
    none = torch.where(m > 0, 0.0, torch.nan)  # added to every score: no disease, no score
    return Localisation(
        observed=Scores(
            precision=(top / k + none).cpu(),
            recall=(top / m + none).cpu(),
            pointing=(hits[:, 0] + none).cpu(),
            average_precision=((hits * found / places).sum(1) / m + none).cpu(),
        ),
        random=Scores(
            precision=(m / n + none).cpu(),
            recall=(k / n + none).cpu(),
            pointing=(m / n + none).cpu(),
            average_precision=(
                harmonic + (m - 1) / (n - 1).clamp(min=1) * (1 - harmonic) + none
            ).cpu(),
        ),
    )
