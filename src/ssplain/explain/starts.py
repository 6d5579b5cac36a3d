"""Starts that know the model, by one gradient of it."""

from collections.abc import Callable
from typing import TypeGuard

import torch
from torch import Tensor

from ssplain.ask.context import BLUR, blurred
from ssplain.explain.objectives import log_of_others
from ssplain.question.inputs import Start, start_mask
from ssplain.question.notices import require_gradient
from ssplain.question.protocol import Question

FADED = 0.5  # the gradient is taken of the image at half brightness, where few models are certain
TILT = 0.3  # what one standard deviation of the gradient adds to the intensity
MOST = 3.0  # standard deviations


def gradient_start(question: Question, support: Tensor) -> Tensor:
    r"""Return M(0) from the intensity and the gradient of the target's log-odds, one pass.

    \(M^{(0)} = X / \|X\|_\infty + 0.3\, z\) on the support, where z is the gradient by the mask at
    \(M = 1/2\), less its mean and divided by its standard deviation over the support.

    Args:
        question: the images and what is asked of the model.
        support: `(N, 1, H, W)` boolean.
    """
    images, inside = question.images, support.to(question.images.dtype)
    gradient = _slope(question, FADED * inside) * inside
    pixels = inside.sum((1, 2, 3), keepdim=True)
    apart = (gradient - gradient.sum((1, 2, 3), keepdim=True) / pixels) * inside
    spread = (apart.square().sum((1, 2, 3), keepdim=True) / pixels).sqrt()
    tilt = (apart / spread.clamp(min=torch.finfo(spread.dtype).tiny)).clamp(-MOST, MOST)
    return start_mask(images, support, "intensity") + TILT * tilt


def sensitivity_start(question: Question, support: Tensor) -> Tensor:
    r"""Return M(0) from how much each place matters to the target's log-odds, one pass.

    \(M^{(0)} = G * |\nabla_M \log \frac{f_y}{1 - f_y}|\) at \(M = 1\), divided by its maximum: the
    size of the gradient by the mask, blurred by a Gaussian G of an eighth of the shorter side.
    Unlike the intensity it says something where dark pixels matter as much as bright ones.

    Args:
        question: the images and what is asked of the model.
        support: `(N, 1, H, W)` boolean.
    """
    inside = support.to(question.images.dtype)
    size = _slope(question, inside).abs() * inside
    soft = blurred(size, sigma=min(support.shape[-2:]) / BLUR) * inside
    return soft / soft.amax((1, 2, 3), keepdim=True).clamp(min=torch.finfo(soft.dtype).tiny)


def _slope(question: Question, masks: Tensor) -> Tensor:
    """Return the gradient of the target's log-odds by the masks, like `masks`."""
    images = question.images

    def slope(rows: slice) -> Tensor:
        leaf = masks[rows].detach().requires_grad_()
        with torch.enable_grad():
            log_p = question.classifier.take(rows).log_probabilities(images[rows] * leaf)
            log_odds = question.weights[rows] * (log_p - log_of_others(log_p))
        require_gradient(log_odds)
        return torch.autograd.grad(log_odds.sum(), leaf)[0]

    return torch.cat(question.quiet().run(slope, len(masks)))


# name -> the start from a question and the support
MODEL_STARTS: dict[str, Callable[[Question, Tensor], Tensor]] = {
    "gradient": gradient_start,
    "sensitivity": sensitivity_start,
}


def asks_model(start: Start) -> TypeGuard[str]:
    """Tell whether a start needs the model's gradient, and not the image alone.

    >>> asks_model("gradient"), asks_model("ones")
    (True, False)
    """
    return isinstance(start, str) and start in MODEL_STARTS
