"""Makes a ROP classifier from simulated images: `python -m ssplain.models.make_rop --out DIR`.

The images and checkpoints are kept in a working folder. The same command again goes on where a
killed run stopped, and after a finished run it only writes the weights and their card anew.
"""

import argparse
import copy
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import torch

from ssplain.data.simulated import SimulatedROP
from ssplain.models.card import ModelCard, save
from ssplain.models.train import Settings, Step
from ssplain.models.train_rop import CLASSES, EPOCH, STAGES, Verdict, judge, train_rop

COUNTS = {"train": 9000, "validation": 450, "test": 100}


def make_rop(
    work: Path,
    out: Path,
    trees: Path | None = None,
    *,
    counts: Mapping[str, int] = COUNTS,
    stages: Sequence[Settings] = STAGES,
    epoch: int = EPOCH,
    workers: int = 1,
    progress: Callable[[int, Step], None] | None = None,
) -> Verdict:
    """Simulate, train, test, and write half-precision weights with their card.

    Args:
        work: folder of the images and checkpoints.
        out: folder to write `weights.safetensors` and `card.json` to.
        trees: folder of vessel masks whose courses to use, instead of simulated ones.
        counts: images of each split.
        stages: settings of the stages of training.
        epoch: training images drawn between two validations.
        workers: processes that simulate.
        progress: called with the number of the stage and where it stands.

    Returns:
        How well the written weights do on the test images.
    """
    for folder in (work, out):
        folder.mkdir(parents=True, exist_ok=True)
    images = {
        split: SimulatedROP(split, count, trees).tensors(work / f"{split}.npz", workers)
        for split, count in counts.items()
    }
    trained = train_rop(
        images["train"], images["validation"], work, stages=stages, epoch=epoch, progress=progress
    )
    # Judged as it will be read: rounded to half precision.
    model = copy.deepcopy(trained.model).half().float()
    verdict = judge(model, *images["test"])
    recalls = ", ".join(
        f"{name} {recall:.0%}" for name, recall in zip(CLASSES, verdict.recalls, strict=True)
    )
    card = ModelCard(
        name="googlenet-rop-trees" if trees else "googlenet-rop",
        architecture="googlenet",
        dataset=f"simulated fundus images on {'real' if trees else 'simulated'} vessel courses",
        classes=CLASSES,
        channels=1,
        size=(224, 224),
        accuracy=verdict.balanced_accuracy,
        seed=stages[0].seed,
        date=datetime.now(UTC).date().isoformat(),
        note=(
            f"Trained on at most {epoch * sum(stage.epochs for stage in stages)} draws, each class "
            f"equally often, from {counts['train']} images with planted disease, turned and "
            f"mirrored, with Adam at learning rates {', '.join(f'{s.lr:g}' for s in stages)} in "
            f"turn. Balanced accuracy {trained.best.score:.1%} on {counts['validation']} images "
            f"held out. Accuracy is balanced accuracy on {counts['test']} test images of trees "
            f"that training never saw; recalls: {recalls}. Weights are in half precision. A "
            "stand-in for research on explanations: not trained on patients, not for diagnosis."
        ),
    )
    save(model.half(), card, out)
    return verdict


def _say(stage: int, step: Step) -> None:
    if step.done == step.total:
        scores = ", ".join(f"{epoch.score:.1%}" for epoch in step.history)
        print(f"stage {stage}, epoch {step.epoch} learned; before: {scores or '-'}", flush=True)  # noqa: T201


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for weights and card")
    parser.add_argument("--work", type=Path, required=True, help="folder for images, checkpoints")
    parser.add_argument("--trees", type=Path, help="folder of vessel masks to take courses from")
    parser.add_argument("--workers", type=int, default=1, help="processes that simulate")
    chosen = parser.parse_args()
    torch.set_num_threads(max(1, chosen.workers))
    verdict = make_rop(chosen.work, chosen.out, chosen.trees, workers=chosen.workers, progress=_say)
    print(verdict)  # noqa: T201
