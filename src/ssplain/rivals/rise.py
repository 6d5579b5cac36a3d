"""RISE: which parts were visible when the model was sure?"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import interpolate

from ssplain.errors import SSplainError
from ssplain.question.checks import require
from ssplain.question.protocol import Attributor, Question

BLOCK = 50  # masks that are made at a time


class Rise(Attributor):
    r"""The mean of random masks, each weighted by what the model says of the image under it.

    V. Petsiuk, A. Das and K. Saenko, RISE, BMVC 2018.
    \(S = \frac{1}{N p} \sum_i f_y(X \odot M_i) M_i\) with the class probability f. A mask is a grid
    of cells, each kept with probability p, enlarged bilinearly and shifted at random by less than a
    cell. All images see the same masks.

    Args:
        model: a module or function of `(N, C, H, W)`.
        samples: how many masks.
        cells: cells along each side.
        keep: p.
        settings: as for `Attributor`.

    >>> def left(x):  # how much of the left half is there
    ...     seen = x[..., :3].mean((1, 2, 3))
    ...     return torch.stack([8 * seen - 4, torch.zeros_like(seen)], 1)
    >>> scores = Rise(left, cells=3).attribute(torch.ones(1, 1, 6, 6), target=0)
    >>> bool(scores[..., :3].mean() > scores[..., 3:].mean())
    True
    """

    per_channel = False

    def __init__(
        self,
        model: Callable[..., Any],
        *,
        samples: int = 1000,
        cells: int = 7,
        keep: float = 0.5,
        **settings: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(model, **settings)
        require("samples", samples, least=1, whole=True)
        require("cells", cells, least=1, whole=True)
        if not 0 < keep < 1:
            raise SSplainError(f"keep={keep!r} is not a probability; give a number such as 0.5.")
        self.samples, self.cells, self.keep = samples, cells, keep

    def maps(self, question: Question) -> Tensor:
        """Return the weighted mean of the masks."""
        images = question.images
        shape = (images.shape[-2], images.shape[-1])
        total = torch.zeros_like(images[:, 0].flatten(1))
        generator = torch.Generator().manual_seed(self.seed)
        counts = [min(BLOCK, self.samples - at) for at in range(0, self.samples, BLOCK)]
        for block, count in enumerate(counts):
            masks = self.draw(count, shape, generator).to(images)
            total += self._chances(question.quiet(), masks) @ masks.flatten(1)
            question.tell(block + 1, len(counts))
        return (total / (self.samples * self.keep)).view_as(images[:, :1])

    def draw(self, count: int, shape: tuple[int, int], generator: torch.Generator) -> Tensor:
        """Return random masks `(count, 1, H, W)` in [0, 1]."""
        # drawn on the CPU and in double, so that every device and number type sees the same
        drawn = torch.rand(
            count, 1, self.cells, self.cells, generator=generator, dtype=torch.double
        )
        step = [-(-side // self.cells) for side in shape]
        size = [(self.cells + 1) * one for one in step]
        large = interpolate(
            (drawn < self.keep).double(), size=size, mode="bilinear", align_corners=False
        )
        shifts = torch.rand(count, 2, generator=generator, dtype=torch.double)
        rows, columns = ((shifts * torch.tensor(step)).long()).unbind(1)
        cut = [
            mask[:, row : row + shape[0], column : column + shape[1]]
            for mask, row, column in zip(large, rows.tolist(), columns.tolist(), strict=True)
        ]
        return torch.stack(cut)

    @staticmethod
    def _chances(question: Question, masks: Tensor) -> Tensor:
        """Return the target's probability for each image under each mask, `(N, masks)`."""
        images, count = question.images, len(masks)
        index = torch.arange(len(images), device=images.device).repeat_interleave(count)
        places = torch.arange(len(index), device=images.device)
        found = question.run(
            lambda r: question.chance(images[index[r]] * masks[places[r] % count], index[r]),
            len(index),
        )
        return torch.cat(found).view(len(images), count)
