"""Training a classifier: one loop for any data set, repeatable, and resumable after any kill.

Everything random in epoch e comes from the pair (seed, e), so a run that is resumed after epoch e
needs no saved generator to go on exactly as if it had not stopped.
"""

import copy
import dataclasses
import hashlib
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from ssplain.errors import SSplainError
from ssplain.train.checkpoint import Checkpoint
from ssplain.train.draws import Images, shuffled
from ssplain.train.statistics import gather_statistics

Draw = Callable[[torch.Tensor, torch.Generator], torch.Tensor]
# (model, images in [0, 1], their rows among all training images, generator) -> loss
Lesson = Callable[[nn.Module, torch.Tensor, torch.Tensor, torch.Generator], torch.Tensor]
_EVALUATION_BATCH = 256
_STATISTICS = 256  # images from which batch normalisation gathers its statistics anew


@dataclass(frozen=True)
class Settings:
    """How to train; the defaults are the paper's for LeNet-5.

    Attributes:
        epochs: At most so many passes over the training images.
        patience: Stop when the validation score has not risen for so many epochs.
        batch_size: Images per step of Adam.
        lr: Adam's learning rate.
        weight_decay: Adam's l2 penalty.
        seed: Fixes the initial weights and everything that is drawn.
        average: Also try the mean of the weights after all epochs, and keep it if it validates
            better than each: steps of a noisy gradient circle around a minimum, and their mean
            lies nearer to it (Izmailov et al., 2018).
        falling: Let the learning rate rise over the first 100 steps and then fall to a twentieth
            along half a cosine, instead of keeping it.
        bfloat16: Compute the passes in bfloat16 and keep the weights in single precision: nearly
            twice as fast for convolutions on processors that know the type, slower on others.
    """

    epochs: int = 50
    patience: int = 5
    batch_size: int = 32
    lr: float = 1e-3
    weight_decay: float = 1e-4
    seed: int = 0
    average: bool = False
    falling: bool = False
    bfloat16: bool = False

    def __post_init__(self) -> None:
        for name in ("epochs", "patience", "batch_size"):
            if getattr(self, name) < 1:
                raise SSplainError(f"{name} is {getattr(self, name)}; give 1 or more.")
        if self.seed < 0:
            raise SSplainError(f"seed is {self.seed}; give 0 or more.")


@dataclass(frozen=True)
class Epoch:
    """What one pass over the training images gave: its mean loss and the validation score."""

    number: int
    loss: float
    score: float


@dataclass(frozen=True)
class Step:
    """Where training stands: handed to the `progress` callback after every batch."""

    epoch: int
    done: int
    total: int
    history: tuple[Epoch, ...]


@dataclass(frozen=True)
class Trained:
    """A trained model in evaluation mode, and its history.

    Attributes:
        model: with the weights of the `best` epoch, or the mean of all epochs if that is better.
        best: the epoch that validated best.
        history: all epochs.
        score: what the model's weights reach on the validation images.
    """

    model: nn.Module
    best: Epoch
    history: tuple[Epoch, ...]
    score: float


def accuracy(predicted: torch.Tensor, labels: torch.Tensor) -> float:
    """Return the share of labels that were predicted.

    Example:
        >>> accuracy(torch.tensor([0, 1, 1, 1]), torch.tensor([0, 1, 1, 0]))
        0.75
    """
    return (predicted == labels).double().mean().item()


def balanced_accuracy(predicted: torch.Tensor, labels: torch.Tensor) -> float:
    """Return the mean over the classes of the share of each class that was predicted.

    Example:
        >>> balanced_accuracy(torch.tensor([0, 1, 1, 1]), torch.tensor([0, 0, 1, 1]))
        0.75
    """
    hits = (predicted == labels).double()
    return (
        torch.stack([hits[labels == label].mean() for label in torch.unique(labels)]).mean().item()
    )


