"""One face for any classifier: images in, log-probabilities out, the model left as it was.

A model may return logits, probabilities or a single value per image, as a tensor or inside a tuple
or dict, and take one channel or three. The adapter finds out what it can from the model and its
output, and asks for what it cannot know.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from ssplain.ask.batching import run_in_batches
from ssplain.ask.context import Context
from ssplain.ask.model_pass import LogSoftmax, ModelPass
from ssplain.ask.named import told_classes
from ssplain.errors import SSplainError, no_memory

OutputKind = Literal["auto", "logits", "probs"]
OutputSelector = int | str | Callable[[Any], Tensor] | None


_WRAP = "wrap it in ssplain.models.QueryOnly"
_EXACT = (torch.float32, torch.float64)
# steps that hand values on as they are, between a model's last layer and its output
_PASSED_ON = (
    "ViewBackward0",
    "SqueezeBackward1",
    "SliceBackward0",
    "SelectBackward0",
    "ToCopyBackward0",
)


@dataclass(frozen=True)
class Classifier:
    """A classifier as the explainers see it.

    Args:
        model: any module or callable on `(N, C, H, W)`.
        output: which part of a tuple (index), dict or object (name) holds the class values, or a
            function that picks it. None takes a tensor, or what is called `logits`, as the models
            of Hugging Face do.
        output_kind: whether these are "logits" or "probs" (probabilities). "auto" looks at the
            output: values in [0, 1] that sum to one are probabilities, everything else is logits;
            for a single value within [0, 1] that is undecidable, and it has to be said.
        channels: how many channels the model takes; found from its first convolution if None.
            A grey image is repeated to fit.
        image_convolution: whether a first convolution may take the faster way back to the image.
        context: what the model is given beside the images.
        widened: whether the model is a copy, in 32 bits, of one with 16-bit weights.

    >>> model = Classifier(lambda x: {"logits": x.flatten(1), "loss": None})
    >>> settled, probabilities = model.settle(torch.tensor([[[[0.0, 2.0]]]]))
    >>> settled.output_kind, probabilities
    ('logits', tensor([[0.1192, 0.8808]]))
    """

    model: Callable[..., Any]
    output: OutputSelector = None
    output_kind: OutputKind = "auto"
    channels: int | None = None
    image_convolution: bool = True
    context: Context = field(default_factory=Context)
    widened: bool = False

    def __post_init__(self) -> None:
        if self.output_kind not in ("auto", "logits", "probs"):
            raise SSplainError(
                f"output_kind is {self.output_kind!r}; use 'auto', 'logits' or 'probs'."
            )
        if not callable(self.model):
            raise SSplainError(
                f"The model is a {type(self.model).__name__}, which cannot be called; give a "
                "torch.nn.Module or a function of an image batch."
            )

    def log_probabilities(self, images: Tensor) -> Tensor:
        """Return `(N, classes)` log-probabilities; the kind of output must be settled."""
        return _to_log_probabilities(self.values(images), self.output_kind)

    def probabilities(self, images: Tensor) -> Tensor:
        """Return `(N, classes)` probabilities, without a graph."""
        with torch.no_grad():
            return self.log_probabilities(images).exp()

    def values(self, images: Tensor) -> Tensor:
        """Call the model; return its class values `(N, classes)`, as exact as the images are."""
        try:
            with ModelPass(image_convolution=self.image_convolution, widened=self.widened):
                returned = self.context.call(
                    lambda x, *more: self.model(self._fit(x), *more), images
                )
        except SSplainError:
            raise
        except Exception as error:  # whatever somebody's model may raise
            if no_memory(error):  # smaller batches will be tried
                raise
            lines = str(error).splitlines() or [""]
            # a script's error begins with where it was
            reason = lines[-1 if "TorchScript" in lines[0] else 0] or type(error).__name__
            if "numpy()" in reason:  # its function leaves PyTorch where a gradient is asked for
                reason = f"it works on arrays, without a gradient; {_WRAP}."
            elif "Half" in reason or "BFloat16" in reason:  # a function around 16-bit weights
                reason += "; give the module itself, or cast the images in your function."
            raise SSplainError(
                f"The model does not accept images of shape {tuple(images.shape[1:])} "
                f"(channels, height, width): {reason}"
            ) from error
        values = pick_values(returned, self.output, len(images))
        if not values.is_floating_point():
            raise SSplainError(
                f"The model returns {values.dtype}: labels, it seems, and not how sure it is of "
                "each; give a model that returns logits or probabilities."
            )
        return values.to(images.dtype if images.dtype in _EXACT else torch.float32)

    def take(self, index: Tensor | slice) -> "Classifier":
        """Return the classifier for images made from some of those that its context is for."""
        context = self.context.take(index)
        return self if context is self.context else replace(self, context=context)

    def settle(self, images: Tensor, batch_size: int | None = None) -> tuple["Classifier", Tensor]:
        """Try the model on the images; return a classifier that knows its kind of output.

        Every complaint about model and images together is made here, before any work starts.

        Returns:
            The classifier, and its probabilities `(N, classes)` for the images.
        """
        parts = run_in_batches(
            torch.no_grad()(lambda rows: self.take(rows).values(images[rows])),
            len(images),
            batch_size,
        )
        values = torch.cat(parts)
        if not bool(torch.isfinite(values).all()):
            first = int((~torch.isfinite(values)).any(1).nonzero()[0])
            raise SSplainError(
                f"The model returns NaN or infinite values for image {first}; check its weights "
                "and that the image has the range and size that it was trained on."
            )
        kind = _kind(values, self.output_kind)
        if kind == "probs" and self.output_kind == "auto":
            # the logits of a few images may sum to one by chance, but not those of others as well
            with torch.no_grad():
                kind = _kind(self.take(slice(1)).values(images[:1] / 2), "auto")
        if kind == "logits" and self.output_kind == "auto":
            self._refuse_labels(images[:1], values)
        settled = replace(self, output_kind=kind)
        return settled, _to_log_probabilities(values, settled.output_kind).exp()

    def _refuse_labels(self, image: Tensor, values: Tensor) -> None:
        """Complain if what would be taken for logits comes out of a sigmoid, one per label."""
        if not bool(((values >= 0) & (values <= 1)).all()):
            return
        with torch.enable_grad():
            step = self.take(slice(1)).values(image.clone().requires_grad_()).grad_fn
        while step is not None and type(step).__name__ in _PASSED_ON:
            step = step.next_functions[0][0]
        if step is not None and "Sigmoid" in type(step).__name__:
            raise SSplainError(
                "The model ends in a sigmoid and its values do not sum to one: they look like "
                "independent labels, not classes; say output_kind='probs' to explain each label's "
                "own probability, or output_kind='logits' if they are logits after all."
            )

    def _fit(self, images: Tensor) -> Tensor:
        """Give the images the channels that the model takes, laid out as convolutions like it."""
        wanted = self.channels or first_channels(self.model) or images.shape[1]
        if images.shape[1] not in (1, wanted):
            fitting = "grey images" if wanted == 1 else f"images of {wanted} channels, or grey ones"
            last = images.shape[-1] == wanted != 1
            raise SSplainError(
                f"The images have {images.shape[1]} channels and the model takes {wanted}; "
                f"give {fitting}, or set channels=."
                + (" Channels come first here, as (N, C, H, W): these seem last." if last else "")
            )
        if wanted == 1:
            return images
        # channels_last: measured a quarter faster for GoogLeNet on a CPU; values stay the same
        return images.expand(-1, wanted, -1, -1).contiguous(memory_format=torch.channels_last)


class OnBackground(nn.Module):
    r"""A model for images whose background is not zero: \(f(Z + b)\) of an image \(Z = X - b\).

    Explainers and measures hide a pixel by setting it to zero. Give them this model and the images
    less their background, and what is hidden shows the background instead.

    Args:
        model: any module.
        background: its value, or one per channel, such as black after normalisation.

    >>> model = nn.Flatten()
    >>> OnBackground(model, [-1.0])(torch.zeros(1, 1, 1, 2))
    tensor([[-1., -1.]])
    """

    background: Tensor

    def __init__(self, model: nn.Module, background: float | Sequence[float]) -> None:
        super().__init__()
        self.model, self.classes = model, told_classes(model)
        given = torch.as_tensor(background, dtype=torch.get_default_dtype())
        self.register_buffer("background", given.reshape(-1, 1, 1))

    def forward(self, images: Tensor) -> Any:  # noqa: ANN401 - whatever the model returns
        """Return what the model returns for the images on their background."""
        return self.model(images + self.background.to(images))


def first_channels(model: object) -> int | None:
    """Return the channels that a module says it takes, or its first convolution, if it has one.

    >>> first_channels(nn.Sequential(nn.ReLU(), nn.Conv2d(3, 8, 1)))
    3
    """
    if isinstance(model, nn.Module):
        for module in model.modules():
            known = getattr(module, "image_channels", None)
            if isinstance(known, int):
                return known
            if isinstance(module, nn.Conv2d | nn.ConvTranspose2d):
                return module.in_channels
    return None


def plain(model: Callable[..., Any]) -> Callable[..., Any]:
    """Return the module that `torch.compile` has wrapped; anything else as it is.

    The same weights, called layer by layer: methods that look inside a model see nothing of a
    compiled one, and a compiled one would be compiled again for every batch size.

    >>> net = nn.Linear(1, 1)
    >>> plain(torch.compile(net, backend="eager")) is net
    True
    """
    inner = getattr(model, "_orig_mod", None)
    return inner if isinstance(inner, nn.Module) else model


def home_of(model: object, images: Tensor) -> dict[str, Any]:
    """Return the device and number type of a model's weights, or else the images' own.

    >>> home_of(nn.Linear(1, 1).double(), torch.zeros(1))["dtype"]
    torch.float64
    """
    weight = next(model.parameters(), None) if isinstance(model, nn.Module) else None
    at = images if weight is None or not weight.is_floating_point() else weight
    # what is asked in 16 bits casts its images itself: masks and gradients need 32
    return {"device": at.device, "dtype": at.dtype if at.dtype in _EXACT else torch.float32}


def pick_values(returned: object, output: OutputSelector, images: int) -> Tensor:
    """Return the values `(images, classes)` in what a model returned.

    >>> pick_values((None, torch.zeros(2)), 1, images=2).shape
    torch.Size([2, 1])
    """
    values = _select(returned, output)
    if values.dim() == 1 and len(values) == images:
        values = values[:, None]
    if values.dim() != 2 or len(values) != images:
        raise SSplainError(
            f"The model returned shape {tuple(values.shape)} for {images} images; "
            f"({images}, classes) is needed: pick or reshape it with output=."
        )
    return values


def _select(returned: object, output: OutputSelector) -> Tensor:
    """Pick the tensor of class values out of what the model returned."""
    picked: object = returned
    try:
        if callable(output):
            picked = output(returned)
        elif isinstance(output, str) and not isinstance(returned, Mapping):
            picked = getattr(returned, output)
        elif output is not None:
            picked = returned[output]  # type: ignore[index]
        elif not isinstance(returned, Tensor):
            picked = _named_logits(returned)
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise SSplainError(
            f"output={output!r} picks nothing from what the model returned, {_describe(returned)}."
        ) from error
    if isinstance(picked, np.ndarray):
        raise SSplainError(f"The model returned a NumPy array, not a tensor; {_WRAP}.")
    if not isinstance(picked, Tensor):
        raise SSplainError(
            f"The model returned {_describe(picked)}, not a tensor; say which part holds the "
            "class values with output= (an index, a name or a function)."
        )
    return picked


def _named_logits(returned: object) -> object:
    """Return what is called `logits`, in an object, named tuple or dict; else what was returned."""
    if isinstance(returned, Mapping):
        return returned.get("logits", returned)
    return getattr(returned, "logits", returned)


def _describe(returned: object) -> str:
    if isinstance(returned, Mapping):
        return f"a mapping with the keys {', '.join(map(repr, returned))}"
    if isinstance(returned, Sequence) and not isinstance(returned, str):
        return f"a {type(returned).__name__} of {len(returned)}"
    return f"a {type(returned).__name__}"


def _kind(values: Tensor, declared: OutputKind) -> OutputKind:
    """Decide whether values are logits or probabilities, over all images at once."""
    if declared != "auto":
        return declared
    within = bool(((values >= 0) & (values <= 1)).all())
    if values.shape[1] == 1 and within:
        raise SSplainError(
            "The model returns one value per image, between 0 and 1, which may be a logit or a "
            "probability; say which with output_kind='logits' or output_kind='probs'."
        )
    sums_to_one = bool(((values.sum(1) - 1).abs() < 1e-3).all())
    return "probs" if within and sums_to_one and values.shape[1] > 1 else "logits"


def _to_log_probabilities(values: Tensor, kind: OutputKind) -> Tensor:
    r"""Turn class values into log-probabilities.

    A single value per image is the second of two classes: \((1 - p, p)\).
    """
    if kind == "auto":
        raise SSplainError("The kind of output is not settled yet; call settle(images) first.")
    if kind == "logits":
        if values.shape[1] == 1:
            values = torch.cat([torch.zeros_like(values), values], dim=1)
        log_p: Tensor = LogSoftmax.apply(values)  # type: ignore[no-untyped-call]
        return log_p
    if values.shape[1] == 1:
        values = torch.cat([1 - values, values], dim=1)
    return values.clamp(min=torch.finfo(values.dtype).tiny).log()
