"""`ssplain train`: train a network on a data set and write its weights and model card."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ssplain.errors import SSplainError

if TYPE_CHECKING:
    from ssplain.train.draws import Images
    from ssplain.train.lesson import Known
    from ssplain.train.loop import Step

DATASETS = ("mnist", "fmnist", "rop", "vessels", "disc")
VALIDATION = 5000
SIMULATED = {"train": 4500, "validation": 300, "test": 300}


def train(
    dataset: Annotated[str, typer.Argument(help=f"What to train on: {', '.join(DATASETS)}.")],
    *,
    data: Annotated[
        Path | None,
        typer.Option(
            help="mnist, fmnist: folder of the IDX files (default: the one SSPLAIN_DATA names). "
            "rop: folder per class or CSV table of segmented images, or 'simulated' (default); "
            "with --painted or --bent, folder of HVDROPDB. "
            "vessels, disc: folder of HVDROPDB (default: hvdropdb in the one SSPLAIN_DATA names)."
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder to write the weights and their card to.")],
    trees: Annotated[
        list[Path] | None,
        typer.Option(
            help="rop: folder of vessel masks on whose courses a third of the images is simulated; "
            "may be given more than once."
        ),
    ] = None,
    painted: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="rop: add this many photographs of HVDROPDB with painted vessels, segmented as "
            "`ssplain read` does it, to the simulated images.",
        ),
    ] = None,
    bent: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="rop: likewise photographs of HVDROPDB whose own vessels are bent, those that "
            "wind least taken for healthy.",
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(help="rop: a trained GoogLeNet to go on from, by name or folder."),
    ] = None,
    epochs: Annotated[
        int | None,
        typer.Option(min=1, help="At most this many passes over the images (rop: in each stage)."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Fixes everything drawn at random.")] = 0,
    bfloat16: Annotated[
        bool,
        typer.Option(
            "--bfloat16",
            help="rop, vessels, disc: faster on processors that support bfloat16.",
        ),
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a stopped run.")] = False,
) -> None:
    """Train LeNet-5 with the paper's settings, GoogLeNet on ROP images, U-Nets on photographs."""
    if dataset not in DATASETS:
        raise SSplainError(
            f"There is no data set {dataset!r} to train on; choose one of: {', '.join(DATASETS)}."
        )
    if dataset == "rop":
        _train_rop(
            data,
            out,
            tuple(trees or ()),
            painted=painted or 0,
            bent=bent or 0,
            start=start,
            epochs=epochs,
            seed=seed,
            bfloat16=bfloat16,
            resume=resume,
        )
    elif trees or painted or bent or start is not None:
        raise SSplainError(
            f"--trees, --painted, --bent and --start are for rop, not for {dataset}; leave them "
            "out."
        )
    elif dataset in {"vessels", "disc"}:
        from ssplain.cli.train_pixels import train_pixels

        with _prepared(out, resume=resume) as checkpoint:
            train_pixels(
                dataset,
                data,
                out,
                epochs=epochs,
                seed=seed,
                bfloat16=bfloat16,
                checkpoint=checkpoint,
            )
    elif bfloat16:
        raise SSplainError(
            f"--bfloat16 is for rop, vessels and disc, not for {dataset}; leave it out."
        )
    else:
        _train_lenet(dataset, data, out, epochs=epochs or 50, seed=seed, resume=resume)


def _train_lenet(
    dataset: str, data: Path | None, out: Path, *, epochs: int, seed: int, resume: bool
) -> None:
    from ssplain.data import CLASSES, load
    from ssplain.models import LeNet5, ModelCard, save
    from ssplain.models.domain import Domain
    from ssplain.terminal.progress import bar
    from ssplain.train.draws import hold_out
    from ssplain.train.loop import Settings, predict
    from ssplain.train.loop import train as fit
    from ssplain.train.share import said, share_range

    images, labels = load(dataset, data, "train")
    test_images, test_labels = load(dataset, data, "test")
    learned, held_out = hold_out((images.unsqueeze(1), labels), VALIDATION, seed)
    settings = Settings(epochs=epochs, seed=seed)
    with _prepared(out, resume=resume) as checkpoint, bar("starting") as progress:

        def show(step: "Step") -> None:
            progress(step.epoch - 1 + step.done / step.total, epochs, _words(step, epochs))

        trained = fit(LeNet5, learned, held_out, settings, checkpoint=checkpoint, progress=show)
    right = predict(trained.model, test_images.unsqueeze(1)) == test_labels
    reached, total = float(right.double().mean()), len(test_labels)
    found = said(reached, share_range(int(right.sum()), total), total)
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
        domain=Domain.of(learned[0][:20_000]).numbers(),
        note=(
            f"Trained on {len(learned[1])} images with Adam (lr {settings.lr:g}, weight decay "
            f"{settings.weight_decay:g}, batches of {settings.batch_size}). Epoch "
            f"{trained.best.number} of {len(trained.history)} was kept: {trained.best.score:.2%} "
            f"of {len(held_out[1])} held-out training images right. Accuracy: {found} test images."
        ),
    )
    save(trained.model, card, out)
    checkpoint.unlink()
    typer.echo(f"{card.name}: {found} test images right. {card.note}")
    typer.echo(f"Written to {out}")


