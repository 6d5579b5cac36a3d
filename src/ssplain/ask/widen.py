"""Models with 16-bit weights: they are explained by a copy that computes in 32 bits.

Why not in their own arithmetic: in float16 the gradients of a certain model vanish, and steps of a
logit (1/64 at 16 for float16, 1/8 for bfloat16) hide what a pixel adds. Measured on 100 digits with
LeNet-5 in float16: called as it is, 3 % of all gradients, and those of one whole image, were zero,
and a map took three times as long; the copy's probabilities differed from the model's own by .001
at most and no prediction did (bfloat16: .006, none); `examples/sixteen_bits.py` measures it. A
function is called as it is, so that `lambda x: model(x.half())` explains the model in its own
arithmetic for who wants that.
"""

import copy
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from ssplain.errors import SSplainError

T = TypeVar("T")
NARROW = frozenset({torch.float16, torch.bfloat16})
WIDENED = "32 bits, by a copy of the model, whose weights have 16"  # for a result's settings


def is_narrow(model: object) -> bool:
    """Say whether a model is explained by a copy in 32 bits.

    What answers without a gradient (`answers_only`, see `ssplain.models.QueryOnly`) is asked as it
    is: there is nothing to vanish, and it counts what it is asked.

    >>> is_narrow(nn.Linear(1, 1).half()), is_narrow(nn.Linear(1, 1)), is_narrow(len)
    (True, False, False)
    """
    if not isinstance(model, nn.Module):
        return False
    if any(getattr(module, "answers_only", False) for module in model.modules()):
        return False
    held = (*model.parameters(), *model.buffers())
    return any(tensor.dtype in NARROW for tensor in held)


def widened(model: T) -> T:
    """Return a copy of a module with 16-bit weights, these in 32 bits; all else as it is.

    Weights of other types stay what they are, so that a head in 32 or 64 bits on 16-bit layers is
    no matter; casts to 16 bits within the model are seen to by `ModelPass`.

    >>> narrow = nn.Linear(1, 1).half()
    >>> widened(narrow).weight.dtype, narrow.weight.dtype
    (torch.float32, torch.float16)
    """
    if not isinstance(model, nn.Module) or not is_narrow(model):
        return model
    try:
        with torch.no_grad():  # a script's copy would hang on its graph
            wide = copy.deepcopy(model)
    except Exception as error:  # whatever somebody's model may hold
        reason = (str(error).splitlines() or [""])[0] or type(error).__name__
        raise SSplainError(
            "The model has 16-bit weights and is explained by a copy in 32 bits, but cannot be "
            f"copied ({reason}); give model.float()."
        ) from error
    for tensor in (*wide.parameters(), *wide.buffers()):
        if tensor.dtype in NARROW:
            tensor.data = tensor.data.float()
    return wide


def without_narrowing(
    func: Any,  # noqa: ANN401 - as PyTorch declares them
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """Return a call of PyTorch's with 32 bits where it asks for 16.

    >>> func, args, _ = without_narrowing(Tensor.to, (torch.zeros(1), torch.float16), {})
    >>> func(*args).dtype
    torch.float32
    """
    return (
        _WIDER.get(func, func),
        tuple(map(_wide, args)),
        {name: _wide(value) for name, value in kwargs.items()},
    )


_WIDER: dict[Any, Any] = {Tensor.half: Tensor.float, Tensor.bfloat16: Tensor.float}


def _wide(argument: Any) -> Any:  # noqa: ANN401
    narrow = isinstance(argument, torch.dtype) and argument in NARROW
    return torch.float32 if narrow else argument
