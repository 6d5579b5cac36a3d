"""iGOS++: a deletion mask and an insertion mask that are optimised together."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor
from torch.nn.functional import interpolate

from ssplain.errors import SSplainError
from ssplain.question.checks import require
from ssplain.question.notices import require_gradient
from ssplain.question.protocol import Attributor, Question
from ssplain.rivals.smooth_masks import gaussian_blur

STEPS = (
    0.0,
    1.0,
    0.5,
    0.25,
    0.125,
    0.06,
    0.03,
    0.015,
)  # tried along the gradient; the best is taken
EDGE = 0.1  # a step of brightness that counts as an edge, for images in [0, 1]


class IntegratedMasks(Attributor):
    r"""iGOS++: where the image must be hidden to lose the class, and shown to keep it.

    S. Khorram, T. Lawson and L. Fuxin, iGOS++: integrated gradient optimized saliency by bilateral
    perturbations, CHIL 2021. With \(\Phi(M) = X \odot M + B \odot (1 - M)\) for a baseline B, two
    masks x and y minimise

    \[ f(\Phi(x)) - f(\Phi(1 - y)) + f(\Phi(xy)) - f(\Phi(1 - xy))
       + \lambda_1\, \mathrm{mean}|1 - xy| + \lambda_2\, \mathrm{BTV}(xy) \]

    Each gradient of f is the mean over masks scaled from almost nothing to the whole, which leads
    out of flat places; BTV is the total variation of the mask where the image has no edge,
    \(\mathrm{mean}\, e^{-(\nabla X)^2 / \sigma^2} |\nabla M|^2\). Masks are coarse and
    enlarged; the score is \(1 - xy\). A step follows the gradient as far as lowers the objective
    most, for each image by itself.

    Args:
        model: a module or function of `(N, C, H, W)`.
        iterations: gradient steps.
        points: scalings of the mask in each gradient.
        size: cells of the masks along each side; the image's own size at most.
        baseline: "blur" (the paper's) or "black".
        sparsity: lambda 1.
        smoothness: lambda 2.
        noise: standard deviation of the noise on the image in each gradient.
        settings: as for `Attributor`.

    >>> import ssplain
    >>> model = ssplain.models.load("lenet5-mnist")
    >>> images, labels = ssplain.data.bundled("mnist")
    >>> IntegratedMasks(model, iterations=2, points=2).attribute(images[:2], labels[:2]).shape
    torch.Size([2, 1, 28, 28])
    """

    per_channel = False

    def __init__(
        self,
        model: Callable[..., Any],
        *,
        iterations: int = 15,
        points: int = 20,
        size: int = 28,
        baseline: Literal["blur", "black"] = "blur",
        sparsity: float = 1.0,
        smoothness: float = 20.0,
        noise: float = 0.0,
        **settings: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(model, **settings)
        require("iterations", iterations, least=1, whole=True)
        require("points", points, least=1, whole=True)
        require("size", size, least=2, whole=True)
        require("sparsity", sparsity, least=0)
        require("smoothness", smoothness, least=0)
        require("noise", noise, least=0)
        if baseline not in ("blur", "black"):
            raise SSplainError(f"baseline={baseline!r} is not known; use 'blur' or 'black'.")
        self.iterations, self.points, self.size, self.baseline = iterations, points, size, baseline
        self.sparsity, self.smoothness, self.noise = sparsity, smoothness, noise

    def maps(self, question: Question) -> Tensor:
        """Return 1 - xy, enlarged to the images."""
        count = len(question.images)
        return torch.cat(question.run(lambda r: self._optimise(question, r), count, 8))

    def _optimise(self, question: Question, rows: slice) -> Tensor:
        images = question.images[rows]
        sides = [min(self.size, side) for side in images.shape[-2:]]
        masks = torch.ones(2, len(images), 1, *sides).to(images)
        ground = torch.zeros_like(images)
        if self.baseline == "blur":
            ground = gaussian_blur(images, min(images.shape[-2:]) / 8)
        clean = _Scene(question, rows, images, ground)
        # the same noise for every image, so that an image's map does not depend on the others
        generator = torch.Generator().manual_seed(self.seed)
        everyone = torch.arange(len(images), device=images.device)
        for _ in range(self.iterations):
            noise = torch.randn(images.shape[1:], generator=generator).to(images) * self.noise
            slope = self._slope(_Scene(question, rows, images + noise, ground), masks)
            largest = slope.abs().amax((0, 2, 3, 4), keepdim=True)
            direction = slope / largest.clamp(min=torch.finfo(slope.dtype).tiny)
            tried = torch.stack([(masks - step * direction).clamp(0, 1) for step in STEPS], 2)
            with torch.no_grad():
                found = [self._objective(clean, one) for one in tried.unbind(2)]
            best = torch.stack(found).argmin(0)
            masks = tried[:, everyone, best]
        return _enlarge(1 - masks[0] * masks[1], images)

    def _slope(self, scene: "_Scene", masks: Tensor) -> Tensor:
        """Return the gradient, integrated over scalings of the masks for the model's part."""
        with torch.enable_grad():
            leaf = masks.detach().requires_grad_()
            (slope,) = torch.autograd.grad(self._penalty(leaf, scene.images).sum(), leaf)
        for point in range(1, self.points + 1):
            with torch.enable_grad():
                leaf = masks.detach().requires_grad_()
                value = scene.shown(leaf, point / self.points)
            require_gradient(value)
            slope = slope + torch.autograd.grad(value.sum(), leaf)[0] / self.points
        return slope

    def _objective(self, scene: "_Scene", masks: Tensor) -> Tensor:
        return scene.shown(masks) + self._penalty(masks, scene.images)

    def _penalty(self, masks: Tensor, images: Tensor) -> Tensor:
        """Return what the product of the masks costs for hiding and for being rough."""
        product = masks[0] * masks[1]
        hidden = (1 - product).abs().mean((1, 2, 3))
        grey = interpolate(images.mean(1, keepdim=True), product.shape[-2:], mode="area")
        rough = torch.zeros_like(hidden)
        for dim in (-2, -1):
            flat = torch.exp(-(grey.diff(dim=dim) ** 2) / EDGE**2)
            rough = rough + (flat * product.diff(dim=dim) ** 2).sum((1, 2, 3))
        return self.sparsity * hidden + self.smoothness * rough / product[0].numel()


@dataclass(frozen=True, eq=False)
class _Scene:
    """Some of the question's images and what is seen where they are hidden."""

    question: Question
    rows: slice
    images: Tensor
    ground: Tensor

    def shown(self, masks: Tensor, scale: float = 1.0) -> Tensor:
        """Return what the images show of the class under four masks, deletion less insertion."""
        first, second = (_enlarge(mask * scale, self.images) for mask in masks)
        product = _enlarge(masks[0] * masks[1] * scale, self.images)
        four = torch.cat([first, 1 - second, product, 1 - product])
        seen = self.images.repeat(4, 1, 1, 1) * four + self.ground.repeat(4, 1, 1, 1) * (1 - four)
        index = torch.arange(self.rows.start, self.rows.stop, device=seen.device).repeat(4)
        room = self.question.batch_size  # less than four: the masks of one image go in turn
        log_p = torch.cat(
            [
                self.question.classifier.take(part).log_probabilities(some)
                for part, some in zip(
                    torch.split(index, room), torch.split(seen, room), strict=True
                )
            ]
        )
        p = (self.question.weights[index] * log_p.exp()).sum(1).chunk(4)
        return p[0] - p[1] + p[2] - p[3]


def _enlarge(masks: Tensor, images: Tensor) -> Tensor:
    if masks.shape[-2:] == images.shape[-2:]:
        return masks
    return interpolate(masks, images.shape[-2:], mode="bilinear", align_corners=False)
