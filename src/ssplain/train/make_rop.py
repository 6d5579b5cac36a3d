"""From labelled fundus images to weights on disk: train, judge, write the card."""

import copy
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from torch import Tensor, nn

from ssplain.data.hvdropdb import CAMERAS, eyes
from ssplain.data.simulated import Examples, SimulatedROP
from ssplain.models.card import ModelCard, save
from ssplain.models.domain import FEWEST, Domain
from ssplain.sheets.bent import BentROP
from ssplain.sheets.paintings import PaintedROP
from ssplain.train.draws import Images
from ssplain.train.lesson import Known
from ssplain.train.loop import Step
from ssplain.train.pupil import Pupil
from ssplain.train.rop import CLASSES, STAGES, Performance, Stage, judge, train_rop

_ENOUGH = 3000  # images to tell from what all have in common


def make_rop(
    images: Mapping[str, Images],
    work: Path,
    out: Path,
    *,
    name: str,
    origin: str,
    known: Known | None = None,
    start: nn.Module | None = None,
    stages: Sequence[Stage] = STAGES,
    progress: Callable[[int, Step], None] | None = None,
) -> Performance:
    """Train GoogLeNet, test it, and write half-precision weights with their card.

    The same call again goes on where a killed run stopped; after a finished run it only writes the
    weights and their card anew.

    Args:
        images: images and labels of "train", "validation" and "test".
        work: folder of the checkpoints.
        out: folder to write `weights.safetensors` and `card.json` to.
        name: of the model.
        origin: where the images come from and what was learned before, for the card.
        known: what was planted in simulated training images.
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
        known=known,
        start=start,
        stages=stages,
        progress=progress,
    )
    # Judged as it will be read: rounded to half precision.
    learned = trained.model.graduate() if isinstance(trained.model, Pupil) else trained.model
    model = copy.deepcopy(learned).half().float()
    performance = judge(model, *images["test"])
    counts = {split: len(labels) for split, (_, labels) in images.items()}
    recalls = ", ".join(
        f"{name} {recall:.0%}" for name, recall in zip(CLASSES, performance.recalls, strict=True)
    )
    card = ModelCard(
        name=name,
        architecture="googlenet",
        dataset="rop",
        classes=CLASSES,
        channels=1,
        size=(224, 224),
        accuracy=performance.balanced_accuracy,
        seed=stages[0].settings.seed,
        date=datetime.now(UTC).date().isoformat(),
        domain=_domain(images["train"][0]),
        note=(
            f"Trained on {counts['train']} {origin}, each class equally often and varied "
            f"in all that is not disease, with Adam: {', '.join(map(_tell, stages))}. Balanced "
            f"accuracy {trained.score:.1%} on {counts['validation']} images held out. "
            f"Accuracy is balanced accuracy, {performance.summary} test images of vessel trees "
            f"that training never saw; recalls: {recalls}. Weights are in half precision. Not for "
            "diagnosis."
        ),
    )
    out.mkdir(parents=True, exist_ok=True)
    save(model.half(), card, out)
    return performance


def simulated(
    counts: Mapping[str, int],
    work: Path,
    trees: Sequence[Path] = (),
    workers: int = 2,
    *,
    painted: int = 0,
    bent: int = 0,
    photographs: Path | None = None,
) -> tuple[dict[str, Images], Known]:
    """Make, or read again, the simulated images of all splits and what was planted.

    Args:
        counts: images of "train", "validation" and "test".
        work: folder where they are kept.
        trees: folders of vessel masks; a third of the images is then made on their courses.
        workers: processes to share the work.
        painted: so many segmented painted photographs are added to "train", and to the other
            splits in proportion, at least one of each class.
        bent: likewise, photographs of real vessels that are bent.
        photographs: folder of HVDROPDB for both; the one that SSPLAIN_DATA names if None.

    Returns:
        Images and labels of each split, and what was planted in those of "train".
    """
    for split in counts if trees else ():
        SimulatedROP(split, 1, tuple(trees)).mask(0)  # a mistyped folder is told of at once
    if painted or bent:
        eyes(photographs, "vessels", CAMERAS[0], "test")  # so is a folder without photographs
    made: dict[str, Examples] = {}
    for split, count in counts.items():
        on_masks = count // 9 * 3 if trees else 0  # the classes take turns
        grown = SimulatedROP(split, count - on_masks)
        made[split] = grown.examples(work / f"{split}.npz", workers)
        if on_masks:
            drawn = SimulatedROP(split, on_masks, tuple(trees))
            made[split] = made[split].and_then(drawn.examples(work / f"{split}-trees.npz", workers))
        for name, kind, wanted in (("painted", PaintedROP, painted), ("bent", BentROP, bent)):
            if wanted:
                share = max(len(CLASSES), wanted * count // counts["train"])
                shots = kind(split, share if split != "train" else wanted, photographs)
                made[split] = made[split].and_then(
                    shots.examples(work / f"{split}-{name}.npz", workers)
                )
    known = Known(made["train"].amounts, made["train"].relevance)
    return {split: (some.images, some.labels) for split, some in made.items()}, known


def _domain(images: Tensor) -> dict[str, list[float]] | None:
    """Return what the training images have in common; nothing is said of too few."""
    return Domain.of(images[:_ENOUGH]).numbers() if len(images) >= FEWEST else None


def _tell(stage: Stage) -> str:
    size = f" of {stage.size} x {stage.size} pixels each" if stage.size else ""
    draws = stage.settings.epochs * stage.draws
    mean = ", the weights averaged over its epochs" if stage.settings.average else ""
    numbers = " in bfloat16" if stage.settings.bfloat16 else ""
    fall = " falling to a twentieth" if stage.settings.falling else ""
    some = f" of healthy eyes and amounts from {stage.apart:g}" if stage.apart else ""
    return (
        f"at most {draws} draws{some}{size}{numbers} with learning rate {stage.settings.lr:g}"
        f"{fall}{mean}"
    )