def train(
    build: Callable[[], nn.Module],
    images: Images,
    validation: Images,
    settings: Settings,
    *,
    draw: Draw = shuffled,
    lesson: Lesson | None = None,
    score: Callable[[torch.Tensor, torch.Tensor], float] = accuracy,
    checkpoint: Path | None = None,
    progress: Callable[[Step], None] | None = None,
) -> Trained:
    """Train a classifier with Adam, keeping the epoch that validates best.

    Args:
        build: Makes the model with fresh weights.
        images: Images (N, C, H, W) and labels (N,). Unsigned bytes are scaled to [0, 1] batch by
            batch, so that a large set need not be held as floats.
        validation: The same, for early stopping.
        settings: See `Settings`.
        draw: Gives the order of an epoch from the labels: `shuffled` or `class_balanced`.
        lesson: Gives the loss of the model on a batch, which it may change first; by default, the
            cross-entropy of the labels on the images as they are.
        score: Judges predictions on the validation images: `accuracy` or `balanced_accuracy`.
        checkpoint: A file that is rewritten after each epoch. If it exists, training goes on from
            it, and ends with the very weights of a run that was not interrupted.
        progress: Called after every batch.

    Returns:
        The model with its best weights, and the history.

    Raises:
        SSplainError: If the checkpoint belongs to other settings, images or model.

    Example:
        >>> images = torch.rand(64, 1, 28, 28), torch.randint(10, (64,))
        >>> from ssplain.models.lenet import LeNet5
        >>> trained = train(LeNet5, images, images, Settings(epochs=2))
        >>> [epoch.number for epoch in trained.history]
        [1, 2]
    """
    with _seeded(settings.seed, 0):
        model = build()
    optimizer = torch.optim.Adam(
        model.parameters(), lr=settings.lr, weight_decay=settings.weight_decay
    )
    run = _describe(settings, images, validation)

    def validate(drawn: torch.Tensor) -> float:
        recent = torch.split(drawn[-_STATISTICS:], 32)
        gather_statistics(model, (_unit(images[0][chosen]) for chosen in recent))
        return score(predict(model, validation[0]), validation[1])

    best: dict[str, torch.Tensor] = {}
    mean: dict[str, torch.Tensor] = {}
    history: tuple[Epoch, ...] = ()
    if checkpoint is not None and checkpoint.exists():
        saved = Checkpoint.read(checkpoint, run)
        saved.restore(model, optimizer)
        best, mean = saved.best, saved.mean
        history = tuple(Epoch(**epoch) for epoch in saved.history)
    while not _finished(history, settings):
        drawn, loss = _learn(
            model,
            optimizer,
            images,
            settings,
            history=history,
            draw=draw,
            lesson=lesson or partial(_plain, images[1]),
            progress=progress,
        )
        value = validate(drawn)
        if not history or value > _best(history).score:
            best = copy.deepcopy(model.state_dict())
        if settings.average:
            mean = _mean(mean, model.state_dict(), len(history) + 1)
        history = (*history, Epoch(len(history) + 1, loss, value))
        if checkpoint is not None:
            epochs = [dataclasses.asdict(epoch) for epoch in history]
            Checkpoint.of(model, optimizer, best, epochs, mean).write(checkpoint, run)
    reached = _best(history).score
    if mean:
        model.load_state_dict(mean)
        with _seeded(settings.seed, len(history)) as generator:
            averaged = validate(draw(images[1], generator))
        if averaged > reached:
            return Trained(model, _best(history), history, averaged)
    model.load_state_dict(best)
    return Trained(model.eval(), _best(history), history, reached)


