"""Does the mask carry the decision? The model's opinion with only the mask, and without it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ssplain.explain import Explanation
from ssplain.models.adapter import Classifier, OutputKind, OutputSelector, frozen, home_of
from ssplain.models.batching import fitting_batch, run_in_batches


@dataclass(frozen=True, eq=False)
class Kept:
    """Probabilities of the target, `(N,)` each.

    Attributes:
        whole: for the whole image.
        only: for the pixels that the mask keeps, the rest black (high is good).
        without: for the image without these pixels (low is good).
    """

    whole: Tensor
    only: Tensor
    without: Tensor


def kept_and_removed(
    model: Callable[..., Any],
    result: Explanation,
    *,
    output: OutputSelector = None,
    output_kind: OutputKind = "auto",
    channels: int | None = None,
) -> Kept:
    """Return the target's probability with only the mask's pixels, and with them removed.

    A pixel is kept, at its full brightness, if its mask value is above zero.

    >>> import ssplain
    >>> model = ssplain.models.load("lenet5-mnist")
    >>> images, labels = ssplain.data.bundled("mnist")
    >>> result = ssplain.SSplain(model, **ssplain.preset("mnist")).explain(images[:3], labels[:3])
    >>> kept = kept_and_removed(model, result)
    >>> bool((kept.only > kept.without).all())
    True
    """
    images = result.images.to(**home_of(model, result.images))
    kept = (result.mask > 0).to(images)
    size = fitting_batch(*images.shape[-2:])
    with frozen(model):
        classifier, whole = Classifier(model, output, output_kind, channels).settle(images, size)

        def target_probability(masked: Tensor) -> Tensor:
            parts = run_in_batches(lambda r: classifier.probabilities(masked[r]), len(masked), size)
            return _of_target(torch.cat(parts), result.target)

        return Kept(
            whole=_of_target(whole, result.target),
            only=target_probability(images * kept),
            without=target_probability(images * (1 - kept)),
        )


def _of_target(probabilities: Tensor, target: Tensor) -> Tensor:
    return probabilities.gather(1, target.to(probabilities.device)[:, None]).squeeze(1).cpu()
