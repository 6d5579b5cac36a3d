"""Training GoogLeNet to grade plus disease, and judging what came out.

The loop is the one of `ssplain.train.loop`; this file holds the recipe. The learning rate falls
in stages: each goes on from the best weights of the one before, as its own resumable run.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix, roc_auc_score, roc_curve
from torch import nn

from ssplain.train.draws import Images, class_balanced
from ssplain.train.lesson import Known, Lesson
from ssplain.train.loop import Settings, Step, Trained, balanced_accuracy, train
from ssplain.train.pupil import Pupil
from ssplain.train.share import mean_share_range, said

CLASSES = ("Normal", "Pre-plus", "Plus")


@dataclass(frozen=True)
class Stage:
    """One part of the training.

    Attributes:
        settings: of the training loop.
        size: of the parts that are cut out of the images meanwhile, at full resolution; None for
            whole images. Left out for images without planted disease, whose parts have no grade.
        draws: training images drawn between two validations; at most as many as there are.
        apart: draw only healthy eyes and, where it is known, those with so much disease.
    """

    settings: Settings
    size: int | None = None
    draws: int = 1024
    apart: float = 0.0


# Clear cases first, then all; parts of images first, since on a CPU the number of steps is what is
# short, and a quarter of the area takes a quarter of the time. The network ends in a mean over all
# places, so it takes images of any size.
STAGES = (
    Stage(
        Settings(epochs=2, patience=2, batch_size=16, lr=2e-3, seed=0), 112, draws=2880, apart=1.3
    ),
    Stage(
        Settings(epochs=2, patience=2, batch_size=16, lr=2e-3, seed=1), 112, draws=2880, apart=1.0
    ),
    Stage(
        Settings(epochs=8, patience=8, batch_size=16, lr=1.6e-3, seed=2, falling=True),
        112,
        draws=3840,
    ),
    Stage(Settings(epochs=8, patience=8, batch_size=12, lr=4e-4, seed=3, falling=True), draws=960),
)
# What is left to do for a network that has seen vessels before.
FURTHER = STAGES[3:]


@dataclass(frozen=True)
class Performance:
    """How well a classifier does on labelled images.

    Attributes:
        confusion: (C, C) counts, true class by predicted class.
        recalls: share of each class that was recognised.
        balanced_accuracy: mean of the recalls.
        auc: area under the ROC curve of each class against the rest.
        roc: for each class, the false and true positive rates of that curve.
    """

    confusion: NDArray[np.int64]
    recalls: tuple[float, ...]
    balanced_accuracy: float
    auc: tuple[float, ...]
    roc: tuple[tuple[NDArray[np.float64], NDArray[np.float64]], ...]

    def __str__(self) -> str:
        rows = [
            f"{name:>9}  {'  '.join(f'{count:4d}' for count in counts)}   recall {recall:.1%}"
            f"   AUC {auc:.3f}"
            for name, counts, recall, auc in zip(
                CLASSES, self.confusion, self.recalls, self.auc, strict=True
            )
        ]
        return "\n".join([*rows, f"balanced accuracy {self.summary}"])

    @property
    def summary(self) -> str:
        """Balanced accuracy with its interval: of few images it says little."""
        totals = self.confusion.sum(1).tolist()
        limits = mean_share_range(self.confusion.diagonal().tolist(), totals)
        return said(self.balanced_accuracy, limits, sum(totals))


def train_rop(
    images: Images,
    validation: Images,
    folder: Path,
    *,
    known: Known | None = None,
    start: nn.Module | None = None,
    stages: Sequence[Stage] = STAGES,
    progress: Callable[[int, Step], None] | None = None,
) -> Trained:
    """Train GoogLeNet on segmented fundus images of three classes.

    Every class is drawn equally often, training images are changed in all that is not disease (see
    `ssplain.train.vary`), and the weights with the best balanced accuracy on the validation images
    are kept.

    Args:
        images: training images (N, 1, H, W) as bytes, of which 255 is 1.0, and labels (N,).
        validation: the same, unchanged, for early stopping.
        folder: where the checkpoints are kept; a run that was killed goes on from them.
        known: what was planted in simulated training images.
        start: a trained GoogLeNet to go on from; fresh weights if None.
        stages: of the training, each going on from the best weights of the one before.
        progress: called with the number of the stage and where it stands after every batch.

    Returns:
        The trained model with the history of its last stage.
    """

    def fit(number: int, stage: Stage, build: Callable[[], nn.Module]) -> Trained:
        return train(
            build,
            images,
            validation,
            stage.settings,
            draw=partial(_draw, stage, None if known is None else known.amounts),
            lesson=Lesson(images[1], known, None if known is None else stage.size),
            score=balanced_accuracy,
            checkpoint=folder / f"stage-{number}.safetensors",
            progress=None if progress is None else partial(progress, number),
        )

    folder.mkdir(parents=True, exist_ok=True)
    trained = fit(1, stages[0], _fresh if start is None else partial(_fast, start))
    for number, stage in enumerate(stages[1:], start=2):
        trained = fit(number, stage, partial(_same, trained.model))
    return trained


def judge(model: nn.Module, images: torch.Tensor, labels: torch.Tensor) -> Performance:
    """Judge a classifier on images (N, 1, H, W) in [0, 1] or bytes.

    Example:
        >>> labels = torch.tensor([0, 1, 2, 2])
        >>> image = torch.eye(3)[torch.tensor([0, 1, 2, 1])].reshape(4, 1, 1, 3)
        >>> judge(nn.Flatten(), image, labels).recalls
        (1.0, 1.0, 0.5)
    """
    chance = _probabilities(model, images).numpy()
    truth = labels.numpy()
    counts = confusion_matrix(truth, chance.argmax(1), labels=range(chance.shape[1]))
    recalls = np.diag(counts) / counts.sum(axis=1)
    ours = [truth == label for label in range(chance.shape[1])]
    return Performance(
        confusion=counts,
        recalls=tuple(recalls.tolist()),
        balanced_accuracy=float(recalls.mean()),
        auc=tuple(float(roc_auc_score(own, p)) for own, p in zip(ours, chance.T, strict=True)),
        roc=tuple(roc_curve(own, p)[:2] for own, p in zip(ours, chance.T, strict=True)),
    )


def _draw(
    stage: Stage, amounts: torch.Tensor | None, labels: torch.Tensor, generator: torch.Generator
) -> torch.Tensor:
    """Return the images of an epoch, every class equally often."""
    drawn = class_balanced(labels, generator)
    if stage.apart and amounts is not None:
        drawn = drawn[(labels[drawn] == 0) | (amounts[drawn] >= stage.apart)]
    return drawn[: stage.draws]


def _fresh() -> nn.Module:
    return _fast(Pupil(len(CLASSES)))


def _fast(model: nn.Module) -> nn.Module:
    """Lay the weights out with the channels last: convolutions of this size run faster so."""
    return model.to(memory_format=torch.channels_last)  # type: ignore[call-overload, no-any-return]


def _same(model: nn.Module) -> nn.Module:
    return model


def _probabilities(model: nn.Module, images: torch.Tensor) -> torch.Tensor:
    model.eval()
    with torch.inference_mode():
        parts = [p.float() / 255 if p.dtype == torch.uint8 else p for p in torch.split(images, 32)]
        return torch.cat([model(part).softmax(1) for part in parts])