def _learn(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    images: Images,
    settings: Settings,
    *,
    history: tuple[Epoch, ...],
    draw: Draw,
    lesson: Lesson,
    progress: Callable[[Step], None] | None,
) -> tuple[torch.Tensor, float]:
    """Pass once over the training images; return which were drawn and their mean loss."""
    epoch, loss = len(history) + 1, 0.0
    model.train()
    with _seeded(settings.seed, epoch) as generator:
        drawn = draw(images[1], generator)
        order = torch.split(drawn, settings.batch_size)
        for done, chosen in enumerate(order, start=1):
            batch = _unit(images[0][chosen])
            if settings.falling:
                steps = len(order) * (epoch - 1) + done - 1
                _set_rate(optimizer, settings.lr * _fall(steps, len(order) * settings.epochs))
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast(batch.device.type, torch.bfloat16, enabled=settings.bfloat16):
                error = lesson(model, batch, chosen, generator)
            torch.autograd.backward(error)
            optimizer.step()
            loss += error.item() * len(chosen)
            if progress is not None:
                progress(Step(epoch, done, len(order), history))
    return drawn, loss / len(drawn)


def _fall(step: int, total: int) -> float:
    """Share of the learning rate at a step, counted from 0."""
    return min(1.0, (step + 1) / 100) * (0.05 + 0.475 * (1 + math.cos(math.pi * step / total)))


def _set_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    for group in optimizer.param_groups:
        group["lr"] = rate


def _plain(
    labels: torch.Tensor,
    model: nn.Module,
    batch: torch.Tensor,
    rows: torch.Tensor,
    _: torch.Generator,
) -> torch.Tensor:
    return functional.cross_entropy(model(batch), labels[rows])


def predict(model: nn.Module, images: torch.Tensor) -> torch.Tensor:
    """Return the most likely class of each image; leaves the model in evaluation mode.

    Example:
        >>> predict(nn.Flatten(), torch.tensor([[[[0.1, 0.9]]], [[[0.8, 0.2]]]]))
        tensor([1, 0])
    """
    model.eval()
    with torch.inference_mode():
        parts = torch.split(images, _EVALUATION_BATCH)
        return torch.cat([model(_unit(part)).argmax(1) for part in parts])


def _mean(
    mean: dict[str, torch.Tensor], new: dict[str, torch.Tensor], count: int
) -> dict[str, torch.Tensor]:
    """Return the mean of `count` sets of weights, of which all but the newest are in `mean`."""
    if not mean:
        return copy.deepcopy(new)
    return {
        name: old.lerp(new[name], 1 / count) if old.is_floating_point() else new[name].clone()
        for name, old in mean.items()
    }


def _best(history: tuple[Epoch, ...]) -> Epoch:
    return max(history, key=lambda epoch: epoch.score)  # the first of equals


def _finished(history: tuple[Epoch, ...], settings: Settings) -> bool:
    if not history:
        return False
    waited = len(history) - _best(history).number
    return len(history) >= settings.epochs or waited >= settings.patience


def _unit(images: torch.Tensor) -> torch.Tensor:
    return images.float() / 255 if images.dtype == torch.uint8 else images


@contextmanager
def _seeded(seed: int, epoch: int) -> Iterator[torch.Generator]:
    """Draw from (seed, epoch) inside, also in layers like dropout; leave the caller's state."""
    value = int(np.random.SeedSequence([seed, epoch]).generate_state(1)[0])
    with torch.random.fork_rng(devices=[]):
        yield torch.default_generator.manual_seed(value)


def _describe(settings: Settings, images: Images, validation: Images) -> dict[str, object]:
    """Say what must be equal for training to go on from a checkpoint.

    More epochs may be asked for unless the learning rate falls towards the last one, and averaging
    changes no step.
    """
    digest = hashlib.sha256()
    for tensor in (*images, *validation):
        digest.update(str((tuple(tensor.shape), tensor.dtype)).encode())
        digest.update(tensor.contiguous().numpy().data)
    free = ("average",) if settings.falling else ("epochs", "average")
    fixed = {k: v for k, v in dataclasses.asdict(settings).items() if k not in free}
    return fixed | {"images": digest.hexdigest()}
