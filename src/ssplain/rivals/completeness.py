"""Do the scores add up? The check that tells a broken attribution from a working one."""

import warnings

import torch
from torch import Tensor

from ssplain.question.protocol import Question

TOLERANCE = 0.1


def completeness_error(maps: Tensor, question: Question, baseline: Tensor) -> Tensor:
    r"""Return how far each map is from adding up to the difference that it explains.

    Integrated Gradients and DeepLIFT promise \(\sum_i A_i = f(X) - f(B)\) for the baseline B. Too
    few steps, or an activation that the method could not see, break the promise silently.

    Args:
        maps: `(N, C, H, W)`, before the channels are joined.
        question: what was explained.
        baseline: one image `(1, C, H, W)`, or `(N, C, H, W)`.

    Returns:
        The error of each image, as a share of its scores without their signs or of what they
        should add up to, whichever is larger, `(N,)`.
    """
    images = question.images
    everyone = torch.arange(len(images), device=images.device)
    start = baseline.expand_as(images)
    question = question.quiet()
    whole = question.answers(lambda at: images[at], everyone)
    empty = question.answers(lambda at: start[at], everyone)
    scores, difference = maps.flatten(1), whole - empty
    size = torch.maximum(scores.abs().sum(1), difference.abs())
    # below a thousandth of the output itself, the difference is little but rounding
    size = torch.maximum(size, 1e-3 * whole.abs()).clamp(min=torch.finfo(maps.dtype).tiny)
    return (scores.sum(1) - difference).abs() / size


def warn_if_incomplete(name: str, maps: Tensor, question: Question, baseline: Tensor) -> Tensor:
    """Return the `completeness_error` of each map, and warn where it is large.

    Args:
        name: of the explainer, for the warning.
        maps: as for `completeness_error`.
        question: what was explained.
        baseline: as for `completeness_error`.
    """
    error = completeness_error(maps, question, baseline)
    bad = error > TOLERANCE
    if bool(bad.any()):
        warnings.warn(
            f"The scores of {name} do not add up for {int(bad.sum())} of {len(maps)} images (off "
            f"by up to {float(error.max()):.0%}): do not trust them; use more steps, "
            "or check that every activation of the model is a module of its own.",
            RuntimeWarning,
            stacklevel=2,
        )
    return error
