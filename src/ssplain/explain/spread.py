r"""Gradients that take their surroundings along, on the support alone.

The gradient of a network is rough: neighbours on a vessel get steps of either sign, and the order
that comes of it suits the few pictures that were looked at. Averaged along the vessels it says the
same of a stretch, and what is found holds for other cuts through the order too.
"""

from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor
from torch.linalg import vector_norm

from ssplain.ask.context import blurred
from ssplain.solve import Term

STRENGTH = 10.0  # how much the averaged gradient counts over the term's own


@dataclass(frozen=True, eq=False)
class Spread(Term):
    r"""A term whose gradient g is averaged over the support's pixels nearby, and kept beside that.

    \[ g + 10\, \frac{\|g\|}{\|b\|}\, b, \qquad b = S \odot \frac{G * g}{G * S} \]

    with a Gaussian G and the support S; outside it there is no gradient.

    Attributes:
        term: what is asked.
        inside: `(N, 1, H, W)`, S.
        reach: the Gaussian's deviation in pixels.

    >>> class First(Term):
    ...     name = "first"
    ...     def value(self, masks):
    ...         return masks[:, 0, 0, 0]
    >>> term = Spread(First(), torch.tensor([[[[1.0, 1.0, 0.0]]]]), reach=0.5)
    >>> value, gradient = term.value_and_gradient(torch.ones(1, 1, 1, 3))
    >>> gradient.round(decimals=1)
    tensor([[[[10.9000,  1.3000,  0.0000]]]])
    """

    term: Term
    inside: Tensor
    reach: float

    @property
    def name(self) -> str:  # type: ignore[override]  # the term's own
        """The name of the term."""
        return self.term.name

    def at(self, iteration: int) -> "Spread":
        """Return the term as this iteration sees it."""
        return replace(self, term=self.term.at(iteration))

    def take(self, rows: Tensor) -> Self:
        """Return the same for some of the images."""
        return replace(self, term=self.term.take(rows), inside=self.inside[rows])

    def value(self, masks: Tensor) -> Tensor:
        """Return the value of the term."""
        return self.term.value(masks)

    def value_and_gradient(self, masks: Tensor) -> tuple[Tensor, Tensor]:
        """Return the values, and the gradient with its average."""
        values, gradient = self.term.value_and_gradient(masks)
        own = gradient * self.inside
        least = torch.finfo(own.dtype).tiny
        near = self._blurred(self.inside).clamp(min=least)
        average = self._blurred(own) / near * self.inside
        scale = STRENGTH * _size(own) / _size(average).clamp(min=least)
        return values, own + scale * average

    def _blurred(self, planes: Tensor) -> Tensor:
        # The last bits of a product of matrices depend on its size and its place in memory, and an
        # image must not depend on its neighbours: computed in 64 bits, rounding takes them away.
        wide = planes.double() if planes.device.type == "cpu" else planes
        return blurred(wide, self.reach).to(planes.dtype)


def _size(gradient: Tensor) -> Tensor:
    """Return the length of each image's gradient, `(N, 1, 1, 1)`."""
    # a plain sum of squares depends, in its last bit, on how many images there are
    length: Tensor = vector_norm(gradient.flatten(1), dim=1)
    return length.view(-1, 1, 1, 1)
