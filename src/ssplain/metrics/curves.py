r"""Insertion and deletion: does the model follow the pixels that a map ranks first?

At step s the first pixels of the order are put on a baseline (insertion), or taken from the image
and replaced by it (deletion). All channels of a pixel come and go together, and it is the image
that is inserted, not the image times the mask: only the order is scored.

Reference: Petsiuk, Das and Saenko, RISE, BMVC 2018; with balanced accuracy over the whole set at
each step as in Sunger et al., WACV 2026.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, Unpack, get_args

import torch
from torch import Tensor

from ssplain.ask.context import blurred
from ssplain.ask.door import Door, ModelOptions
from ssplain.errors import SSplainError
from ssplain.metrics.intervals import Interval, area, balanced_mean, interval
from ssplain.metrics.order import FINE_POINTS, Axis, at_counts, brightness_share, steps
from ssplain.question.inputs import Support
from ssplain.question.targets import Target, resolve_target

Baseline = Literal["black", "blur", "mean"]
BASELINES: tuple[Baseline, ...] = get_args(Baseline)


@dataclass(frozen=True, eq=False)
class Curve:
    """What the model says at each step, image by image.

    Attributes:
        grid: `(S,)` the steps, from 0 to 1.
        correct: `(N, S)` boolean, whether the label has the highest probability.
        probability: `(N, S)` of the label.
        labels: `(N,)`.
    """

    grid: Tensor
    correct: Tensor
    probability: Tensor
    labels: Tensor

    @property
    def balanced_accuracy(self) -> Tensor:
        """`(S,)` mean recall of the classes over all images, at each step."""
        return balanced_mean(self.correct, self.labels)

    @property
    def accuracy(self) -> Tensor:
        """`(S,)` share of the images that are right, at each step."""
        return self.correct.double().mean(0)

    @property
    def area(self) -> float:
        """Area under the balanced accuracy: the headline number."""
        return float(area(self.balanced_accuracy, self.grid))

    @property
    def areas(self) -> Tensor:
        """`(N,)` the share of the axis on which each image is right; for `paired`."""
        return area(self.correct, self.grid)

    @property
    def probability_areas(self) -> Tensor:
        """`(N,)` area under each image's probability of its label."""
        return area(self.probability, self.grid)

    def interval(self, *, level: float = 0.95, resamples: int = 2000, seed: int = 0) -> Interval:
        """Return the area under balanced accuracy and its class-stratified bootstrap interval."""
        return interval(self.areas, self.labels, level=level, resamples=resamples, seed=seed)

    def take(self, rows: Tensor) -> "Curve":
        """Return the curve of some of the images, such as those that the model gets right."""
        return replace(
            self,
            correct=self.correct[rows],
            probability=self.probability[rows],
            labels=self.labels[rows],
        )


@dataclass(frozen=True, eq=False)
class Curves:
    """Both curves of a set of maps.

    Attributes:
        insertion: higher is better.
        deletion: lower is better.
        kappa: `(N, S)` the share of each image's brightness that is in at each step.
        tie_share: `(N,)` the share of pixels whose place in the order the seed has decided.
        initially_correct: `(N,)` boolean, whether the whole image is right.
        forwards: how many images the model was shown.
    """

    insertion: Curve
    deletion: Curve
    kappa: Tensor
    tie_share: Tensor
    initially_correct: Tensor
    forwards: int


