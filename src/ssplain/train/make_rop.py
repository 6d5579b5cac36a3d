"""From labelled fundus images to weights on disk: train, judge, write the card."""

import copy
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from torch import nn

from ssplain.models.card import ModelCard, save
from ssplain.train.loop import Images, Step
from ssplain.train.rop import CLASSES, STAGES, Stage, Verdict, judge, train_rop


def make_rop(
    images: Mapping[str, Images],
    work: Path,
    out: Path,
    *,
    name: str,
    origin: str,
    start: nn.Module | None = None,
    stages: Sequence[Stage] = STAGES,
    progress: Callable[[int, Step], None] | None = None,
) -> Verdict:
    """Train GoogLeNet, test it, and write half-precision weights with their card.

    The same call again goes on where a killed run stopped; after a finished run it only writes the
    weights and their card anew.

    Args:
        images: images and labels of "train", "validation" and "test".
        work: folder of the checkpoints.
        out: folder to write `weights.safetensors` and `card.json` to.
        name: of the model.
        origin: where the images come from and what was learned before, for the card.
        start: a trained GoogLeNet to go on from; fresh weights if None.
        stages: of the training.
        progress: called with the number of the stage and where it stands.

    Returns:
        How well the written weights do on the test images.
    """
    trained = train_rop(
        images["train"],
        images["validation"],
        work,
        start=start,
        stages=stages,
        progress=progress,
    )
    # Judged as it will be read: rounded to half precision.
    model = copy.deepcopy(trained.model).half().float()
    verdict = judge(model, *images["test"])
    counts = {split: len(labels) for split, (_, labels) in images.items()}
    recalls = ", ".join(
        f"{name} {recall:.0%}" for name, recall in zip(CLASSES, verdict.recalls, strict=True)
    )
    card = ModelCard(
        name=name,
        architecture="googlenet",
        dataset="rop",
        classes=CLASSES,
        channels=1,
        size=(224, 224),
        accuracy=verdict.balanced_accuracy,
        seed=stages[0].settings.seed,
        date=datetime.now(UTC).date().isoformat(),
        note=(
            f"Trained on {counts['train']} {origin}, each class equally often, turned and "
            f"mirrored, with Adam: {', '.join(map(_tell, stages))}. Balanced accuracy "
            f"{trained.score:.1%} on {counts['validation']} images held out. "
            f"Accuracy is balanced accuracy on {counts['test']} test images of vessel trees that "
            f"training never saw; recalls: {recalls}. Weights are in half precision. Not for "
            "diagnosis."
        ),
    )
    out.mkdir(parents=True, exist_ok=True)
    save(model.half(), card, out)
    return verdict


def _tell(stage: Stage) -> str:
    size = f" at 1/{stage.shrink} of the size" if stage.shrink > 1 else ""
    draws = stage.settings.epochs * stage.draws
    mean = ", the weights averaged over its epochs" if stage.settings.average else ""
    numbers = " in bfloat16" if stage.settings.bfloat16 else ""
    return f"at most {draws} draws{size}{numbers} with learning rate {stage.settings.lr:g}{mean}"
