"""Extremal Perturbation: the mask of a given area that keeps, or removes, most of the output."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from ssplain.errors import SSplainError
from ssplain.progress import Progress
from ssplain.question.checks import require
from ssplain.question.inputs import Support, find_support, pixel_budget
from ssplain.question.protocol import Attributor, Question
from ssplain.question.targets import Target
from ssplain.rivals.smooth_masks import Perturbation, SmoothMasks, gaussian_blur, perturb, pyramid

Objective = Literal["preserve", "delete", "dual"]

AREA_WEIGHT, AREA_GROWTH = 300.0, 1.0035
LR, MOMENTUM = 0.01, 0.9
SAME = 1000  # mask values that agree to this part of one count as equal
CELLS = 32 * 32  # the grid of parameters (224 pixels in steps of 7) that the weight 300 was set for


@dataclass(frozen=True, eq=False)
class ExtremalMasks:
    """What the optimisation ends with, and how far it came.

    Attributes:
        masks: `(N, 1, H, W)` in [0, 1].
        area: `(N,)`, the mean of each mask.
        wanted: `(N,)`, the area that was asked for.
        distance: `(N,)`, root mean square distance to the nearest mask of ones and zeros that has
            exactly the wanted area: 0 is converged.
        reward: `(N,)`, what the mask keeps or removes of the model's output.
    """

    masks: Tensor
    area: Tensor
    wanted: Tensor
    distance: Tensor
    reward: Tensor


class ExtremalPerturbation(Attributor):
    r"""The mask m of area a that maximises \(R(m) - \lambda_t\, \mathrm{mean}((s(m) - r_a)^2)\).

    R. Fong, M. Patrick and A. Vedaldi, Understanding deep networks via extremal perturbations and
    smooth masks, ICCV 2019. \(s(m)\) are the mask's values in ascending order and \(r_a\) as many
    ones as the area holds pixels, after zeros. The reward R is the output for the perturbed image
    ("preserve"), minus the output with the mask turned round ("delete"), or their sum ("dual",
    which the SSplain paper calls hybrid). It starts from all ones; \(\lambda_t\) starts at 300
    and grows by 0.35 % per iteration; steps are gradient ascent with lr 0.01 and an average of
    gradients with momentum 0.9. All images of a batch are optimised at once, each on its own.

    The area is a share of each image's support, in pixels; the canvas around the image counts
    against it, and the mean is per pixel of the image. Equal values (all of them, at the start)
    share the ones of \(r_a\) that fall on them, so that the reward and not the order of storage
    decides between them. With one parameter per pixel the mean in the area term leaves each
    parameter a gradient so small that large images do not reach their area: `explain` says where a
    mask ended, and `area_reduction="sum"` gives each parameter the same pull whatever the size of
    the image.

    Args:
        model: a module or function of `(N, C, H, W)`.
        budget: area as a share of the support.
        iterations: gradient steps.
        objective: "preserve", "delete" or "dual".
        perturbation: "blur" or "fade".
        step: pixels per parameter; 1 for pixel-wise masks.
        sigma: how far a parameter spreads, in pixels.
        smooth: blur of the final mask, as a share of the shorter side of the image.
        area_reduction: "mean", or "sum" over the pixels in units of the 32x32 parameters that the
            weight 300 was set for.
        support: as for `SSplain`.
        settings: as for `Attributor`.

    >>> import ssplain
    >>> model = ssplain.models.load("lenet5-mnist")
    >>> images, labels = ssplain.data.bundled("mnist")
    >>> explainer = ExtremalPerturbation(model, step=1, sigma=1, iterations=5)
    >>> result = explainer.explain(images[:2], target=labels[:2])
    >>> bool((result.area > result.wanted).all())  # five iterations are not enough
    True
    """

    def __init__(
        self,
        model: Callable[..., Any],
        *,
        budget: float = 0.5,
        iterations: int = 400,
        objective: Objective = "dual",
        perturbation: Perturbation = "blur",
        step: int = 7,
        sigma: float = 21.0,
        smooth: float = 0.0,
        area_reduction: Literal["mean", "sum"] = "mean",
        support: Support = "nonzero",
        **settings: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(model, **settings)
        require("iterations", iterations, least=1, whole=True)
        require("step", step, least=1, whole=True)
        require("sigma", sigma, above=0)
        require("smooth", smooth, least=0)
        pixel_budget(torch.ones(1, 1, 1, 1, dtype=torch.bool), budget)
        if objective not in ("preserve", "delete", "dual"):
            raise SSplainError(
                f"objective={objective!r} is not known; use 'preserve', 'delete' or 'dual'."
            )
        if perturbation not in ("blur", "fade"):
            raise SSplainError(f"perturbation={perturbation!r} is not known; use 'blur' or 'fade'.")
        if area_reduction not in ("mean", "sum"):
            raise SSplainError(
                f"area_reduction={area_reduction!r} is not known; use 'mean', 'sum'."
            )
        self.budget, self.iterations, self.objective = budget, iterations, objective
        self.perturbation, self.step, self.sigma = perturbation, step, sigma
        self.smooth, self.area_reduction, self.support = smooth, area_reduction, support

    def explain(
        self, images: Tensor, target: Target = None, progress: Progress | None = None
    ) -> ExtremalMasks:
        """Optimise the masks and say how far they came.

        Args:
            images: `(H, W)`, `(C, H, W)` or `(N, C, H, W)`.
            target: as for `attribute`.
            progress: called with the images done and to do.
        """
        with self.ask(images, target, progress) as question:
            return self._optimise_all(question)

    def maps(self, question: Question) -> Tensor:
        """Return the final masks, smoothed."""
        masks = self._optimise_all(question).masks
        return gaussian_blur(masks, self.smooth * min(masks.shape[-2:]))

    def _optimise_all(self, question: Question) -> ExtremalMasks:
        inside = find_support(question.images, self.support)
        wanted = pixel_budget(inside, self.budget)
        # the pyramid and the taps of a mask take room too; a quarter of the batch measured best
        parts = question.run(lambda r: self._optimise(question, r, wanted[r]), len(inside), 4)
        masks, reward = (torch.cat(both) for both in zip(*parts, strict=True))
        values = masks.flatten(1)
        ordered = values.sort(dim=1, descending=True).values
        rank = torch.arange(values.shape[1], device=values.device)
        ones = (rank < wanted[:, None]).to(values)
        distance = (ordered - ones).square().mean(1).sqrt()
        share = wanted / values.shape[1]
        return ExtremalMasks(masks, values.mean(1), share, distance, reward)

    def _optimise(self, question: Question, rows: slice, wanted: Tensor) -> tuple[Tensor, Tensor]:
        """Run gradient ascent on the masks of one batch; return masks and rewards."""
        images = question.images[rows]
        shape = (images.shape[-2], images.shape[-1])
        levels = pyramid(images, self.perturbation)
        make = SmoothMasks(shape, self.step, self.sigma)
        pixels = shape[0] * shape[1]
        scale = AREA_WEIGHT * (pixels / CELLS if self.area_reduction == "sum" else 1.0)
        parameters = torch.ones(len(images), 1, *make.grid).to(images).requires_grad_()
        ascent = torch.zeros_like(parameters)
        for iteration in range(self.iterations):
            with torch.enable_grad():
                canvas = make(parameters)
                reward = self._reward(question, rows, levels, make.crop(canvas))
                values = canvas.flatten(1)
                reference = area_reference(values.detach(), wanted)
                area = (values - reference).square().sum(1) / pixels
                total = (reward - scale * AREA_GROWTH**iteration * area).sum()
            (slope,) = torch.autograd.grad(total, parameters)
            # an average of the slopes, starting with the first, does not enlarge the steps
            ascent.lerp_(slope, 1 - MOMENTUM if iteration else 1.0)
            with torch.no_grad():
                parameters.add_(ascent, alpha=LR).clamp_(0, 1)
        with torch.no_grad():
            masks = make.crop(make(parameters))
            return masks, self._reward(question, rows, levels, masks)

    def _reward(self, question: Question, rows: slice, levels: Tensor, masks: Tensor) -> Tensor:
        """Return the target's value with the kept pixels, less without them, or both, as asked."""
        if self.objective == "preserve":
            return question.answer(perturb(levels, masks), rows)
        if self.objective == "delete":
            return -question.answer(perturb(levels, 1 - masks), rows)
        index = torch.arange(rows.start, rows.stop, device=masks.device).repeat(2)
        both = torch.cat([perturb(levels, masks), perturb(levels, 1 - masks)])
        kept, removed = question.answer(both, index).chunk(2)
        return kept - removed


def area_reference(values: Tensor, count: Tensor) -> Tensor:
    """Return what each value would be in a mask of `count` ones: 1 for the largest, 0 for the rest.

    Equal values share the ones that fall on them, so no order among them is needed, nor any
    sorting: counting the values of each size is enough.

    Args:
        values: `(N, P)` in [0, 1].
        count: `(N,)`, the ones in each row.

    >>> area_reference(torch.tensor([[0.2, 0.9, 0.9]]), torch.tensor([1]))
    tensor([[0.0000, 0.5000, 0.5000]])
    """
    size = (values * SAME).round().long()
    having = values.new_zeros(len(values), SAME + 1).scatter_add(1, size, torch.ones_like(values))
    larger = having.flip(1).cumsum(1).flip(1) - having
    share = (count[:, None] - larger).clamp(min=0) / having.clamp(min=1)
    return share.clamp(max=1).gather(1, size)
