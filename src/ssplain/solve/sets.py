"""The paper's constraints, S1 (l0 or l1 ball) and S2 (box), each within S0; and segments."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import torch
from torch import Tensor

from ssplain.prox import (
    project_box,
    project_l0,
    project_l0_box,
    project_l1,
    project_l1_box,
    project_segments,
    project_support,
    soften_l0,
    top_k,
)
from ssplain.solve.problem import Constraint


@dataclass(frozen=True, eq=False)
class L0Ball(Constraint):
    """At most `k` pixels of the support differ from zero.

    Args:
        k: `(N,)` budget of each image, in pixels.
        support: `(N, 1, H, W)` boolean.
        order: `(N, H*W)`, which pixel comes first among equals; see `ssplain.prox.top_k`.
        width: above 0, pixels that are equal within this share the budget; see `soften_l0`.

    >>> ball = L0Ball(torch.tensor([1]), torch.ones(1, 1, 1, 2, dtype=torch.bool))
    >>> ball.project(torch.tensor([[[[0.2, 0.4]]]]))
    tensor([[[[0.0000, 0.4000]]]])
    """

    k: Tensor
    support: Tensor
    order: Tensor | None = None
    width: float = 0.0
    name: ClassVar[str] = "l0"

    def project(self, masks: Tensor) -> Tensor:
        """Keep the k largest magnitudes of the support."""
        if self.width:
            return soften_l0(masks, self.k, self.support, self.width)
        return project_l0(masks, self.k, self._inside, self.order)

    @cached_property
    def _inside(self) -> Tensor:
        """The support as numbers, turned into them once instead of at every projection."""
        return self.support.float()

    def project_with_box(self, masks: Tensor) -> Tensor:
        """Project on this ball and [0, 1] together."""
        return project_l0_box(masks, self.k, self.support, self.order)

    def take(self, rows: Tensor) -> Self:
        """Return the balls of some of the images."""
        order = None if self.order is None else self.order[rows]
        return replace(self, k=self.k[rows], support=self.support[rows], order=order)


@dataclass(frozen=True, eq=False)
class L1Ball(Constraint):
    r"""The magnitudes sum to at most what the `k` largest values of the point itself sum to.

    The paper sets the radius anew at each iteration so that l0 and l1 are comparable:
    \(\alpha_1\) is the sum of the top \(\alpha_0\) values of \(M^{(k)} + U_1^{(k-1)}\), the
    very point that is projected. A negative sum counts as zero.

    >>> ball = L1Ball(torch.tensor([1]), torch.ones(1, 1, 1, 2, dtype=torch.bool))
    >>> ball.project(torch.tensor([[[[0.2, 0.4]]]]))
    tensor([[[[0.1000, 0.3000]]]])
    """

    k: Tensor
    support: Tensor
    name: ClassVar[str] = "l1"

    def radius(self, masks: Tensor) -> Tensor:
        """Sum the k largest values of the support of each mask."""
        largest = top_k(masks.masked_fill(~self.support, -torch.inf), self.k)
        return project_support(masks, largest & self.support).flatten(1).sum(1).clamp(min=0.0)

    def project(self, masks: Tensor) -> Tensor:
        """Shrink the magnitudes of the support to the radius."""
        return project_l1(masks, self.radius(masks), self.support)

    def project_with_box(self, masks: Tensor) -> Tensor:
        """Project on this ball and [0, 1] together."""
        return project_l1_box(masks, self.radius(masks), self.support)

    def take(self, rows: Tensor) -> Self:
        """Return the balls of some of the images."""
        return replace(self, k=self.k[rows], support=self.support[rows])


@dataclass(frozen=True, eq=False)
class Box(Constraint):
    """Values in [0, 1], zero outside the support.

    >>> Box(torch.tensor([[[[True, False]]]])).project(torch.tensor([[[[1.5, 0.5]]]]))
    tensor([[[[1., 0.]]]])
    """

    support: Tensor
    name: ClassVar[str] = "box"

    def project(self, masks: Tensor) -> Tensor:
        """Clip, within the support."""
        return project_box(project_support(masks, self._inside))

    @cached_property
    def _inside(self) -> Tensor:
        """The support as numbers, turned into them once instead of at every projection."""
        return self.support.float()

    def take(self, rows: Tensor) -> Self:
        """Return the boxes of some of the images."""
        return replace(self, support=self.support[rows])


@dataclass(frozen=True, eq=False)
class ConstantOn(Constraint):
    """Masks with one value on each segment, such as a branch of the vessel tree.

    Args:
        labels: `(N, 1, H, W)` whole numbers; pixels with 0 belong to no segment.

    >>> ConstantOn(torch.tensor([[[[1, 1, 2]]]])).project(torch.tensor([[[[0.0, 1.0, 3.0]]]]))
    tensor([[[[0.5000, 0.5000, 3.0000]]]])
    """

    labels: Tensor
    name: ClassVar[str] = "segments"

    def project(self, masks: Tensor) -> Tensor:
        """Replace each value by the mean over its segment."""
        return project_segments(masks, self.labels)

    def take(self, rows: Tensor) -> Self:
        """Return the segments of some of the images."""
        return replace(self, labels=self.labels[rows])
