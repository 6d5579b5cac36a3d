"""A training run between two epochs, in one file without pickles.

All tensors, Adam's among them, are safetensors; the rest is JSON in that file's header. One file,
renamed into place when it is whole, cannot be half of one epoch and half of the next.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import nn

from ssplain.errors import SSplainError
from ssplain.files import write_whole

Tensors = dict[str, torch.Tensor]


@dataclass(frozen=True)
class Checkpoint:
    """The state of training after an epoch.

    Attributes:
        model: The model's state.
        best: The model's state after the epoch that validated best.
        mean: The mean of the model's states after all epochs; empty if nobody wants it.
        optimizer: The optimizer's state, as `{index of parameter}.{name}`.
        history: One JSON-ready dict per epoch.
    """

    model: Tensors
    best: Tensors
    optimizer: Tensors
    history: list[dict[str, Any]]
    mean: Tensors = field(default_factory=dict)

    @staticmethod
    def of(
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        best: Tensors,
        history: list[dict[str, Any]],
        mean: Tensors,
    ) -> "Checkpoint":
        """Gather the state of a model and its optimizer.

        Example:
            >>> model = nn.Linear(2, 1)
            >>> list(Checkpoint.of(model, torch.optim.Adam(model.parameters()), {}, [], {}).model)
            ['weight', 'bias']
        """
        state = {
            f"{index}.{name}": tensor
            for index, tensors in optimizer.state_dict()["state"].items()
            for name, tensor in tensors.items()
        }
        return Checkpoint(model.state_dict(), best, state, history, mean)

    def restore(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        """Put the state back into a model and an optimizer of the same kind.

        Example:
            >>> model = nn.Linear(2, 1)
            >>> optimizer = torch.optim.Adam(model.parameters())
            >>> Checkpoint.of(model, optimizer, {}, [], {}).restore(model, optimizer)
        """
        state: dict[int, Tensors] = {}
        for key, tensor in self.optimizer.items():
            index, name = key.split(".", 1)
            state.setdefault(int(index), {})[name] = tensor
        try:
            model.load_state_dict(self.model)
        except RuntimeError as error:
            raise SSplainError(
                "The checkpoint belongs to another model; remove it or give another folder."
            ) from error
        optimizer.load_state_dict(optimizer.state_dict() | {"state": state})

    def write(self, path: Path, run: dict[str, object]) -> None:
        """Write the file, whole or not at all; `run` says what it belongs to.

        Example:
            >>> import tempfile
            >>> path = Path(tempfile.mkdtemp()) / "checkpoint.safetensors"
            >>> Checkpoint({"w": torch.ones(1)}, {}, {}, []).write(path, {"seed": 0})
            >>> Checkpoint.read(path, {"seed": 0}).model
            {'w': tensor([1.])}
        """
        parts = {
            "model": self.model,
            "best": self.best,
            "mean": self.mean,
            "optimizer": self.optimizer,
        }
        # Clones, because safetensors refuses tensors that share their memory.
        tensors = {
            f"{part}/{name}": tensor.detach().clone(memory_format=torch.contiguous_format)
            for part, values in parts.items()
            for name, tensor in values.items()
        }
        header = {"run": json.dumps(run), "history": json.dumps(self.history)}
        write_whole(path, save(tensors, header))

    @staticmethod
    def read(path: Path, run: dict[str, object]) -> "Checkpoint":
        """Read a file that was written for the same `run`.

        Raises:
            SSplainError: If it is damaged, or belongs to another run.
        """
        parts: dict[str, Tensors] = {"model": {}, "best": {}, "mean": {}, "optimizer": {}}
        try:
            with safe_open(path, framework="pt") as file:
                header = file.metadata() or {}
                found, history = json.loads(header["run"]), json.loads(header["history"])
                for key in file.keys():  # noqa: SIM118 - not a dict
                    part, name = key.split("/", 1)
                    parts[part][name] = file.get_tensor(key)
        except (SafetensorError, OSError, KeyError, ValueError) as error:
            raise SSplainError(
                f"{path} is not a readable checkpoint ({error}); remove it to start afresh."
            ) from error
        changed = [name for name in {**found, **run} if found.get(name) != run.get(name)]
        if changed:
            raise SSplainError(
                f"{path} is the checkpoint of another run ({', '.join(changed)} differ); repeat "
                "that run's settings, or remove the file to start afresh."
            )
        return Checkpoint(**parts, history=history)