def insertion_deletion(
    model: Callable[..., Any],
    images: Tensor,
    labels: Target,
    maps: Tensor,
    *,
    axis: Axis = "all",
    points: int = FINE_POINTS,
    baseline: Baseline = "black",
    support: Support = "nonzero",
    seed: int = 0,
    **options: Unpack[ModelOptions],
) -> Curves:
    """Return the insertion and deletion curves of maps.

    The model sees each distinct masked image once: pixels that equal the baseline change nothing,
    and the whole image and the bare baseline belong to both curves.

    Args:
        model: any model that `SSplain` takes.
        images: `(N, C, H, W)`.
        labels: the class that counts as right: one per image, one for all, or None for the
            predicted ones. A map that was made for the true label knows it; the curves of the
            predicted label, and of the images that are right from the start, do not profit.
        maps: `(N, 1, H, W)`; the highest value comes first.
        axis: "all" pixels, the "support" only, or "kappa"; see `ssplain.metrics.steps`.
        points: 101, or 26 as in the paper.
        baseline: what a missing pixel is: "black" (zero, the paper's), "blur" (the image blurred
            over an eighth of its size), or "mean" (the mean of the image, per channel).
        support: for axis="support".
        seed: of the order among equal scores.
        options: how the model is called, as in `SSplain`; see `ssplain.models.ModelOptions`.

    >>> import ssplain
    >>> model = ssplain.models.load("lenet5-mnist")
    >>> images, labels = ssplain.data.bundled("mnist")
    >>> maps = ssplain.SSplain(model, **ssplain.preset("mnist")).attribute(images[:20], labels[:20])
    >>> curves = insertion_deletion(model, images[:20], labels[:20], maps, axis="support")
    >>> curves.insertion.area > curves.deletion.area
    True
    """
    with Door(model, **options).open(images) as opened:
        batch, whole = opened.images, opened.probabilities
        order, counts = steps(batch, maps, axis, points, support=support, seed=seed)
        walk = _Walk.along(batch, canvas(batch, baseline), order.pixels)
        shown, where = walk.distinct(counts)
        right, _ = resolve_target(labels, whole)

        def work(rows: slice) -> tuple[Tensor, Tensor]:
            owner, code = shown[0][rows], shown[1][rows]
            p = opened.classifier.take(owner).probabilities(walk.images(owner, code))
            if not bool(torch.isfinite(p).all()):
                raise SSplainError(
                    f"The model returns NaN for a masked version of image {int(owner[0])} or a "
                    f"later one; use another baseline than {baseline!r}."
                )
            return p.argmax(1) == right[owner], p.gather(1, right[owner][:, None]).squeeze(1)

        parts = opened.run(work, len(shown[0]))
    correct = torch.cat([c for c, _ in parts])[where].cpu()
    probability = torch.cat([p for _, p in parts])[where].cpu()
    grid = torch.linspace(0, 1, points, dtype=torch.float64)
    answers = right.cpu()
    return Curves(
        insertion=Curve(grid, correct[:, :points], probability[:, :points], answers),
        deletion=Curve(grid, correct[:, points:], probability[:, points:], answers),
        kappa=at_counts(brightness_share(batch, order), counts.cpu()),
        tie_share=order.tie_share.cpu(),
        initially_correct=(whole.argmax(1) == right).cpu(),
        forwards=len(shown[0]),
    )


def canvas(images: Tensor, baseline: Baseline) -> Tensor:
    """Return what is seen where pixels are missing, like `images`.

    >>> canvas(torch.tensor([[[[0.0, 1.0]]]]), "mean").flatten()
    tensor([0.5000, 0.5000])
    """
    if baseline == "black":
        return torch.zeros_like(images)
    if baseline == "mean":
        return images.mean((2, 3), keepdim=True).expand_as(images)
    if baseline == "blur":
        return blurred(images, sigma=max(1.0, min(images.shape[-2:]) / 8))
    raise SSplainError(f"baseline={baseline!r} is not known; use 'black', 'blur' or 'mean'.")


@dataclass(frozen=True, eq=False)
class _Walk:
    """The way of each image from the baseline to the whole, and on from the whole to the baseline.

    A place on that way is a number: after c inserted pixels it is c; after all T are in and c of
    them deleted again it is T + c, and at 2 T the way is back at 0. Only pixels that differ from
    the baseline count, so two places are equal just when their images are.

    Attributes:
        whole: `(N, C, H, W)`.
        base: `(N, C, H, W)`.
        entry: `(N, P)` after how many inserted pixels this one is in, from 1.
        running: `(N, P)` how many of the first 1, 2, ... pixels of the order differ from the base.
    """

    whole: Tensor
    base: Tensor
    entry: Tensor
    running: Tensor

    @classmethod
    def along(cls, whole: Tensor, base: Tensor, pixels: Tensor) -> "_Walk":
        differs = (whole != base).any(1).flatten(1)
        running = differs.gather(1, pixels).cumsum(1)
        return cls(whole, base, torch.empty_like(pixels).scatter_(1, pixels, running), running)

    def distinct(self, counts: Tensor) -> tuple[tuple[Tensor, Tensor], Tensor]:
        """Find the distinct images of both curves.

        Returns:
            The image's index and place of each distinct one, and for each image which of them are
            its insertion steps followed by its deletion steps, `(N, 2 S)`.
        """
        total = self.running[:, -1:]
        inserted = at_counts(self.running, counts)
        places = torch.cat([inserted, (total + inserted) % (2 * total).clamp(min=1)], 1)
        stride = 2 * self.running.shape[1] + 1
        rows = torch.arange(len(counts), device=counts.device)[:, None]
        codes, where = torch.unique(rows * stride + places, return_inverse=True)
        return (codes // stride, codes % stride), where

    def images(self, owner: Tensor, place: Tensor) -> Tensor:
        """Return the images at these places of these ways."""
        entry, total, place = self.entry[owner], self.running[owner, -1:], place[:, None]
        visible = torch.where(place <= total, entry <= place, entry > place - total)
        visible = visible.view(-1, 1, *self.whole.shape[-2:])
        return torch.where(visible, self.whole[owner], self.base[owner])
