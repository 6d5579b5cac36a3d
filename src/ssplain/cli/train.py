"""`ssplain train`: train a network on a data set and write its weights and model card."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ssplain.errors import SSplainError

if TYPE_CHECKING:
    from ssplain.models.train import Step

DATASETS = ("mnist", "fmnist")
VALIDATION = 5000


def train(
    dataset: Annotated[str, typer.Argument(help=f"What to train on: {', '.join(DATASETS)}.")],
    *,
    data: Annotated[
        Path | None,
        typer.Option(help="Folder of the IDX files; without it, the one SSPLAIN_DATA names."),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder to write the weights and their card to.")],
    epochs: Annotated[
        int, typer.Option(min=1, help="At most so many passes over the images.")
    ] = 50,
    seed: Annotated[int, typer.Option(min=0, help="Fixes everything drawn at random.")] = 0,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a stopped run.")] = False,
) -> None:
    """Train LeNet-5 with the paper's settings, stopping early on 5,000 held-out images."""
    if dataset not in DATASETS:
        raise SSplainError(
            f"There is no data set {dataset!r} to train on; choose one of: {', '.join(DATASETS)}."
        )
    from ssplain.data import CLASSES, load
    from ssplain.models import LeNet5, ModelCard, save
    from ssplain.models.train import Settings, accuracy, hold_out, predict
    from ssplain.models.train import train as fit

    images, labels = load(dataset, data, "train")
    test_images, test_labels = load(dataset, data, "test")
    learned, held_out = hold_out((images.unsqueeze(1), labels), VALIDATION, seed)
    checkpoint = _prepare(out, resume=resume)
    settings = Settings(epochs=epochs, seed=seed)
    with _bar(epochs) as progress:
        trained = fit(LeNet5, learned, held_out, settings, checkpoint=checkpoint, progress=progress)
    reached = accuracy(predict(trained.model, test_images.unsqueeze(1)), test_labels)
    card = ModelCard(
        name=f"lenet5-{dataset}",
        architecture="lenet5",
        dataset=dataset,
        classes=CLASSES[dataset],
        channels=1,
        size=(28, 28),
        accuracy=reached,
        seed=seed,
        date=datetime.now(UTC).date().isoformat(),
        note=(
            f"Trained on {len(learned[1])} images with Adam (lr {settings.lr:g}, weight decay "
            f"{settings.weight_decay:g}, batches of {settings.batch_size}). Epoch "
            f"{trained.best.number} of {len(trained.history)} was kept: {trained.best.score:.2%} "
            f"of {len(held_out[1])} held-out training images right. Accuracy is on all "
            f"{len(test_labels)} test images."
        ),
    )
    save(trained.model, card, out)
    checkpoint.unlink()
    typer.echo(f"{card.name}: {reached:.2%} of {len(test_labels)} test images right. {card.note}")
    typer.echo(f"Written to {out}")


def _prepare(out: Path, *, resume: bool) -> Path:
    """Make the folder and return its checkpoint's path, refusing to write over another run."""
    checkpoint = out / "checkpoint.safetensors"
    if (out / "card.json").exists():
        raise SSplainError(f"{out} already holds a trained model; give another folder with --out.")
    if checkpoint.exists() and not resume:
        raise SSplainError(
            f"{out} holds a run that was stopped; go on with it by --resume, or give another "
            "folder with --out."
        )
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SSplainError(
            f"The folder {out} cannot be made ({error.strerror}); give another with --out."
        ) from error
    return checkpoint


@contextmanager
def _bar(epochs: int) -> Iterator[Callable[["Step"], None]]:
    """Show a progress bar on a terminal; stay quiet in a pipe."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("starting", total=epochs)

        def show(step: "Step") -> None:
            last = f", accuracy {step.history[-1].score:.2%}" if step.history else ""
            bar.update(
                task,
                completed=step.epoch - 1 + step.done / step.total,
                description=f"epoch {step.epoch} of at most {epochs}{last}",
            )

        yield show
