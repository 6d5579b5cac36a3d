"""Explainers that need nothing but the gradient by the image; no hooks, so any model works."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ssplain.question.checks import require
from ssplain.question.protocol import Attributor, Question
from ssplain.rivals.completeness import completeness_error, warn_if_incomplete


class Saliency(Attributor):
    r"""The size of the gradient, \(|\partial f_y / \partial X|\).

    K. Simonyan, A. Vedaldi and A. Zisserman, Deep inside convolutional networks, 2013.

    >>> twice = Saliency(lambda x: 2 * x.flatten(1))
    >>> twice.attribute(torch.tensor([[3.0, -1.0]]), target=1)
    tensor([[[[0., 2.]]]])
    """

    def maps(self, question: Question) -> Tensor:
        """Return the size of the gradient for each channel and pixel."""
        return question.gradient(question.images).abs()


class InputXGradient(Attributor):
    r"""The image times the gradient, \(X \odot \partial f_y / \partial X\).

    A. Shrikumar, P. Greenside, A. Shcherbina and A. Kundaje, Not just a black box, 2016.

    >>> twice = InputXGradient(lambda x: 2 * x.flatten(1))
    >>> twice.attribute(torch.tensor([[3.0, -1.0]]), target=1)
    tensor([[[[ 0., -2.]]]])
    """

    def maps(self, question: Question) -> Tensor:
        """Return image times gradient for each channel and pixel."""
        return question.images * question.gradient(question.images)


class IntegratedGradients(Attributor):
    r"""The gradient summed on the way from black, \(X \odot \int_0^1 \nabla f_y(a X)\, da\).

    M. Sundararajan, A. Taly and Q. Yan, Axiomatic attribution for deep networks, ICML 2017. The
    integral is Gauss-Legendre quadrature, as in Captum. Steps are added one after the other, so
    memory does not grow with them. Warns if the scores do not add up to \(f(X) - f(0)\).

    Args:
        model: a module or function of `(N, C, H, W)`.
        steps: points of the quadrature.
        settings: as for `Attributor`.

    >>> square = IntegratedGradients(lambda x: x.flatten(1) ** 2)
    >>> square.attribute(torch.tensor([[3.0, 1.0]]), target=0).round().tolist()
    [[[[9.0, 0.0]]]]
    """

    def __init__(
        self,
        model: Callable[..., Any],
        *,
        steps: int = 50,
        **settings: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(model, **settings)
        require("steps", steps, least=1, whole=True)
        self.steps = steps

    def maps(self, question: Question) -> Tensor:
        """Return image times mean gradient for each channel and pixel."""
        maps = integrated(question, self.steps)
        black = torch.zeros_like(question.images[:1])
        warn_if_incomplete("Integrated Gradients", maps, question, black)
        return maps


class CompleteIntegratedGradients(Attributor):
    """Integrated Gradients with as many steps as it takes for the scores to add up.

    The steps are doubled for the images whose scores do not add up yet to what they should, within
    `tolerance` of it (see `warn_if_incomplete`), up to `most` steps. Fifty steps leave a third of
    the difference unexplained on deep networks.

    Args:
        model: a module or function of `(N, C, H, W)`.
        tolerance: the largest error, as a share.
        first: steps to begin with.
        most: steps to end with, whatever the error.
        settings: as for `Attributor`.

    >>> square = CompleteIntegratedGradients(lambda x: x.flatten(1) ** 2)
    >>> square.attribute(torch.tensor([[3.0, 1.0]]), target=0).round().tolist()
    [[[[9.0, 0.0]]]]
    """

    def __init__(
        self,
        model: Callable[..., Any],
        *,
        tolerance: float = 0.02,
        first: int = 50,
        most: int = 1600,
        **settings: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(model, **settings)
        require("tolerance", tolerance, above=0)
        require("first", first, least=1, whole=True)
        require("most", most, least=first, whole=True)
        self.tolerance, self.first, self.most = tolerance, first, most

    def maps(self, question: Question) -> Tensor:
        """Return image times mean gradient for each channel and pixel."""
        images, steps = question.images, self.first
        maps = integrated(question, steps)
        black = torch.zeros_like(images[:1])
        left = torch.arange(len(images), device=images.device)
        while 2 * steps <= self.most:
            error = completeness_error(maps[left], question.take(left), black)
            left = left[error > self.tolerance]
            if len(left) == 0:
                return maps
            steps *= 2
            maps[left] = integrated(question.take(left).quiet(), steps)
        warn_if_incomplete("Integrated Gradients", maps, question, black)
        return maps


def integrated(question: Question, steps: int) -> Tensor:
    """Return image times mean gradient on the way from black, by Gauss-Legendre quadrature."""
    images = question.images
    points, weights = np.polynomial.legendre.leggauss(steps)
    total = torch.zeros_like(images)
    for step in range(steps):
        point, weight = (float(points[step]) + 1) / 2, float(weights[step]) / 2
        total = total + weight * question.part(step, steps).gradient(point * images)
    return images * total
