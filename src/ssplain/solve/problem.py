"""What a problem is made of: objective terms and constraints.

Both see a batch of masks `(N, 1, H, W)` and treat each by itself. What differs from image to image
is held in tensors with N rows; `take(rows)` gives the same term or constraint for some of the
images, which is how images that have finished leave the batch. Without such tensors, the inherited
`take` is right.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import torch
from torch import Tensor

from ssplain.errors import SSplainError
from ssplain.prox import total_variation, total_variation_gradient
from ssplain.register import Register


class _PerImage:
    """Something that may hold one row per image."""

    def take(self, rows: Tensor) -> Self:
        """Return the same for the images at `rows` only."""
        del rows
        return self


class Term(_PerImage, ABC):
    """One term of the objective: a value per mask, and its gradient."""

    name: ClassVar[str]

    def at(self, iteration: int) -> "Term":
        """Return the term as this iteration (from 0) sees it; itself unless it changes."""
        del iteration
        return self

    @abstractmethod
    def value(self, masks: Tensor) -> Tensor:
        """Return `(N,)` values for `(N, 1, H, W)` masks, each of its own mask alone."""

    def value_and_gradient(self, masks: Tensor) -> tuple[Tensor, Tensor]:
        """Return the values and the gradient; by automatic differentiation unless overridden."""
        with torch.enable_grad():
            leaf = masks.detach().requires_grad_()
            values = self.value(leaf)
            if not values.requires_grad:
                raise SSplainError(
                    f"The term {self.name!r} has no gradient with respect to the mask; use a "
                    "model (or term) that PyTorch can differentiate, without detach() or no_grad()."
                )
            (gradient,) = torch.autograd.grad(values.sum(), leaf)
        return values.detach(), gradient


class Constraint(_PerImage, ABC):
    """One set that the mask must lie in, known by its Euclidean projection.

    A constraint of your own is one small class:

    >>> class Symmetric(Constraint):
    ...     '''Masks that equal their left-right mirror image.'''
    ...     name = "symmetric"
    ...     def project(self, masks):
    ...         return (masks + masks.flip(-1)) / 2
    >>> Symmetric().project(torch.tensor([[[[1.0, 0.0]]]]))
    tensor([[[[0.5000, 0.5000]]]])
    """

    name: ClassVar[str]

    @abstractmethod
    def project(self, masks: Tensor) -> Tensor:
        """Return the nearest point of the set for each mask; must not change its argument."""


@dataclass(frozen=True, eq=False)
class TotalVariation(Term):
    """The smoothness term, weight * total variation (anisotropic).

    Attributes:
        weight: lambda.
        inside: `(N, 1, H, W)` boolean; only neighbours that both lie inside count. All if None.
        smooth: differences below this count for less, so that the gradient does not jump.

    >>> TotalVariation(0.5).value(torch.tensor([[[[0.0, 1.0]]]]))
    tensor([0.5000])
    """

    weight: float
    inside: Tensor | None = None
    smooth: float = 0.0
    name: ClassVar[str] = "total_variation"

    def value(self, masks: Tensor) -> Tensor:
        """Return weight * total variation."""
        if self.smooth:
            return self.value_and_gradient(masks)[0]
        return self.weight * total_variation(masks, self.inside)

    def value_and_gradient(self, masks: Tensor) -> tuple[Tensor, Tensor]:
        """Return the same with the gradient in closed form."""
        value, gradient = total_variation_gradient(masks, self.inside, self.smooth)
        return value.mul_(self.weight), gradient.mul_(self.weight)

    def take(self, rows: Tensor) -> Self:
        """Return the term for some of the images."""
        return self if self.inside is None else replace(self, inside=self.inside[rows])


# a user's own, which explainers take by name; the paper's need each image's budget and support
CONSTRAINTS: Register[Constraint] = Register("constraint", "ssplain.constraints", Constraint)
TERMS: Register[Term] = Register("term", "ssplain.terms", Term)
