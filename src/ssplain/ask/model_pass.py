"""Numerical traps on the way from image to gradient, closed.

Adam divides the gradient by its own size, so a mask sees the sign and the relative size of a
gradient, however small it is. Rounding that nobody notices elsewhere then moves pixels by whole
steps. Measured: without these functions, up to a third of LeNet-5's maps changed visibly with the
batch size; of a small colour network, 5 of 12.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import batch_norm, conv2d, linear, pad
from torch.overrides import TorchFunctionMode

from ssplain.ask.convolution import convolve
from ssplain.ask.widen import without_narrowing

# Matrix products of fewer rows than this are summed in another order than those of more (measured:
# up to 11 rows with 2 threads); 32 leaves a margin.
ROWS = 32
# PyTorch convolves a single image of up to this many values by another library than two images
# (ConvParams::use_mkldnn in its Convolution.cpp).
SMALL = 20_480
CONVOLUTION = 7  # arguments with which a layer calls conv2d


class LogSoftmax(torch.autograd.Function):
    r"""The log-softmax with a gradient that stays exact when the model is certain.

    The derivative of \(\log p_c\) by \(z_c\) is \(1 - p_c\). For the winning class that
    difference has no correct digits once \(1 - p_c < 10^{-7}\), as it is for most digits; here it
    is the sum of the other probabilities, which has them all.

    >>> logits = torch.tensor([[20.0, 0.0]], requires_grad=True)
    >>> LogSoftmax.apply(logits)[0, 0].backward()
    >>> logits.grad
    tensor([[ 2.0612e-09, -2.0612e-09]])
    """

    @staticmethod
    def forward(ctx: Any, logits: Tensor) -> Tensor:  # noqa: ANN401, D102 - as PyTorch declares it
        log_p = logits.log_softmax(1)
        ctx.save_for_backward(log_p)
        return log_p

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:  # noqa: ANN401, D102
        p: Tensor = ctx.saved_tensors[0].exp()
        winner = p.argmax(1, keepdim=True)
        others = p.scatter(1, winner, 0.0).sum(1, keepdim=True)
        rest = (1 - p).scatter(1, winner, others)
        return gradient * rest - p * (gradient.sum(1, keepdim=True) - gradient)


class ModelPass(TorchFunctionMode):
    """Within this context, the layers of any model are computed as explainers need it.

    An image alone and the same image in a batch get the same values and gradients, bit by bit:

    - Libraries add up matrix products of few rows in another order than those of many: a linear
      layer's rows are padded with zeros.
    - PyTorch hands a small image alone to another library than two of them: it is convolved in the
      company of an empty one.
    - PyTorch 2.13's gradient of batch normalisation is wrong, not just rounded, when a single
      image's gradient and values are laid out differently, as they are behind an average over all
      pixels: in evaluation mode it is a scale and a shift, and computed as such.

    A convolution of images has a faster way back, see `ssplain.ask.convolution`.

    Args:
        image_convolution: whether to take that way.
        widened: whether the model is one of 16 bits in 32, whose own casts to 16 are passed over.

    >>> layer, rows = torch.nn.Linear(400, 120), torch.rand(64, 400)
    >>> with ModelPass():
    ...     torch.equal(layer(rows)[:1], layer(rows[:1]))
    True
    """

    def __init__(self, *, image_convolution: bool = True, widened: bool = False) -> None:
        super().__init__()
        self.image_convolution, self.widened = image_convolution, widened

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 - whatever the function returns
        if self.widened:
            func, args, kwargs = without_narrowing(func, args, {**(kwargs or {})})
        if func is linear:
            return _linear(*args, **(kwargs or {}))
        if func is batch_norm:
            return _batch_norm(*args, **(kwargs or {}))
        if func is conv2d:
            if self.image_convolution and len(args) == CONVOLUTION and not kwargs:
                return _in_company(convolve, *args)
            return _in_company(conv2d, *args, **(kwargs or {}))
        return func(*args, **(kwargs or {}))


def _linear(given: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return a linear layer's values, however many rows there are."""
    rows = given.reshape(-1, given.shape[-1])
    short = ROWS - len(rows)
    padded = pad(rows, (0, 0, 0, short)) if short > 0 else rows
    values = linear(padded, weight, bias)[: len(rows)]
    return values.reshape(*given.shape[:-1], len(weight))


def _in_company(
    convolution: Callable[..., Tensor],
    images: Tensor,
    *args: Any,  # noqa: ANN401 - as the layer calls it
    **kwargs: Any,  # noqa: ANN401
) -> Tensor:
    """Convolve images; a small one alone is given an empty second one."""
    alone = images.dim() == 4 and len(images) == 1 and images.numel() <= SMALL
    if not alone or images.device.type != "cpu":
        return convolution(images, *args, **kwargs)
    return convolution(torch.cat([images, torch.zeros_like(images)]), *args, **kwargs)[:1]


def _batch_norm(  # noqa: PLR0917 - the arguments of batch_norm
    given: Tensor,
    mean: Tensor | None,
    variance: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Scale and shift by known statistics; anything else is left to PyTorch."""
    if training or mean is None or variance is None:
        return batch_norm(given, mean, variance, weight, bias, training, momentum, eps)
    scale = (variance + eps).rsqrt() * (1 if weight is None else weight)
    shift = (0 if bias is None else bias) - mean * scale
    shape = (-1,) + (1,) * (given.dim() - 2)
    return given * scale.reshape(shape).to(given) + shift.reshape(shape).to(given)
