"""Whether the images around an image change what a model says of it, if only by rounding.

Explainers that follow the sign of small gradients turn a difference in the last bit into another
map, so that a batch is a batch only where each image in it gets the very bits that it gets alone.
`ModelPass` sees to that for the layers that it knows; this file finds out whether a model has
others, and tries it.
"""

from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from ssplain.ask.adapter import Classifier
from ssplain.ask.door import OpenModel
from ssplain.errors import no_memory

TRIED = 16  # images in the trial

# What trials of a model said, by all that they depend on but its weights: a trial costs as much as
# two steps of SSplain, and a long job calls it for every batch.
_said: WeakKeyDictionary[nn.Module, dict[tuple[object, ...], str]] = WeakKeyDictionary()

# What treats each image in a batch as it does alone, forth and back: measured bit by bit on random
# networks for batches of 1 to 33 images with one and two threads. Not among them, and measured to
# differ: GELU, SiLU, sigmoid, ELU, softplus (the last few of all values are computed by other
# instructions than the rest), products of matrices in attention, layer and group norms, transposed
# convolutions and convolutions in groups.
_SAME_VALUES = """
    relu relu_ threshold leaky_relu leaky_relu_ hardtanh hardtanh_ hardswish hardswish_ hardsigmoid
    hardsigmoid_ tanh tanh_ exp log log1p erf abs neg clamp clamp_ clamp_min clamp_max
    add add_ sub sub_ rsub mul mul_ div div_ where maximum minimum square reciprocal rsqrt sqrt
    max_pool2d_with_indices avg_pool2d _adaptive_avg_pool2d adaptive_max_pool2d mean
    constant_pad_nd reflection_pad2d replication_pad2d upsample_nearest2d addmm mm
    zeros zeros_like ones ones_like empty empty_like new_zeros full full_like scalar_tensor
"""
_SAME_PLACES = """
    view _unsafe_view reshape expand slice select squeeze unsqueeze transpose t permute alias detach
    clone copy_ _to_copy cat stack split split_with_sizes chunk flatten unbind as_strided
    as_strided_ flip roll pixel_shuffle pixel_unshuffle unfold resize_ fill_
"""
TRUSTED = frozenset(f"{_SAME_VALUES} {_SAME_PLACES}".split())


class _Listener(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes which operators run, however deep in a model or program."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.unknown: set[str] = set()

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # PyTorch would load its compiler to keep it away from this, which takes two seconds
        return False

    def __torch_dispatch__(
        self,
        func: Any,  # noqa: ANN401 - as PyTorch declares it
        types: Any,  # noqa: ANN401
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        name = func.overloadpacket.__name__
        if name == "convolution":
            transposed, groups = args[6], args[8]
            each_alone = groups == args[0].shape[1] == args[1].shape[0]
            if transposed or not (groups == 1 or each_alone):
                self.unknown.add(
                    "transposed convolutions" if transposed else "grouped convolutions"
                )
        elif name not in TRUSTED:
            self.unknown.add(name)
        return func(*args, **(kwargs or {}))


def in_fitting_company(opened: OpenModel) -> tuple[OpenModel, str]:
    """Return an opened model with batches in which each image gets the bits that it gets alone.

    That is one image at a time where company matters, and any number where it does not; on other
    devices than a CPU nothing is promised. The second part says which it is, for the result's
    settings.
    """
    device = opened.images.device.type
    if device != "cpu":
        return opened, f"together; on {device} an image's neighbours may change its rounding"
    reason = company_matters(opened.classifier, opened.images, opened.batch_size)
    if not reason:
        return opened, "together, each image as if alone"
    alone = replace(opened, batch_size=1)
    alone = replace(alone, probabilities=alone.probabilities_of(alone.images))
    return alone, f"one image at a time, since {reason}"


def company_matters(classifier: Classifier, images: Tensor, batch_size: int) -> str:
    """Return why an image may get other bits in a batch than alone; nothing if it does not.

    Args:
        classifier: settled.
        images: `(N, C, H, W)`.
        batch_size: images in one call of the model.

    >>> images = torch.rand(4, 1, 8, 8)
    >>> layers = [torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.Flatten()]
    >>> company_matters(Classifier(torch.nn.Sequential(*layers), output_kind="logits"), images, 4)
    ''
    >>> layers[1] = torch.nn.GELU()
    >>> company_matters(Classifier(torch.nn.Sequential(*layers), output_kind="logits"), images, 4)
    'the model uses gelu'
    """
    count = min(len(images), batch_size, TRIED)
    model = classifier.model
    asked, context = classifier.output, classifier.context
    # what a function calls, and what extra arguments change, cannot be seen from here
    if not isinstance(model, nn.Module) or callable(asked) or context.arguments:
        return _try(classifier, images, count)[0]
    said = _said.setdefault(model, {})
    key = (
        tuple(map(type, model.modules())),
        (asked, classifier.output_kind, classifier.channels, classifier.image_convolution),
        (count, *images.shape[1:], images.dtype, torch.get_num_threads()),
    )
    if key not in said:
        reason, certain = _try(classifier, images, count)
        if not certain:
            return reason
        said[key] = reason
    return said[key]


def _try(classifier: Classifier, images: Tensor, count: int) -> tuple[str, bool]:
    """Return why company matters to a model, and whether these images could have shown it."""
    with torch.no_grad(), _Listener() as heard:
        classifier.take(slice(1)).values(images[:1])
    if heard.unknown:
        return f"the model uses {', '.join(sorted(heard.unknown))}", True
    if count < 2:
        return "", True
    some = (slice(1), slice(count - 1, count), slice(count))
    try:
        first, last, together = (_slope(classifier.take(r), images[r]) for r in some)
    except Exception as error:
        if not no_memory(error):
            raise
        return "", False  # smaller batches will be tried, of layers that are known
    if not torch.equal(torch.cat([first, last]), together[[0, -1]]):
        return "this processor computes batches in another way than single images", True
    return "", bool(first.any() and last.any())  # of a flat image nothing is learnt


def _slope(classifier: Classifier, images: Tensor) -> Tensor:
    """Return each image's gradient of the likeliest class, `(N, C, H, W)`."""
    leaf = images.detach().clone().requires_grad_()
    with torch.enable_grad():
        total = classifier.log_probabilities(leaf).amax(1).sum()
    if not total.requires_grad:  # whoever needs the gradient will complain of that
        return torch.zeros_like(leaf)
    return torch.autograd.grad(total, leaf)[0]
