"""Training a network that says something of every pixel: steps without end, resumable.

Epoch e draws everything from (seed, e), as in `ssplain.train.loop`. The weights that are kept are
a running mean over the steps (Polyak and Juditsky, 1992), with batch statistics gathered anew.
"""

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from ssplain.errors import SSplainError
from ssplain.train.checkpoint import Checkpoint
from ssplain.train.statistics import gather_statistics

Batch = tuple[Tensor, ...]  # the images first
Network = TypeVar("Network", bound=nn.Module)


@dataclass(frozen=True)
class Plan:
    """How long and how fast to train.

    Attributes:
        epochs: so many rounds; the learning rate falls to 0 along a cosine.
        steps: of Adam in each.
        lr: highest learning rate.
        decay: weight decay.
        memory: of the running mean of the weights, in steps.
        seed: fixes the first weights and everything that is drawn.
        bfloat16: whether the network computes in bfloat16, faster on processors that have it;
            weights, the loss and their steps stay in 32 bits.
    """

    epochs: int
    steps: int
    lr: float = 3e-3
    decay: float = 1e-4
    memory: int = 150
    seed: int = 0
    bfloat16: bool = False

    def __post_init__(self) -> None:
        if self.epochs < 1 or self.steps < 1:
            raise SSplainError("Give at least 1 epoch of at least 1 step.")

    def rate(self, step: int) -> float:
        """Learning rate of a step: up within the first fiftieth, then down along a cosine.

        Example:
            >>> plan = Plan(epochs=10, steps=10, lr=1.0)
            >>> plan.rate(1), round(plan.rate(51), 1), round(plan.rate(100), 3)
            (1.0, 0.5, 0.0)
        """
        total = self.epochs * self.steps
        warm = max(1, total // 50)
        fall = max(0.0, (step - warm) / max(1, total - warm))
        return self.lr * min(1.0, (step + 1) / warm) * 0.5 * (1 + float(np.cos(np.pi * fall)))


@dataclass(frozen=True)
class Round:
    """What an epoch gave: its number and mean loss."""

    number: int
    loss: float


def fit(
    build: Callable[[], Network],
    batches: Callable[[int], Iterator[Batch]],
    loss: Callable[[Tensor, Batch], Tensor],
    plan: Plan,
    *,
    checkpoint: Path | None = None,
    progress: Callable[[Round], None] | None = None,
) -> Network:
    """Train a network and return it with the mean of its last weights, in evaluation mode.

    Args:
        build: makes the network with fresh weights.
        batches: gives the batches of an epoch, from 1; the images first.
        loss: of the network's output and the batch.
        plan: see `Plan`.
        checkpoint: a file that is rewritten after each epoch; if it exists, training goes on.
        progress: called after every epoch.

    Example:
        >>> def batches(epoch):
        ...     while True:
        ...         yield torch.ones(2, 1), torch.full((2, 1), 3.0)
        >>> model = fit(
        ...     lambda: nn.Linear(1, 1),
        ...     batches,
        ...     lambda out, batch: (out - batch[1]).square().mean(),
        ...     Plan(epochs=4, steps=50, lr=0.1, memory=5),
        ... )
        >>> bool((model(torch.ones(1, 1)) - 3).abs() < 0.1)
        True
    """
    torch.manual_seed(plan.seed)
    model = build()
    optimizer = torch.optim.AdamW(model.parameters(), plan.lr, weight_decay=plan.decay)
    mean = {name: value.clone() for name, value in model.state_dict().items()}
    history: list[Round] = []
    run: dict[str, object] = dataclasses.asdict(plan)
    if checkpoint is not None and checkpoint.exists():
        saved = Checkpoint.read(checkpoint, run)
        saved.restore(model, optimizer)
        mean, history = saved.mean, [Round(**entry) for entry in saved.history]
    recent: list[Tensor] = []
    for epoch in range(len(history) + 1, plan.epochs + 1):
        model.train()
        total, recent = 0.0, []
        for step, batch in zip(range(plan.steps), batches(epoch), strict=False):
            done = (epoch - 1) * plan.steps + step
            for group in optimizer.param_groups:
                group["lr"] = plan.rate(done)
            images = batch[0]
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast(images.device.type, torch.bfloat16, enabled=plan.bfloat16):
                found = model(images)
            error = loss(found.float(), batch)
            torch.autograd.backward(error)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total += error.item()
            recent = [*recent[-11:], images]
            _follow(mean, model, min(1 - 1 / (done + 2), 1 - 1 / plan.memory))
        history.append(Round(epoch, total / plan.steps))
        if checkpoint is not None:
            entries = [dataclasses.asdict(entry) for entry in history]
            Checkpoint.of(model, optimizer, {}, entries, mean).write(checkpoint, run)
        if progress is not None:
            progress(history[-1])
    model.load_state_dict(mean)
    if not recent:
        recent = [batch[0] for _, batch in zip(range(12), batches(plan.epochs), strict=False)]
    gather_statistics(model, iter(recent))
    return model.eval()


def _follow(mean: dict[str, Tensor], model: nn.Module, keep: float) -> None:
    """Move the running mean a little towards the model's weights."""
    for name, value in model.state_dict().items():
        if value.is_floating_point():
            mean[name].lerp_(value, 1 - keep)
        else:
            mean[name].copy_(value)
