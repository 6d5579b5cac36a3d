"""What GoogLeNet is taught from a batch of graded eyes: the grade, and where it is to be seen.

Grades are soft, as graders are: an eye between two grades is given to both. And where disease was
planted by simulation, every place of the image is graded, too, so that the network is taught to
read the vessels that carry the disease, not what else may go with the grade.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from ssplain.data.simulated import STEPS
from ssplain.errors import SSplainError
from ssplain.models.googlenet import GoogLeNet
from ssplain.train.pupil import Pupil
from ssplain.train.vary import crop, leave_out, relight, turn_and_flip, warp

_BORDERS = (0.28, 0.84)  # amounts of disease between the grades
_DOUBT = (0.06, 0.08)  # how gradually graders change over at each
_SMOOTH = 0.05  # share of a hard label given to all grades alike
_MEAN = 0.75  # strength of disease in an ill vessel, on average, where the eye's amount is 1
_LIT = 0.02  # share of a place that must be vessel for it to be graded
_WHERE = 0.5  # weight of the places beside that of the whole image
_HEADS = 0.4  # weight of the grades of places that each head on the way gives


@dataclass(frozen=True)
class Known:
    """What is known about simulated images beyond their labels.

    Attributes:
        amounts: (N,) of disease in the eye.
        relevance: (N, 1, H, W) bytes, strength of the disease at each pixel in steps of 1/128.
    """

    amounts: Tensor
    relevance: Tensor


def soft_grades(amounts: Tensor) -> Tensor:
    """Chances (..., 3) that graders say Normal, Pre-plus and Plus to amounts of disease.

    Example:
        >>> soft_grades(torch.tensor([0.0, 0.28, 2.0])).round(decimals=2)
        tensor([[0.9900, 0.0100, 0.0000],
                [0.5000, 0.5000, 0.0000],
                [0.0000, 0.0000, 1.0000]])
    """
    some, plus = (
        torch.sigmoid((amounts - border) / doubt)
        for border, doubt in zip(_BORDERS, _DOUBT, strict=True)
    )
    plus = some * plus
    return torch.stack([1 - some, some - plus, plus], dim=-1)


class Lesson:
    """The loss on a batch of graded eyes, changed at random in all that is not disease.

    Args:
        labels: (N,) grades of all training images.
        known: what was planted in them; None for real eyes, which have labels only.
        size: of squares that are cut out of the images, at full resolution, so that much is seen at
            little cost; such a part is graded place by place. None takes whole images.
    """

    def __init__(self, labels: Tensor, known: Known | None = None, size: int | None = None) -> None:
        if size is not None and known is None:
            raise SSplainError("Parts of images can be graded only where disease was planted.")
        self._labels, self._known, self._size = labels, known, size

    def __call__(
        self, model: nn.Module, batch: Tensor, rows: Tensor, generator: torch.Generator
    ) -> Tensor:
        """Give the loss of the model on a batch (N, 1, H, W) of images in [0, 1]."""
        if self._known is None or not isinstance(model, GoogLeNet):
            images = relight(warp(turn_and_flip(batch, generator), generator), generator)
            logits = model(leave_out(images, generator))
            return functional.cross_entropy(logits, self._labels[rows], label_smoothing=_SMOOTH)
        planted = self._known.relevance[rows].float() / STEPS
        both = warp(turn_and_flip(torch.cat([batch, planted], 1), generator), generator)
        if self._size is not None:
            both = crop(both, self._size, generator)
        both = leave_out(both, generator)
        shown = relight(both[:, :1], generator)
        evidence, *early = (
            model.depths(shown) if isinstance(model, Pupil) else (model.evidence(shown),)
        )
        where = _places(evidence, both[:, :1], both[:, 1:])
        for head in early:
            where = where + _HEADS * _places(head, both[:, :1], both[:, 1:])
        if self._size is not None:
            return where
        grades = soft_grades(self._known.amounts[rows])
        return functional.cross_entropy(evidence.mean((2, 3)), grades) + _WHERE * where


def _places(evidence: Tensor, images: Tensor, planted: Tensor) -> Tensor:
    """Cross-entropy of the grade of each place, weighed by how much vessel there is."""
    size = (evidence.shape[2], evidence.shape[3])
    lit = functional.adaptive_avg_pool2d((images > 0).float(), size)[:, 0]
    ill = functional.adaptive_avg_pool2d(planted, size)[:, 0]
    grades = soft_grades(ill / lit.clamp(min=1e-6) / _MEAN).movedim(-1, 1)
    weight = torch.where(lit > _LIT, lit, 0)
    losses = functional.cross_entropy(evidence, grades, reduction="none")
    return (weight * losses).sum() / weight.sum().clamp(min=1e-6)
