"""Gradients from values alone, for terms that cannot be differentiated."""

from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor

from ssplain.solve.problem import Term


@dataclass(frozen=True, eq=False)
class ByQueries(Term):
    r"""A term whose gradient is estimated from its values (zeroth-order, SPSA).

    With directions \(u_j\) of random signs and a step s,

    \[ g = \frac{1}{q} \sum_{j=1}^{q} \frac{L(M + s u_j) - L(M - s u_j)}{2 s}\, u_j \]

    has the gradient as its expectation, up to \(O(s^2)\) (Spall, IEEE Trans. Automatic Control,
    1992). Signs are drawn for square cells of pixels on a grid that is shifted from draw to draw:
    neighbours are moved together, so that few directions tell much of a smooth mask. All images
    see the same directions, so an image's result does not depend on the others.

    Attributes:
        term: what is asked.
        queries: q, pairs of values for each gradient.
        step: s.
        cell: side of the cells in pixels.
        seed: of the draws; each iteration has draws of its own.
        iteration: which one, from 0.

    >>> class Square(Term):
    ...     name = "square"
    ...     def value(self, masks):
    ...         return masks.square().flatten(1).sum(1)
    >>> term = ByQueries(Square(), queries=4000, cell=1)
    >>> value, gradient = term.value_and_gradient(torch.tensor([[[[1.0, -3.0]]]]))
    >>> value, gradient.round()
    (tensor([10.]), tensor([[[[ 2., -6.]]]]))
    """

    term: Term
    queries: int = 50
    step: float = 0.3
    cell: int = 2
    seed: int = 0
    iteration: int = 0

    @property
    def name(self) -> str:  # type: ignore[override]  # the term's own
        """The name of the term."""
        return self.term.name

    def at(self, iteration: int) -> "ByQueries":
        """Return the term with this iteration's draws."""
        return replace(self, term=self.term.at(iteration), iteration=iteration)

    def take(self, rows: Tensor) -> Self:
        """Return the same for some of the images."""
        return replace(self, term=self.term.take(rows))

    def value(self, masks: Tensor) -> Tensor:
        """Return the value of the term."""
        return self.term.value(masks)

    def value_and_gradient(self, masks: Tensor) -> tuple[Tensor, Tensor]:
        """Return the values, and the gradient as far as the queries tell it."""
        generator = torch.Generator().manual_seed(self.seed * 1_000_003 + self.iteration)
        gradient = torch.zeros_like(masks)
        with torch.no_grad():
            for _ in range(self.queries):
                signs = self._signs(masks, generator)
                ahead = self.term.value(masks + self.step * signs)
                behind = self.term.value(masks - self.step * signs)
                slope = (ahead - behind) / (2 * self.step * self.queries)
                gradient.addcmul_(slope[:, None, None, None], signs)
            return self.term.value(masks), gradient

    def _signs(self, masks: Tensor, generator: torch.Generator) -> Tensor:
        """Draw one sign per cell, `(1, 1, H, W)`, on the CPU so that devices agree."""
        height, width = masks.shape[-2:]
        cell = self.cell
        rows, columns = height // cell + 2, width // cell + 2
        signs = torch.randint(0, 2, (rows, columns), generator=generator) * 2 - 1
        down, right = torch.randint(0, cell, (2,), generator=generator).tolist()
        wide = signs.repeat_interleave(cell, 0).repeat_interleave(cell, 1)
        return wide[down : down + height, right : right + width].to(masks)[None, None]