def _train_rop(
    data: Path | None,
    out: Path,
    trees: tuple[Path, ...],
    *,
    painted: int,
    bent: int,
    start: str | None,
    epochs: int | None,
    seed: int,
    bfloat16: bool,
    resume: bool,
) -> None:
    import dataclasses

    from ssplain.models import GoogLeNet, load
    from ssplain.models.card import CARD
    from ssplain.report import roc_figure, write_figure
    from ssplain.terminal.progress import bar
    from ssplain.train.make_rop import make_rop
    from ssplain.train.rop import CLASSES, FURTHER, STAGES

    before = None if start is None else load(start)
    if before is not None and not isinstance(before, GoogLeNet):
        raise SSplainError(f"--start {start} is no GoogLeNet; give the name or folder of one.")
    stages = [
        dataclasses.replace(
            stage,
            settings=dataclasses.replace(
                stage.settings,
                epochs=min(stage.settings.epochs, epochs or stage.settings.epochs),
                seed=seed + i,
                bfloat16=bfloat16,
            ),
        )
        for i, stage in enumerate(STAGES if before is None else FURTHER)
    ]
    total = sum(stage.settings.epochs for stage in stages)
    with _prepared(out, resume=resume) as checkpoint, bar("starting") as progress:
        work = checkpoint.parent / "work"
        work.mkdir(exist_ok=True)
        own = None if data is None or str(data) == "simulated" else data
        images, known, origin, refused = (
            _simulated(work, trees, painted, bent, own)
            if own is None or painted or bent
            else _own_images(own, trees, seed)
        )

        def show(stage: int, step: "Step") -> None:
            done = sum(earlier.settings.epochs for earlier in stages[: stage - 1])
            now = dataclasses.replace(step, epoch=done + step.epoch)
            progress(now.epoch - 1 + now.done / now.total, total, _words(now, total))

        performance = make_rop(
            images,
            work,
            out,
            name="googlenet-rop",
            origin=origin if start is None else f"{origin}, going on from {Path(start).name}",
            known=known,
            start=before,
            stages=stages,
            progress=show,
        )
    write_figure(roc_figure(performance, CLASSES), out / "roc.png", dpi=120)
    typer.echo(f"Rows: true class; columns: predicted {', '.join(CLASSES)}\n{performance}")
    typer.echo(f"Written to {out}: weights, {CARD} and roc.png")
    if refused:
        typer.echo(f"ssplain: {refused} images were refused, see above.", err=True)
        raise typer.Exit(2)


def _simulated(
    work: Path, trees: tuple[Path, ...], painted: int, bent: int, photographs: Path | None
) -> "tuple[dict[str, Images], Known | None, str, int]":
    from ssplain.train.make_rop import simulated

    images, known = simulated(
        SIMULATED, work, trees, painted=painted, bent=bent, photographs=photographs
    )
    courses = "simulated and real" if trees else "simulated"
    kinds = {"painted": painted, "bent": bent}
    shots = [f"{count} photographs with {kind} vessels" for kind, count in kinds.items() if count]
    also = f", {' and '.join(shots)}, segmented" if shots else ""
    return images, known, f"simulated images on {courses} vessel courses{also}", 0


def _own_images(
    data: Path, trees: tuple[Path, ...], seed: int
) -> "tuple[dict[str, Images], Known | None, str, int]":
    from ssplain.data import read_rop

    if trees:
        raise SSplainError("--trees is for simulated images; leave out --trees or --data.")
    found = read_rop(data)
    typer.echo(found.report(), err=True)
    sides = zip(("train", "validation", "test"), found.split(seed=seed), strict=True)
    images = {side: (found.images[rows], found.labels[rows]) for side, rows in sides}
    return images, None, f"images of {len(set(found.infants))} infants", len(found.refused)


@contextmanager
def _prepared(out: Path, *, resume: bool) -> Iterator[Path]:
    """Make the folder and give its checkpoint's path, refusing to write over another run.

    If it comes to nothing, such as for a mistyped --data, the folders that were made are removed.
    """
    checkpoint = out / "checkpoint.safetensors"
    if (out / "card.json").exists():
        raise SSplainError(f"{out} already holds a trained model; give another folder with --out.")
    if (checkpoint.exists() or (out / "work").exists()) and not resume:
        raise SSplainError(
            f"{out} holds a run that was stopped; go on with it by --resume, or give another "
            "folder with --out."
        )
    made = [folder for folder in (out / "work", out, *out.parents) if not folder.exists()]
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SSplainError(
            f"The folder {out} cannot be made ({error.strerror}); give another with --out."
        ) from error
    try:
        yield checkpoint
    finally:
        for folder in made:
            with suppress(OSError):  # it holds something, or was never made
                folder.rmdir()


def _words(step: "Step", epochs: int) -> str:
    """Say where a training stands."""
    last = f", accuracy {step.history[-1].score:.2%}" if step.history else ""
    return f"epoch {step.epoch} of at most {epochs}{last}"
