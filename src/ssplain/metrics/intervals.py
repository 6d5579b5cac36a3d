r"""One number for a curve, and how sure it is.

Balanced accuracy is the mean recall of the classes over the whole set of images. The trapezoid area
is linear in the curve, so the area under a balanced accuracy curve is the balanced mean of the
areas under the curves of single images. Intervals and comparisons therefore need one number per
image, and draw images again within each class.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from ssplain.errors import SSplainError


@dataclass(frozen=True)
class Interval:
    """A value with its percentile bootstrap interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True)
class Comparison:
    """Two maps on the same images.

    Attributes:
        difference: first minus second; an interval above 0 says that the first is higher.
        share_above: the share of the resamples in which the first is higher.
    """

    difference: Interval
    share_above: float


def area(curve: Tensor, grid: Tensor) -> Tensor:
    """Return the area under curves `(..., S)` over the grid `(S,)`, by trapezoids.

    >>> area(torch.tensor([0.0, 1.0, 1.0]), torch.tensor([0.0, 0.5, 1.0])).item()
    0.75
    """
    return torch.trapezoid(curve.double(), grid.double(), dim=-1)


def class_means(values: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Return the classes that occur, and the mean of the values `(N, ...)` within each.

    >>> class_means(torch.tensor([1.0, 0.0, 1.0]), torch.tensor([7, 7, 9]))
    (tensor([7, 9]), tensor([0.5000, 1.0000], dtype=torch.float64))
    """
    classes, member, counts = torch.unique(labels, return_inverse=True, return_counts=True)
    sums = torch.zeros(len(classes), *values.shape[1:], dtype=torch.float64, device=values.device)
    sums.index_add_(0, member, values.double())
    return classes, sums / counts.view(-1, *[1] * (values.dim() - 1))


def balanced_mean(values: Tensor, labels: Tensor) -> Tensor:
    """Return the mean over classes of the class means; for 0 and 1 that is balanced accuracy.

    >>> balanced_mean(torch.tensor([1.0, 0.0, 1.0]), torch.tensor([0, 0, 1])).item()
    0.75
    """
    return class_means(values, labels)[1].mean(0)


def interval(
    values: Tensor,
    labels: Tensor,
    *,
    balanced: bool = True,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """Return the mean of the images' values with a class-stratified bootstrap interval.

    Images are drawn again within each class, so every resample has as many of each. Where a class
    has a single image, which could not vary, all images are drawn together. A balanced mean cannot
    do without any class: there such a class adds nothing to the width, which is then too narrow.

    Args:
        values: `(N,)`, one number per image, such as the area under its curve.
        labels: `(N,)`.
        balanced: every class counts the same (as in balanced accuracy), not every image.
        level: of the interval.
        resamples: how many.
        seed: of the draws.

    >>> values, labels = torch.tensor([0.0, 1.0, 0.0, 1.0]), torch.tensor([0, 0, 1, 1])
    >>> print(interval(values, labels))
    0.500 [0.000, 1.000]
    """
    if values.dim() != 1 or values.shape != labels.shape or len(values) == 0:
        raise SSplainError(
            f"There are values of shape {tuple(values.shape)} and labels of shape "
            f"{tuple(labels.shape)}; give one number and one label per image."
        )
    if not 0 < level < 1:
        raise SSplainError(f"level={level!r} is not a share; give a number such as 0.95.")
    drawn = _resampled_means(values, labels, balanced, resamples, seed)
    tail = (1 - level) / 2
    low, high = torch.quantile(drawn, torch.tensor([tail, 1 - tail], dtype=torch.float64)).tolist()
    mean = balanced_mean(values, labels) if balanced else values.double().mean()
    return Interval(float(mean), low, high)


def paired(
    first: Tensor,
    second: Tensor,
    labels: Tensor,
    *,
    balanced: bool = True,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Comparison:
    """Compare two maps by their values `(N,)` on the same images, by a paired bootstrap.

    The images are drawn once for both, so what makes an image easy or hard for both cancels.

    >>> labels = torch.tensor([0, 0, 1])
    >>> found = paired(torch.tensor([0.5, 0.9, 0.7]), torch.tensor([0.4, 0.8, 0.6]), labels)
    >>> print(found.difference, found.share_above)
    0.100 [0.100, 0.100] 1.0
    """
    if first.shape != second.shape:
        raise SSplainError(
            f"The values have shapes {tuple(first.shape)} and {tuple(second.shape)}; compare two "
            "maps on the same images."
        )
    apart = first.double() - second.double()
    difference = interval(
        apart, labels, balanced=balanced, level=level, resamples=resamples, seed=seed
    )
    drawn = _resampled_means(apart, labels, balanced, resamples, seed)
    return Comparison(difference, float((drawn > 0).double().mean()))


def _resampled_means(
    values: Tensor, labels: Tensor, balanced: bool, resamples: int, seed: int
) -> Tensor:
    """Return the mean of each resample, `(resamples,)`; one loop over classes, not over images."""
    generator = torch.Generator().manual_seed(seed)
    values, labels = values.double().cpu(), labels.cpu()
    if not balanced and int(torch.unique(labels, return_counts=True)[1].min()) == 1:
        labels = torch.zeros_like(labels)
    classes = sorted(set(labels.tolist()))
    total = torch.zeros(resamples, dtype=torch.float64)
    for label in classes:
        own = values[labels == label]
        drawn = own[torch.randint(len(own), (resamples, len(own)), generator=generator)].mean(1)
        total += drawn / len(classes) if balanced else drawn * len(own) / len(values)
    return total
