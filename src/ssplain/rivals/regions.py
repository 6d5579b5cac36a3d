"""Greedy search over regions, from both ends: what to show first, and what to hide last."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ssplain.explain.segments import Segments, find_segments
from ssplain.question.inputs import Support, find_support
from ssplain.question.protocol import Attributor, Question


class GreedyRegions(Attributor):
    r"""Ranks the regions of an image by what they do together, not one by one.

    A set A of regions is worth \(u(A) = f_y(X_A) - f_y(X_{V \setminus A})\): what it shows of the
    class, less what is left without it. At each step, of the regions that have no place yet, the
    one that is worth most together with those placed first takes the next place from the front, and
    the one that is worth least together with those placed last takes the next from the back. After
    R. Chen et al., Less is more: fewer interpretable region via submodular subset selection, ICLR
    2024, and its bidirectional successor LiMA, with the two of their scores that any classifier
    has. No gradients; about \(K^2\) passes for K regions.

    Args:
        model: a module or function of `(N, C, H, W)`.
        segments: the regions, as for `ssplain.explain.segments.find_segments`.
        support: as for `SSplain`.
        settings: as for `Attributor`.

    >>> thirds = torch.tensor([[1, 1, 2, 2, 3, 3]])
    >>> def model(x):  # the middle third speaks for the class, the right one against it
    ...     seen = x[:, 0, 0, 2] - x[:, 0, 0, 5]
    ...     return torch.stack([3 * seen, torch.zeros_like(seen)], 1)
    >>> GreedyRegions(model, segments=thirds).attribute(torch.ones(1, 6), target=0).flatten()
    tensor([2., 2., 3., 3., 1., 1.])
    """

    per_channel = False

    def __init__(
        self,
        model: Callable[..., Any],
        *,
        segments: Segments = "superpixels",
        support: Support = "nonzero",
        **settings: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(model, **settings)
        self.segments, self.support = segments, support

    def maps(self, question: Question) -> Tensor:
        """Return the region's place from behind: the first of K regions has K."""
        inside = find_support(question.images, self.support)
        labels = find_segments(question.images, inside, self.segments).flatten(1)
        places = self._places(question, labels)
        return places.gather(1, labels).to(question.images).view_as(question.images[:, :1])

    def _places(self, question: Question, labels: Tensor) -> Tensor:
        """Return the places of all regions, `(N, 1 + K)`; number 0 is no region and has place 0."""
        there = torch.zeros(
            len(labels), int(labels.max()) + 1, dtype=torch.bool, device=labels.device
        )
        there.scatter_(1, labels, torch.ones_like(labels, dtype=torch.bool))
        there[:, 0] = False
        ends = (torch.zeros_like(there), torch.zeros_like(there))  # placed first, placed last
        places = torch.zeros(there.shape, device=labels.device)
        following = [there.sum(1).float(), torch.ones(len(labels), device=labels.device)]
        total = int(there.sum(1).max())
        for turn in range(total):
            end = turn % 2
            free = there & ~ends[0] & ~ends[1]
            owner, region = free.nonzero().unbind(1)
            value = self._worth(question.quiet(), labels, ends[end], (owner, region))
            table = value.new_full(free.shape, -torch.inf)
            table[owner, region] = value if end == 0 else -value
            rows = free.any(1).nonzero().squeeze(1)
            winner = table[rows].argmax(1)
            ends[end][rows, winner] = True
            places[rows, winner] = following[end][rows]
            following[end][rows] += (-1.0, 1.0)[end]
            question.tell(turn + 1, total)
        return places

    @staticmethod
    def _worth(
        question: Question, labels: Tensor, chosen: Tensor, candidates: tuple[Tensor, Tensor]
    ) -> Tensor:
        """Return what the chosen regions are worth together with each candidate."""
        images, (owner, region) = question.images, candidates

        def work(rows: slice) -> Tensor:
            who, which = owner[rows], region[rows]
            own = labels[who]
            held = chosen[who].gather(1, own) | (own == which[:, None])
            kept = held.to(images).view(-1, 1, *images.shape[-2:]) * images[who]
            both = torch.cat([kept, images[who] - kept])
            shown, left = question.chance(both, who.repeat(2)).chunk(2)
            return shown - left

        return torch.cat(question.run(work, len(owner), 2))
