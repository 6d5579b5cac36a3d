"""One batch after its solve, and how far all batches are."""

from dataclasses import dataclass

import torch
from torch import Tensor

from ssplain.progress import Progress
from ssplain.solve import History, L0Ball, L1Ball, Solution


@dataclass(frozen=True, eq=False)
class Solved:
    """One batch after its solve, with its support and the ball of its budget."""

    solution: Solution
    inside: Tensor
    ball: L0Ball | L1Ball

    def scores(self) -> Tensor:
        """Return what ranks the pixels."""
        return outside_last(self.solution.masks, self.inside)

    def mask(self) -> Tensor:
        """Return the feasible mask."""
        return self.ball.project_with_box(self.solution.masks)

    def everything(self) -> tuple[Tensor, Tensor, History]:
        """Return scores, mask and the course of the solve."""
        return self.scores(), self.mask(), self.solution.history


class Count:
    """Turns the iterations of one batch into iterations done over all images."""

    def __init__(
        self, rows: slice, images: int, iterations: int, progress: Progress | None
    ) -> None:
        self.before, self.images = rows.start * iterations, rows.stop - rows.start
        self.total, self.progress = images * iterations, progress

    def __call__(self, iteration: int) -> None:
        """Tell that this batch has done so many iterations."""
        if self.progress is not None:
            self.progress(self.before + iteration * self.images, self.total)


def outside_last(masks: Tensor, support: Tensor) -> Tensor:
    """Give what lies outside the support a value below all inside it; zero if that is enough."""
    lowest = masks.masked_fill(~support, torch.inf).amin((1, 2, 3), keepdim=True)
    below = torch.nextafter(lowest, torch.full_like(lowest, -torch.inf)).clamp(max=0.0)
    return torch.where(support, masks, below)
