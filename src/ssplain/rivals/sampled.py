"""LIME and KernelSHAP: a linear model of the classifier around an image, from random samples.

Both black out random sets of features (pixels, or segments), ask the model, and fit a linear model
whose coefficients are the scores. The draws, kernels and regressions are those of Captum 0.9, so
that a seed gives its result; what differs is the way there. All images see the same draws, as if
each were explained alone with that seed: so batches run over images and samples together, a
sample's distance to the image is a matrix product, and KernelSHAP solves all images in one go.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.linear_model import Lasso, LinearRegression
from torch import Tensor

from ssplain.errors import SSplainError
from ssplain.question.checks import require
from ssplain.question.protocol import Attributor, Question

Segments = Tensor | Callable[[Tensor], Tensor] | None
_Numbers = NDArray[np.float64]


class Sampled(Attributor):
    """The base of LIME and KernelSHAP: draw, ask, fit.

    Args:
        model: a module or function of `(N, C, H, W)`.
        samples: how many sets of features are tried.
        segments: None takes each pixel (with all its channels) as a feature, as the paper does;
            otherwise whole numbers from 0 on, `(H, W)` for all images or `(N, 1, H, W)`, or a
            function of the images that returns such: equal numbers are one feature.
        settings: as for `Attributor`.
    """

    def __init__(
        self,
        model: Callable[..., Any],
        *,
        samples: int = 200,
        segments: Segments = None,
        **settings: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(model, **settings)
        require("samples", samples, least=3, whole=True)
        self.samples, self.segments = samples, segments

    @abstractmethod
    def draw(self, features: int, generator: torch.Generator) -> Tensor:
        """Return which features each sample keeps, `(samples, features)` of zeros and ones."""

    @abstractmethod
    def fit(self, kept: Tensor, answers: Tensor, energy: Tensor) -> Tensor:
        """Return the coefficients `(n, features)` of n images.

        Args:
            kept: `(samples, features)` of zeros and ones.
            answers: `(n, samples)`, what the model says.
            energy: `(n, features)`, the sum of squares of each feature's pixels.
        """

    def maps(self, question: Question) -> Tensor:
        """Return each pixel's feature's coefficient."""
        images = question.images
        labels = as_labels(self.segments, images).flatten(1)
        counts = labels.amax(1) + 1
        maps = torch.zeros_like(images[:, 0].flatten(1))
        # images with as many features share their draws; pixels as features make one such group
        for features in sorted(set(counts.tolist())):
            rows = (counts == features).nonzero().squeeze(1)
            generator = torch.Generator().manual_seed(self.seed)
            kept = self.draw(features, generator).to(images)
            answers = self._answers(question, rows, labels, kept)
            squares = images[rows].square().sum(1).flatten(1)
            energy = squares.new_zeros(len(rows), features).scatter_add(1, labels[rows], squares)
            coefficients = self.fit(kept, answers, energy)
            maps[rows] = coefficients.to(maps).gather(1, labels[rows])
        return maps.view_as(images[:, :1])

    def _answers(self, question: Question, rows: Tensor, labels: Tensor, kept: Tensor) -> Tensor:
        """Ask about every sample of every image, `(n, samples)`."""
        images, size = question.images, question.images[:, :1].shape

        def perturbed(at: Tensor) -> Tensor:
            which = index[at]
            mask = kept[at % len(kept)].gather(1, labels[which])
            return images[which] * mask.view(-1, *size[1:])

        index = rows.repeat_interleave(len(kept))
        return question.answers(perturbed, index).view(len(rows), len(kept))


class Lime(Sampled):
    r"""LIME: the lasso of the answers on the features kept, near samples first.

    M. Ribeiro, S. Singh and C. Guestrin, "Why should I trust you?", KDD 2016. Each feature is kept
    with probability one half; a sample z weighs \(\exp(-d^2/2)\) with the cosine distance
    \(d = 1 - \cos(X, X_z)\); the lasso has penalty `alpha`.

    Args:
        model: a module or function of `(N, C, H, W)`.
        alpha: penalty of the lasso.
        settings: as for `Sampled`.

    >>> import ssplain
    >>> model = ssplain.models.load("lenet5-mnist")
    >>> images, labels = ssplain.data.bundled("mnist")
    >>> Lime(model, samples=50).attribute(images[:2], target=labels[:2]).shape
    torch.Size([2, 1, 28, 28])
    """

    def __init__(
        self,
        model: Callable[..., Any],
        *,
        alpha: float = 0.01,
        **settings: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(model, **settings)
        require("alpha", alpha, above=0)
        self.alpha = alpha

    def draw(self, features: int, generator: torch.Generator) -> Tensor:
        """Keep each feature with probability one half."""
        # one draw per sample, as the generator then runs as it does for a single image in Captum
        half = torch.full((1, features), 0.5)
        draws = [torch.bernoulli(half, generator=generator) for _ in range(self.samples)]
        return torch.cat(draws)

    def fit(self, kept: Tensor, answers: Tensor, energy: Tensor) -> Tensor:
        """Fit one lasso per image."""
        # X and X_z differ only where X_z is black, so cos(X, X_z) = |X_z| / |X|
        whole = energy.sum(1, keepdim=True).clamp(min=torch.finfo(energy.dtype).tiny)
        cosine = (energy @ kept.T / whole).sqrt()
        weights = torch.exp(-((1 - cosine) ** 2) / 2)
        design = kept.cpu().numpy()
        lasso = Lasso(alpha=self.alpha, max_iter=10_000)
        fitted = [
            lasso.fit(design, y, sample_weight=w).coef_
            for y, w in zip(answers.cpu().numpy(), weights.cpu().numpy(), strict=True)
        ]
        return torch.from_numpy(np.stack(fitted))


class KernelShap(Sampled):
    r"""KernelSHAP: Shapley values by weighted least squares.

    S. Lundberg and S.-I. Lee, A unified approach to interpreting model predictions, NIPS 2017. Of F
    features k are kept with probability proportional to \(1 / (k (F - k))\), which stands for the
    Shapley kernel; all and none are always tried and weigh a million times as much, so that the
    scores add up. With fewer samples than features the solution of least norm is taken.

    >>> both = KernelShap(lambda x: 3 * x.flatten(1) + 1, samples=20)
    >>> both.attribute(torch.tensor([[2.0, 5.0]]), target=0).round(decimals=2).abs()
    tensor([[[[6., 0.]]]])
    """

    weight_of_ends = 1e6

    def draw(self, features: int, generator: torch.Generator) -> Tensor:
        """Keep all, none, and then random sets whose sizes follow the Shapley kernel."""
        if features < 2:
            raise SSplainError("KernelSHAP needs at least two features; give more segments.")
        sizes = torch.arange(features, dtype=torch.float32)
        chances = (features - 1) / (sizes * (features - sizes))
        chances[0] = 0.0
        chances /= chances.sum()
        draws = [torch.ones(1, features), torch.zeros(1, features)]
        for _ in range(self.samples - 2):
            size = int(torch.multinomial(chances, 1, replacement=True, generator=generator))
            field = torch.randn(1, features, generator=generator)
            draws.append((field > field.kthvalue(features - size).values).float())
        return torch.cat(draws)

    def fit(self, kept: Tensor, answers: Tensor, energy: Tensor) -> Tensor:  # noqa: ARG002
        """Solve the least squares of all images at once."""
        weights = np.ones(len(kept))
        weights[:2] = self.weight_of_ends
        # in double: with weights this far apart, single precision loses half of its digits
        design, values = kept.cpu().double().numpy(), answers.cpu().double().numpy()
        regression = LinearRegression().fit(design, values.T, sample_weight=weights)
        return torch.from_numpy(regression.coef_)


def as_labels(segments: Segments, images: Tensor) -> Tensor:
    """Return the feature that each pixel belongs to, `(N, H, W)`.

    >>> as_labels(None, torch.zeros(1, 3, 2, 2)).tolist()
    [[[0, 1], [2, 3]]]
    """
    n, _, height, width = images.shape
    if segments is None:
        pixels = torch.arange(height * width, device=images.device).view(height, width)
        return pixels.expand(n, -1, -1)
    given = segments if isinstance(segments, Tensor) else segments(images)
    right = given.shape in ((height, width), (n, 1, height, width))
    if not right or given.is_floating_point() or int(given.min()) < 0:
        raise SSplainError(
            f"The segments are {given.dtype} of shape {tuple(given.shape)}; give whole numbers "
            f"from 0 on, ({height}, {width}) for all images or ({n}, 1, {height}, {width})."
        )
    return given.long().to(images.device).reshape(-1, height, width).expand(n, -1, -1)
