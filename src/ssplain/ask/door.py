"""The one door to a model: everything that asks a classifier about images comes through here.

It checks the images, brings them to the model's device and number type, freezes the model (of one
with 16-bit weights a copy in 32 bits, see `ssplain.ask.widen`), settles what its output means and
chooses how many images go at a time. Explainers and measures take the
same options (`ModelOptions`) and hand them to a `Door`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypedDict, TypeVar

import torch
from torch import Tensor

from ssplain.ask.adapter import (
    Classifier,
    OutputKind,
    OutputSelector,
    first_channels,
    home_of,
    plain,
)
from ssplain.ask.batching import as_batch, fitting_batch, run_in_batches
from ssplain.ask.context import Context, Fill, Images
from ssplain.ask.holding import frozen, plain_arithmetic, require_gradients
from ssplain.ask.widen import NARROW, is_narrow, widened
from ssplain.errors import SSplainError

T = TypeVar("T")


class ModelOptions(TypedDict, total=False):
    """How a model is to be called; whatever asks a model takes these, as `**options`.

    Attributes:
        output: which part of what the model returns holds the class values: an index, a name, or
            a function that picks it; what is called `logits` is found by itself.
        output_kind: whether these are "logits" or "probs"; "auto" looks at them.
        channels: how many channels the model takes, if its first convolution does not tell.
        batch_size: images in one call of the model; bounds the memory, does not change the result.
        image_convolution: whether a first convolution may take our faster way back to the image
            (see `ssplain.ask.convolution`); False leaves all layers as they are.
        fill: what a hidden pixel shows: zero, another number, one per channel, "mean", "blur", a
            tensor, or a function of the images; see `ssplain.ask.context`.
    """

    output: OutputSelector
    output_kind: OutputKind
    channels: int | None
    batch_size: int | None
    image_convolution: bool
    fill: Fill


@dataclass(frozen=True, eq=False)
class OpenModel:
    """A model and some images, while the door is open.

    Attributes:
        classifier: the model, frozen, its kind of output known.
        images: `(N, C, H, W)` on the model's device, in its number type (32 bits at least), less
            what hidden pixels show: zero is hidden.
        probabilities: `(N, classes)` for these images.
        batch_size: images in one call of the model.
    """

    classifier: Classifier
    images: Tensor
    probabilities: Tensor
    batch_size: int

    def run(self, work: Callable[[slice], T], count: int, weight: int = 1) -> list[T]:
        """Call `work` on consecutive slices of `range(count)` that fit into memory.

        Args:
            work: what to do with some of the items.
            count: how many there are.
            weight: how many images' room one of them takes.
        """
        return run_in_batches(work, count, max(1, self.batch_size // weight))

    def probabilities_of(self, images: Tensor) -> Tensor:
        """Return `(n, classes)` probabilities of images made from the model's, without a graph."""
        return torch.cat(
            self.run(
                lambda rows: self.classifier.take(rows).probabilities(images[rows]), len(images)
            )
        )

    def each_channel(self) -> Tensor:
        """Return the images with all channels that the model takes, grey ones repeated."""
        classifier = self.classifier
        wanted = classifier.channels or first_channels(classifier.model) or self.images.shape[1]
        return self.images.expand(-1, wanted, -1, -1)


class Door:
    """The way to a model, with the options that say how it is called.

    Args:
        model: a module or function of `(N, C, H, W)`.
        output: see `ModelOptions`, as for all that follow.
        output_kind: "logits", "probs" or "auto".
        channels: how many channels the model takes.
        batch_size: images in one call of the model.
        image_convolution: whether a first convolution may be replaced by a faster one.
        fill: what a hidden pixel shows.

    >>> door = Door(lambda x: {"logits": x.flatten(1)}, output="logits")
    >>> with door.open(torch.tensor([[0.0, 2.0]])) as opened:
    ...     opened.probabilities, opened.probabilities_of(torch.zeros(1, 1, 1, 2))
    (tensor([[0.1192, 0.8808]]), tensor([[0.5000, 0.5000]]))
    """

    def __init__(
        self,
        model: Callable[..., Any],
        *,
        output: OutputSelector = None,
        output_kind: OutputKind = "auto",
        channels: int | None = None,
        batch_size: int | None = None,
        image_convolution: bool = True,
        fill: Fill = None,
    ) -> None:
        for name, value in (("channels", channels), ("batch_size", batch_size)):
            if value is not None and (type(value) is not int or value < 1):
                raise SSplainError(
                    f"{name}={value!r} does not work; give a whole number of at least 1."
                )
        self.classifier = Classifier(plain(model), output, output_kind, channels, image_convolution)
        self.batch_size, self.fill = batch_size, fill

    @contextmanager
    def open(
        self,
        images: Images,
        *,
        fill: Fill = None,
        arguments: object = None,
        known: Tensor | None = None,
    ) -> Iterator[OpenModel]:
        """Try the model on images and hold it ready for more; it is frozen until this ends.

        Every complaint about model and images together is made here, before any work starts.

        Args:
            images: `(H, W)`, `(C, H, W)` or `(N, C, H, W)`.
            fill: goes before the door's own.
            arguments: given to the model after the images: one, or a tuple of them; a tensor with
                one row per image is given row by row.
            known: `(N, classes)` the model's probabilities for these images, if it was asked for
                them before; it is then tried on the first image only.
        """
        with plain_arithmetic():
            yield from self._open(images, fill, arguments, known)

    def _open(
        self, images: Images, fill: Fill, arguments: object, known: Tensor | None
    ) -> Iterator[OpenModel]:
        given = as_batch(images)
        if given.is_inference():
            given = given.clone()
        if given.dtype in NARROW:
            given = given.float()  # solved in 32 bits, whatever the images came in
        require_gradients(self.classifier.model)
        narrow = is_narrow(self.classifier.model)
        # made anew each time: the caller may train on in between
        model = widened(self.classifier.model)
        batch = given.to(**home_of(model, given))
        context = Context.of(batch, self.fill if fill is None else fill, arguments)
        if context.ground is not None:
            batch = batch - context.ground
        size = self.batch_size or fitting_batch(*batch.shape[-2:])
        with frozen(model):
            asked = replace(self.classifier, model=model, context=context, widened=narrow)
            classifier, found = asked.settle(batch if known is None else batch[:1], size)
            probabilities = found if known is None else known.to(found)
            yield OpenModel(classifier, batch, probabilities, size)
