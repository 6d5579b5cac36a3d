"""What happened during a solve, per image and iteration."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class History:
    """The course of a solve. Columns after an image has stopped are NaN.

    Attributes:
        terms: name -> `(N, K)`, each weighted term at the point from which iteration k+1 set out
            (so column 0 is the start, and nothing has to be computed twice).
        primal: `(N, K)`, distance between the mask and its copies after iteration k+1:
            sqrt(sum_i |M - M_i|^2 / n), n the number of pixels that may move.
        dual: `(N, K)`, how far the copies moved in it: rho sqrt(sum_i |M_i - M_i_before|^2 / n).
        iterations: `(N,)`, how many iterations each image took.
    """

    terms: Mapping[str, Tensor]
    primal: Tensor
    dual: Tensor
    iterations: Tensor

    @property
    def objective(self) -> Tensor:
        """The sum of the terms, `(N, K)`."""
        return torch.stack(list(self.terms.values())).sum(0)

    @classmethod
    def empty(cls, names: Sequence[str], images: int, iterations: int, like: Tensor) -> Self:
        """Make a history to be filled in."""

        def blank() -> Tensor:
            return torch.full((images, iterations), torch.nan, dtype=like.dtype, device=like.device)

        counts = torch.zeros(images, dtype=torch.long, device=like.device)
        return cls({name: blank() for name in names}, blank(), blank(), counts)

    @classmethod
    def cat(cls, parts: Sequence["History"]) -> "History":
        """Join the histories of consecutive batches."""
        return cls(
            {name: torch.cat([p.terms[name] for p in parts]) for name in parts[0].terms},
            torch.cat([p.primal for p in parts]),
            torch.cat([p.dual for p in parts]),
            torch.cat([p.iterations for p in parts]),
        )

    def take(self, rows: Tensor | slice) -> "History":
        """Return the history of some of the images."""
        return History(
            {name: values[rows] for name, values in self.terms.items()},
            self.primal[rows],
            self.dual[rows],
            self.iterations[rows],
        )

    def to(self, device: torch.device) -> "History":
        """Return the history on another device."""
        return History(
            {name: values.to(device) for name, values in self.terms.items()},
            self.primal.to(device),
            self.dual.to(device),
            self.iterations.to(device),
        )
