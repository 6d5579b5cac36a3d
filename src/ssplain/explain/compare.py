"""Several explainers on the same images: their maps and what they took."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from ssplain.errors import SSplainError
from ssplain.explain.registry import Method, make, method
from ssplain.question.targets import Target


@dataclass(frozen=True, eq=False)
class Compared:
    """What one explainer said.

    Attributes:
        method: which one.
        maps: `(N, 1, H, W)`, or None if it could not be run.
        seconds: time per image, all images in one call.
        complaint: why it could not be run.
    """

    method: Method
    maps: Tensor | None
    seconds: float
    complaint: str = ""


def compare(
    model: Callable[..., Any],
    images: Tensor,
    target: Target = None,
    *,
    explainers: Sequence[str],
    dataset: str | None = None,
    stable: bool = False,
    **settings: Any,  # noqa: ANN401 - passed on to each explainer
) -> Iterator[Compared]:
    """Run explainers one after the other, yielding each as it is done.

    One that cannot work on this model (Guided Grad-CAM without a convolution, say) is yielded with
    its complaint and does not stop the others.

    Args:
        model: a module or function of `(N, C, H, W)`.
        images: `(N, C, H, W)`.
        target: the explained classes; None for the predicted ones.
        explainers: names from the registry.
        dataset: "mnist", "fmnist" or "rop" for the paper's settings.
        stable: whether SSplain's maps are to be stable under rounding; see `SSplain`.
        settings: what all of them take: `output`, `output_kind`, `channels`, `batch_size`, `seed`.

    >>> import ssplain
    >>> model = ssplain.models.load("lenet5-mnist")
    >>> images, labels = ssplain.data.bundled("mnist")
    >>> found = compare(model, images[:2], labels[:2], explainers=["saliency", "intensity"])
    >>> [(one.method.title, tuple(one.maps.shape)) for one in found]
    [('Saliency', (2, 1, 28, 28)), ('Intensity', (2, 1, 28, 28))]
    """
    known = [method(name) for name in explainers]
    # what is wrong for all is said once; and the first call of a model is slow, so it is not timed
    make("intensity", model, **settings).attribute(images, target)
    for one in known:
        started = time.perf_counter()
        try:
            own = {"stable": True} if stable and one.family == "ssplain" else {}
            maps = make(one.name, model, dataset, **settings, **own).attribute(images, target)
        except SSplainError as error:
            yield Compared(one, None, 0.0, str(error))
        except RuntimeError as error:  # of PyTorch or Captum, such as for want of a gradient
            reason = (str(error).splitlines() or ["it failed"])[0]
            if "does not require grad" in reason or "not have been used in the graph" in reason:
                reason = "it needs a gradient with respect to the image, and the model has none."
            yield Compared(one, None, 0.0, reason)
        else:
            yield Compared(one, maps, (time.perf_counter() - started) / len(maps))
