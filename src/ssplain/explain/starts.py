"""A start that knows the model: the image's intensity, tilted by one gradient."""

import torch
from torch import Tensor

from ssplain.explain.inputs import start_mask
from ssplain.explain.objectives import log_of_others
from ssplain.explain.protocol import Question

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

    def slope(rows: slice) -> Tensor:
        leaf = (FADED * inside[rows]).requires_grad_()
        with torch.enable_grad():
            classifier = question.classifier.take(rows)
            log_p = classifier.log_probabilities(images[rows] * leaf)
            log_odds = question.weights[rows] * (log_p - log_of_others(log_p))
        return torch.autograd.grad(log_odds.sum(), leaf)[0]

    gradient = torch.cat(question.quiet().run(slope, len(images))) * inside
    pixels = inside.sum((1, 2, 3), keepdim=True)
    apart = (gradient - gradient.sum((1, 2, 3), keepdim=True) / pixels) * inside
    spread = (apart.square().sum((1, 2, 3), keepdim=True) / pixels).sqrt()
    tilt = (apart / spread.clamp(min=torch.finfo(spread.dtype).tiny)).clamp(-MOST, MOST)
    return start_mask(images, support, "intensity") + TILT * tilt
