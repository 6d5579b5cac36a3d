"""Does the mask carry the decision? The model's opinion with only the mask, and without it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Unpack

from torch import Tensor

from ssplain.ask.door import Door, ModelOptions
from ssplain.explain import Explanation


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
    model: Callable[..., Any], result: Explanation, **options: Unpack[ModelOptions]
) -> Kept:
    """Return the target's probability with only the mask's pixels, and with them removed.

    A pixel is kept, at its full brightness, if its mask value is above zero.

    Args:
        model: the one that was explained.
        result: what `explain` returned.
        options: how the model is called, as in `SSplain`; see `ssplain.models.ModelOptions`.

    >>> import ssplain
    >>> model = ssplain.models.load("lenet5-mnist")
    >>> images, labels = ssplain.data.bundled("mnist")
    >>> result = ssplain.SSplain(model, **ssplain.preset("mnist")).explain(images[:3], labels[:3])
    >>> kept = kept_and_removed(model, result)
    >>> bool((kept.only > kept.without).all())
    True
    """
    with Door(model, **options).open(result.images, known=result.probabilities) as opened:
        kept = (result.mask > 0).to(opened.images)

        def of_target(probabilities: Tensor) -> Tensor:
            target = result.target.to(probabilities.device)[:, None]
            return probabilities.gather(1, target).squeeze(1).cpu()

        return Kept(
            whole=of_target(opened.probabilities),
            only=of_target(opened.probabilities_of(opened.images * kept)),
            without=of_target(opened.probabilities_of(opened.images * (1 - kept))),
        )
