"""Loading what is to be explained: a bundled model, a weights file, a program, or an entry point.

Nothing is unpickled: weights are safetensors, and of a .pt2 program only the tensors and the graph
of operators are read.
"""

import importlib
import inspect
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import nn

from ssplain.ask.named import told_classes
from ssplain.errors import SSplainError
from ssplain.files import hash_file
from ssplain.models.card import (
    BUNDLED,
    CARD,
    PIXELWISE,
    WEIGHTS,
    ModelCard,
    folder_of,
)
from ssplain.models.exported import read_program
from ssplain.models.googlenet import AUXILIARY, GoogLeNet
from ssplain.models.lenet import LeNet5
from ssplain.models.onnx import OnnxModel
from ssplain.models.registered import MODELS
from ssplain.models.unet import UNet

Weights = dict[str, torch.Tensor]


def _googlenet(weights: Weights) -> nn.Module:
    return GoogLeNet(classes=len(weights.get("fc.weight", ())) or 3)


# name -> builds the network that such weights are for
ARCHITECTURES: dict[str, Callable[[Weights], nn.Module]] = {
    "lenet5": lambda _: LeNet5(),
    "googlenet": _googlenet,
    "unet": UNet.of,
}

_ENTRY = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
_PICKLED = (".pt", ".pth", ".pkl", ".pickle", ".bin", ".ckpt")


def load(source: str | Path, architecture: str | None = None) -> nn.Module:
    """Load a model, ready to be explained.

    Args:
        source: One of

            - a bundled name: "googlenet-rop", "lenet5-mnist" or "lenet5-fmnist";
            - a name that was added to `ssplain.models.MODELS`;
            - a folder that `ssplain train` wrote;
            - a `.safetensors` file of weights, whose network `architecture` names;
            - a `.pt2` file from `torch.export.save`;
            - an `.onnx` file, which answers but has no gradient (`ssplain.models.QueryOnly`);
            - `package.module:function`, which is imported, from the current folder if it is not
              installed, and called without arguments; it must return a module, or a function of a
              batch of images. This runs code of that package, so name only what you trust.
        architecture: For a `.safetensors` file: "lenet5", "googlenet", or `package.module:function`
            that returns the network for the weights. Not needed for the `weights.safetensors` of a
            folder with a `card.json`.

    Returns:
        The model in evaluation mode.

    Raises:
        SSplainError: If there is no such model, or the file does not fit it.

    Example:
        >>> load("lenet5-mnist")(torch.zeros(1, 1, 28, 28)).shape
        torch.Size([1, 10])
    """
    text, path = str(source), Path(source)
    suffix = path.suffix.lower()
    if text in MODELS:
        return MODELS[text].build().eval()
    if text in (*BUNDLED, *PIXELWISE) or path.is_dir():
        return _from_weights(folder_of(source) / WEIGHTS, architecture)
    if suffix == ".safetensors":
        return _from_weights(path, architecture)
    if suffix == ".pt2":
        return read_program(path)
    if suffix == ".onnx":
        return OnnxModel(path)
    if _ENTRY.fullmatch(text):
        return _from_entry(text)
    if suffix in _PICKLED:
        raise SSplainError(
            f"{text} is a pickled file, which could run any code and is not read; where you trust "
            "it, save the weights with safetensors.torch.save_file(model.state_dict(), "
            "'model.safetensors'), or the whole model with "
            "torch.export.save(torch.export.export(model, (images,)), 'model.pt2')."
        )
    raise SSplainError(
        f"There is no model {text!r}; give one of {', '.join(BUNDLED)}, a folder of `ssplain "
        "train`, a .safetensors, .pt2 or .onnx file, or package.module:function."
    )


def _from_weights(path: Path, architecture: str | None) -> nn.Module:
    if not path.is_file():
        raise SSplainError(f"There is no weights file {path}; check the path.")
    if (path.parent / CARD).is_file() and path.name == WEIGHTS:
        card = ModelCard.read(path.parent)
        architecture = architecture or card.architecture
        if hash_file(path) != card.sha256:
            raise SSplainError(
                f"{path} is not the file that its {CARD} describes (the SHA-256 differs); restore "
                "the two together, or train again."
            )
    named = architecture is not None and _ENTRY.fullmatch(architecture) is not None
    if not named and architecture not in ARCHITECTURES:
        found = "no architecture was given" if architecture is None else f"not {architecture!r}"
        raise SSplainError(
            f"{path} holds weights only, so the architecture must be named ({found}); choose one "
            f"of: {', '.join(ARCHITECTURES)}, or your own as package.module:function."
        )
    try:
        weights = load_file(path)
    except SafetensorError as error:
        raise SSplainError(
            f"{path} is not a readable safetensors file ({error}); save it again with "
            "safetensors.torch.save_file."
        ) from error
    if named:
        model = _from_entry(str(architecture))
    else:
        model = ARCHITECTURES[str(architecture)](weights)
        weights = {k: v for k, v in weights.items() if not k.startswith(AUXILIARY)}
    architecture = str(architecture)
    _check_fit(path, architecture, model.state_dict(), weights)
    model.load_state_dict(weights)
    return model.eval()


def _check_fit(
    path: Path, architecture: str, needed: dict[str, torch.Tensor], found: dict[str, torch.Tensor]
) -> None:
    faults = (
        [f"{name} is missing" for name in needed if name not in found]
        + [f"{name} is not part of it" for name in found if name not in needed]
        + [
            f"{name} has shape {tuple(found[name].shape)} instead of {tuple(tensor.shape)}"
            for name, tensor in needed.items()
            if name in found and found[name].shape != tensor.shape
        ]
    )
    if faults:
        more = f", and {len(faults) - 3} more" if len(faults) > 3 else ""
        raise SSplainError(
            f"{path} does not fit {architecture}: {', '.join(faults[:3])}{more}; give the weights' "
            "own architecture."
        )


def _from_entry(entry: str) -> nn.Module:
    module_name, function_name = entry.split(":")
    here = str(Path.cwd())
    if here not in sys.path:
        # last, so that nothing installed is hidden; for good, as models may import when called
        sys.path.append(here)
    try:
        module = importlib.import_module(module_name)
    except Exception as error:  # whatever somebody's package may raise
        reason = f"{type(error).__name__}: {error}"
        raise SSplainError(
            f"{entry} cannot be imported ({reason}); mend or install the package, run this in "
            "the folder that holds it, or name that folder in PYTHONPATH."
        ) from error
    function = getattr(module, function_name, None)
    if isinstance(function, nn.Module):
        return function.eval()  # a model that is there already
    if not callable(function):
        raise SSplainError(
            f"{module_name} has no function {function_name!r}; name one that takes no arguments "
            "and returns the model."
        )
    try:
        inspect.signature(function).bind()
    except TypeError as error:
        raise SSplainError(
            f"{entry} cannot be called without arguments ({error}); name one that can be."
        ) from error
    try:
        model = function()
    except Exception as error:  # whatever somebody's function may raise
        reason = f"{type(error).__name__}: {error}"
        raise SSplainError(f"{entry} failed to make a model ({reason}); mend it first.") from error
    if not callable(model):
        raise SSplainError(
            f"{entry} returned {type(model).__name__} instead of a model; return a torch.nn.Module "
            "or a function of a batch of images."
        )
    return model.eval() if isinstance(model, nn.Module) else _Function(model)


class _Function(nn.Module):
    """A plain function as a module, so that all loaded models are of one kind."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function, self.classes = function, told_classes(function)
        self.eval()

    def forward(self, images: torch.Tensor) -> Any:  # noqa: ANN401 - whatever the function gives
        return self.function(images)
