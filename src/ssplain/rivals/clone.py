"""A copy of a model that methods which hook or replace activations can work on.

Such methods need every activation to be a module that is used once and does not work in place.
Few published networks are written so, and where one is not, the methods fail or, worse, return
wrong maps without a word. The copy made here computes the same and is written so.
"""

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.nn import functional

from ssplain.errors import SSplainError

# activations called as functions or methods, and the modules that do the same
_FUNCTIONS: dict[Callable[..., Any], type[nn.Module]] = {
    torch.relu: nn.ReLU,
    functional.relu: nn.ReLU,
    functional.relu_: nn.ReLU,
    torch.relu_: nn.ReLU,
    torch.tanh: nn.Tanh,
    functional.tanh: nn.Tanh,
    torch.sigmoid: nn.Sigmoid,
    functional.sigmoid: nn.Sigmoid,
}
_METHODS: dict[str, type[nn.Module]] = {
    "relu": nn.ReLU,
    "relu_": nn.ReLU,
    "tanh": nn.Tanh,
    "sigmoid": nn.Sigmoid,
}

LOWEST = -1e30


def safe_clone(model: object, *, trace: bool = True) -> nn.Module:
    """Return a copy in evaluation mode whose activations are modules of their own, not in place.

    The copy is traced, so that functions become modules and a module that is used twice becomes
    two. A model that cannot be traced (one that decides by its input, for example) is copied as it
    is, with nothing in place; whether that was enough, the completeness check tells.

    Args:
        model: a module.
        trace: False leaves the structure of the model, and only nothing in place.

    >>> relu = nn.ReLU(inplace=True)
    >>> twice = safe_clone(nn.Sequential(relu, nn.Linear(2, 2), relu))
    >>> [m.inplace for m in twice.modules() if isinstance(m, nn.ReLU)]
    [False, False]
    """
    if not isinstance(model, nn.Module):
        raise SSplainError(
            f"The model is a {type(model).__name__}; methods that look inside a model need a "
            "torch.nn.Module."
        )
    if any(isinstance(module, torch.jit.ScriptModule) for module in model.modules()):
        raise SSplainError(
            "The model is a TorchScript program, which lets nobody look inside; give the module "
            "that it was made from, or take an explainer that sets no hooks."
        )
    copied = copy.deepcopy(model).eval()
    for module in copied.modules():
        if getattr(module, "inplace", False):
            module.inplace = False  # type: ignore[assignment]  # torch declares no such flag
    for parameter in copied.parameters():
        parameter.requires_grad = False
    if not trace:
        return copied
    try:
        traced = fx.symbolic_trace(copied)
    except Exception:  # noqa: BLE001 - tracing runs the user's code, which may raise anything
        return copied
    return _separate(traced).eval()


def guided(model: nn.Module) -> nn.Module:
    """Make every ReLU of a clone pass on positive gradients alone, and return it.

    J. Springenberg, A. Dosovitskiy, T. Brox and M. Riedmiller, Striving for simplicity, 2014.

    >>> x = torch.tensor([1.0, 1.0], requires_grad=True)
    >>> (guided(nn.Sequential(nn.ReLU()))(x) * torch.tensor([2.0, -2.0])).sum().backward()
    >>> x.grad
    tensor([2., 0.])
    """
    for parent in list(model.modules()):
        for name, child in parent.named_children():
            if isinstance(child, nn.ReLU):
                setattr(parent, name, _GuidedReLU())
    return model


def without_overlap(model: nn.Module) -> nn.Module:
    """Make every max-pooling of a clone work on copies of its windows, and return it.

    Captum's rule for max-pooling counts a pixel once however many windows it wins, so that scores
    do not add up where windows overlap, as in GoogLeNet. Side by side they cannot.

    >>> pool = nn.MaxPool2d(3, stride=2, padding=1, ceil_mode=True)
    >>> x = torch.randn(2, 3, 10, 7)
    >>> torch.equal(without_overlap(nn.Sequential(pool))(x), pool(x))
    True
    """
    for parent in list(model.modules()):
        for name, child in parent.named_children():
            if isinstance(child, nn.MaxPool2d) and child.dilation in (1, (1, 1)):
                setattr(parent, name, _WindowPool(child))
    return model


class _WindowPool(nn.Module):
    """Lays the windows of a max-pooling side by side, then pools each."""

    def __init__(self, pool: nn.MaxPool2d) -> None:
        super().__init__()
        self.settings = (pool.padding, pool.dilation, pool.ceil_mode)
        self.kernel, self.stride = _pair(pool.kernel_size), _pair(pool.stride)
        self.pool = nn.MaxPool2d((1, self.kernel[0] * self.kernel[1]))

    def forward(self, x: Tensor) -> Tensor:
        (kh, kw), (sh, sw) = self.kernel, self.stride
        shape = torch.empty(x.shape, device="meta")
        rows, columns = functional.max_pool2d(
            shape, self.kernel, self.stride, *self.settings
        ).shape[2:]
        top, left = _pair(self.settings[0])
        bottom = (rows - 1) * sh + kh - x.shape[2] - top
        right = (columns - 1) * sw + kw - x.shape[3] - left
        # beyond the border lies what no window takes for its maximum
        wide = functional.pad(x, (left, right, top, bottom), value=LOWEST)
        windows = wide.unfold(2, kh, sh).unfold(3, kw, sw).flatten(4)
        pooled: Tensor = self.pool(windows.flatten(2, 3))
        return pooled.reshape(*x.shape[:2], rows, columns)


def _pair(size: int | tuple[int, ...]) -> tuple[int, ...]:
    return (size, size) if isinstance(size, int) else size


def _separate(traced: fx.GraphModule) -> fx.GraphModule:
    """Give each use of an activation a module of its own."""
    used: set[str] = set()
    for node in list(traced.graph.nodes):
        fresh = _fresh(traced, node, used)
        if fresh is None:
            continue
        name = f"own_{len(used)}"
        traced.add_submodule(name, fresh)
        with traced.graph.inserting_before(node):
            own = traced.graph.call_module(name, node.args[:1])
        node.replace_all_uses_with(own)
        traced.graph.erase_node(node)
        used.add(name)
    traced.recompile()
    return traced


def _fresh(traced: fx.GraphModule, node: fx.Node, used: set[str]) -> nn.Module | None:
    """Return the module to put in a node's place, if it needs one."""
    if node.op == "call_function" and node.target in _FUNCTIONS:
        return _FUNCTIONS[node.target]()
    if node.op == "call_function" and node.target is functional.max_pool2d:
        names = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")
        given = {**dict(zip(names, node.args[1:], strict=False)), **node.kwargs}
        return nn.MaxPool2d(**given)  # type: ignore[arg-type]
    if node.op == "call_method" and node.target in _METHODS:
        return _METHODS[str(node.target)]()
    if node.op == "call_module":
        name = str(node.target)
        module = traced.get_submodule(name)
        if name in used and not list(module.parameters()):
            return copy.deepcopy(module)
        used.add(name)
    return None


class _GuidedReLU(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        passed: Tensor = _PositiveOnly.apply(x)  # type: ignore[no-untyped-call]
        return passed


class _PositiveOnly(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:  # noqa: ANN401 - as PyTorch declares it
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:  # noqa: ANN401
        x: Tensor = ctx.saved_tensors[0]
        return gradient.clamp(min=0) * (x > 0)
