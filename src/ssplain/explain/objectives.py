r"""What is asked of a mask: that it keeps the class, removes it, both, or ranks the pixels rightly.

Each objective is a term, or a pair of terms, of the problem that the solver minimises:

- "preserve", the paper's: \(-\log f_y(X \odot M)\);
- "delete": \(-\log(1 - f_y(X \odot (1 - M)))\);
- "dual": their sum;
- "ranking": at each iteration another share s of the support is cut off at the mask's own level,
  and the loss is what insertion and deletion will measure there.

With a single target the weights w of the classes are one-hot; with the posterior as target, each
loss is the expectation under it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self, get_args

import torch
from torch import Tensor

from ssplain.ask.adapter import Classifier
from ssplain.ask.model_pass import LogSoftmax
from ssplain.errors import SSplainError
from ssplain.prox import share_threshold
from ssplain.solve import Term

Objective = Literal["preserve", "delete", "dual", "ranking"]
OBJECTIVES: tuple[Objective, ...] = get_args(Objective)
Shares = Literal["spread", "random"] | Sequence[float]

TEMPERING = 0.5  # the model's log-odds count half, so that a certain model still has gradients
GOLDEN = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True, eq=False)
class _OfClass(Term):
    """A loss of images made from the given ones, for the classes that are explained."""

    classifier: Classifier
    images: Tensor
    weights: Tensor

    def take(self, rows: Tensor) -> Self:
        """Return the loss for some of the images."""
        return replace(
            self,
            classifier=self.classifier.take(rows),
            images=self.images[rows],
            weights=self.weights[rows],
        )


@dataclass(frozen=True, eq=False)
class ClassLoss(_OfClass):
    r"""Cross-entropy of the masked image, \(-\sum_c w_c \log f_c(X \odot M)\)."""

    name: ClassVar[str] = "loss"

    def value(self, masks: Tensor) -> Tensor:
        """Return the loss of each masked image."""
        log_p = self.classifier.log_probabilities(self.images * masks)
        return -(self.weights * log_p).sum(1)


@dataclass(frozen=True, eq=False)
class RemovalLoss(_OfClass):
    r"""What is left of the class without the mask.

    \(-\sum_c w_c \log(1 - f_c(X \odot (1 - M)))\), zero when nothing is left.
    """

    name: ClassVar[str] = "removal"

    def value(self, masks: Tensor) -> Tensor:
        """Return the loss of each image without what the mask holds."""
        log_p = self.classifier.log_probabilities(self.images * (1 - masks))
        return -(self.weights * log_of_others(log_p)).sum(1)


@dataclass(frozen=True, eq=False)
class RankingLoss(_OfClass):
    r"""What insertion and deletion measure, at one share of the support after the other.

    At share s the mask is cut softly at its own level \(t_s\), above which that share of the
    support lies: \(m_s = \sigma((M - t_s) / \tau)\) on the support, 0 elsewhere. Even iterations
    ask that what is kept shows the class, \(1 - q_y(X \odot m_s)\); odd ones that the rest does
    not, \(q_y(X \odot (1 - m_s))\), each one pass of the model. q is the model's probability with
    its log-odds halved: summed over the shares, the loss is the area under the deletion curve less
    that under the insertion curve, for a model that is less certain and therefore has gradients.

    Attributes:
        inside: `(N, 1, H, W)` boolean, the support.
        shares: one for each pair of iterations; begins anew when used up.
        softness: tau.
        iteration: which one, from 0.
    """

    inside: Tensor
    shares: tuple[float, ...]
    softness: float
    iteration: int = 0
    name: ClassVar[str] = "ranking"

    def at(self, iteration: int) -> "RankingLoss":
        """Return the loss with this iteration's share and side."""
        return replace(self, iteration=iteration)

    def value(self, masks: Tensor) -> Tensor:
        """Return the loss of this iteration, from 0 to 1."""
        share = self.shares[self.iteration // 2 % len(self.shares)]
        level = share_threshold(masks.detach(), self.inside, share)
        held = torch.sigmoid((masks - level) / self.softness) * self.inside.to(masks.dtype)
        if self.iteration % 2 == 0:
            return 1 - self._shown(held)
        return self._shown(1 - held)

    def _shown(self, masks: Tensor) -> Tensor:
        """Return how much of the class the masked images show."""
        log_p = self.classifier.log_probabilities(self.images * masks)
        tempered: Tensor = LogSoftmax.apply(TEMPERING * log_p)  # type: ignore[no-untyped-call]
        return (self.weights * tempered.exp()).sum(1)

    def take(self, rows: Tensor) -> Self:
        """Return the loss for some of the images."""
        return replace(super().take(rows), inside=self.inside[rows])


def log_of_others(log_p: Tensor) -> Tensor:
    """Return log(1 - p) from log p, `(N, classes)`, with all digits where p is almost 1.

    >>> log_of_others(torch.tensor([[-1e-12, -27.631]], dtype=torch.float64))
    tensor([[-2.7631e+01, -1.0000e-12]], dtype=torch.float64)
    """
    winner = log_p.argmax(1, keepdim=True)
    rest = log_p.scatter(1, winner, -torch.inf)
    return torch.log1p(-rest.exp()).scatter(1, winner, rest.logsumexp(1, keepdim=True))


def share_schedule(shares: Shares, iterations: int, seed: int = 0) -> tuple[float, ...]:
    r"""Return the shares of the support at which a ranking is looked at, one for two iterations.

    Decisions change while few pixels are in, so small shares come more often: shares are the
    squares of numbers that fill [0, 1] evenly, at least 0.02.

    Args:
        shares: "spread" takes multiples of the golden ratio, which fill the range evenly whenever
            one stops; "random" draws; or the shares themselves.
        iterations: for how many iterations.
        seed: for "random".

    >>> [round(share, 2) for share in share_schedule("spread", 6)]
    [0.25, 0.02, 0.54]
    """
    pairs = math.ceil(iterations / 2)
    if shares == "spread":
        even = [(0.5 + k * GOLDEN) % 1 for k in range(pairs)]
    elif shares == "random":
        generator = torch.Generator().manual_seed(seed)
        even = torch.rand(pairs, generator=generator, dtype=torch.float64).tolist()
    else:
        given: Sequence[object] = shares
        numbers = [share for share in given if isinstance(share, int | float)]
        if not given or len(numbers) < len(given) or not all(0 < s < 1 for s in numbers):
            raise SSplainError(
                f"shares={shares!r} does not work; use 'spread', 'random', or numbers between "
                "0 and 1."
            )
        return tuple(float(share) for share in numbers)
    return tuple(max(0.02, value**2) for value in even)
