"""Models that are not classifiers as classifiers: one label of several, a number and a threshold.

Explanations and measures are about a decision. A head of independent labels makes one for each
label; a regression makes one where a threshold is set. Both become a model of two classes, 0 for no
and 1 for yes, which everything in this package understands.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from ssplain.ask.adapter import OutputKind, OutputSelector, pick_values
from ssplain.ask.named import told_classes
from ssplain.errors import SSplainError

YES_OR_NO = ("no", "yes")


class OneLabel(nn.Module):
    """One label of a multi-label model: is it there (class 1) or not (class 0)?

    Args:
        model: any model whose values are one logit (or probability) per label.
        label: which one, from 0.
        probabilities: whether the values are probabilities.
        output: which part of what the model returns holds the values.

    >>> labels = OneLabel(nn.Flatten(), 1)
    >>> labels(torch.tensor([[[[5.0, -2.0, 0.0]]]]))
    tensor([[ 0., -2.]])
    """

    classes = YES_OR_NO

    def __init__(
        self,
        model: nn.Module,
        label: int,
        *,
        probabilities: bool = False,
        output: OutputSelector = None,
    ) -> None:
        super().__init__()
        self.model, self.label, self.output = model, label, output
        self.probabilities = probabilities

    def forward(self, images: Tensor, *more: Any) -> Tensor:  # noqa: ANN401
        """Return two logits, the first of them zero."""
        values = pick_values(self.model(images, *more), self.output, len(images))
        if not 0 <= self.label < values.shape[1]:
            raise SSplainError(
                f"There is no label {self.label}: the model has {values.shape[1]}, 0 to "
                f"{values.shape[1] - 1}."
            )
        chosen = values[:, [self.label]]
        if self.probabilities:
            chosen = torch.logit(chosen, eps=torch.finfo(chosen.dtype).eps)
        return torch.cat([torch.zeros_like(chosen), chosen], dim=1)

    def extra_repr(self) -> str:
        """Return what tells this head from others of the same model."""
        return f"label={self.label}, probabilities={self.probabilities}, output={self.output!r}"


class AtLeast(nn.Module):
    r"""A regression as a decision: is the number at least the threshold (class 1)?

    The logit of class 1 is \((f(X) - t) / s\): the scale s says how far beyond the threshold the
    answer is clear (at t + 2s the probability of class 1 is 0.88).

    Args:
        model: any model that returns a number per image, or several.
        threshold: t.
        scale: s, for example the model's usual error.
        number: which one, if it returns several.
        output: which part of what the model returns holds the numbers.

    >>> severe = AtLeast(lambda x: x.flatten(1), threshold=5.0)
    >>> severe(torch.tensor([[[[7.0]]], [[[4.0]]]]))
    tensor([[ 0.,  2.],
            [ 0., -1.]])
    """

    classes = YES_OR_NO

    def __init__(
        self,
        model: nn.Module,
        threshold: float,
        scale: float = 1.0,
        *,
        number: int = 0,
        output: OutputSelector = None,
    ) -> None:
        super().__init__()
        if not scale > 0:
            raise SSplainError(f"scale={scale!r} does not work; give a number above 0.")
        self.model, self.threshold, self.scale = model, threshold, scale
        self.number, self.output = number, output

    def forward(self, images: Tensor, *more: Any) -> Tensor:  # noqa: ANN401
        """Return two logits, the first of them zero."""
        values = pick_values(self.model(images, *more), self.output, len(images))
        if not 0 <= self.number < values.shape[1]:
            raise SSplainError(
                f"There is no number {self.number}: the model returns {values.shape[1]} per image."
            )
        logit = (values[:, [self.number]] - self.threshold) / self.scale
        return torch.cat([torch.zeros_like(logit), logit], dim=1)

    def extra_repr(self) -> str:
        """Return what tells this head from others of the same model."""
        return (
            f"threshold={self.threshold}, scale={self.scale}, number={self.number}, "
            f"output={self.output!r}"
        )


class Normalised(nn.Module):
    r"""A model for normalised images as one for images in [0, 1]: \(f((X - m) / s)\).

    With it, black stays zero, pictures show the image as it is, and nothing has to be undone.

    Args:
        model: any model that was trained on normalised images.
        mean: m, one number or one per channel.
        std: s, likewise.

    >>> Normalised(nn.Flatten(), 0.5, 0.25)(torch.ones(1, 1, 1, 1))
    tensor([[2.]])
    """

    mean: Tensor
    std: Tensor

    def __init__(
        self, model: nn.Module, mean: float | Sequence[float], std: float | Sequence[float]
    ) -> None:
        super().__init__()
        self.model, self.classes = model, told_classes(model)
        for name, given in (("mean", mean), ("std", std)):
            self.register_buffer(name, _per_channel(given, name))
        if not bool((self.std > 0).all()):
            raise SSplainError("A std is not above 0; give what the images were divided by.")
        if len(self.mean) > 1:
            self.image_channels = len(self.mean)

    def forward(self, images: Tensor, *more: Any) -> Any:  # noqa: ANN401 - whatever it returns
        """Return what the model says about the normalised images."""
        return self.model((images - self.mean.to(images)) / self.std.to(images), *more)


@dataclass(frozen=True)
class Head:
    """How a model becomes a classifier of images in [0, 1], if it is not one already.

    Attributes:
        label: which of several independent labels is asked about; with `at_least`, which number.
        at_least: the threshold of a regression, and how far beyond it the answer is clear.
        mean: with `std`, what the model's images are normalised by: one number, or one per channel.
        std: see `mean`.

    >>> model, output, kind = Head(label=1, mean=(0.5,), std=(0.25,)).on(nn.Flatten())
    >>> model(torch.tensor([[[[1.0, 0.0]]]])), output, kind
    (tensor([[ 0., -2.]]), None, 'logits')
    """

    label: int | None = None
    at_least: tuple[float, ...] | None = None
    mean: tuple[float, ...] | None = None
    std: tuple[float, ...] | None = None

    @property
    def classes(self) -> tuple[str, str] | None:
        """The two classes that a label or a threshold makes; None if the model has its own."""
        return None if self.label is None and self.at_least is None else YES_OR_NO

    def on(
        self, model: nn.Module, output: OutputSelector = None, kind: OutputKind = "auto"
    ) -> tuple[nn.Module, OutputSelector, OutputKind]:
        """Return the model with this head, and how what it returns is to be read.

        Args:
            model: as it was loaded.
            output: which part of what the model returns holds its values.
            kind: what these values are.
        """
        if self.classes is not None:
            if self.at_least is None:
                asked = kind == "probs"
                model = OneLabel(model, self.label or 0, probabilities=asked, output=output)
            else:
                if len(self.at_least) > 2:
                    raise SSplainError(
                        f"at_least={self.at_least} does not work; give the threshold, or the "
                        "threshold and the scale."
                    )
                model = AtLeast(model, *self.at_least, number=self.label or 0, output=output)
            output, kind = None, "logits"
        if self.mean is not None or self.std is not None:
            model = Normalised(model, self.mean or 0.0, self.std or 1.0)
        return model.eval(), output, kind


def denormalise(
    images: Tensor, mean: float | Sequence[float], std: float | Sequence[float]
) -> Tensor:
    """Return normalised images as they look, in [0, 1].

    >>> denormalise(torch.tensor([[[-2.0, 2.0]]]), 0.5, 0.25)
    tensor([[[0., 1.]]])
    """
    scale, shift = (_per_channel(given, "mean or std").to(images) for given in (std, mean))
    return (images * scale + shift).clamp(0, 1)


def _per_channel(given: float | Sequence[float], name: str) -> Tensor:
    numbers = torch.as_tensor(given, dtype=torch.get_default_dtype()).reshape(-1, 1, 1)
    if len(numbers) not in (1, 3) or not bool(torch.isfinite(numbers).all()):
        raise SSplainError(f"{name}={given!r} does not work; give one number, or one per channel.")
    return numbers
