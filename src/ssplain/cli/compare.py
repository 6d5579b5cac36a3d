"""`ssplain compare`: what different explainers say about the same images, side by side."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ssplain.errors import SSplainError
from ssplain.files import OwnFiles, require_writable
from ssplain.names import Source
from ssplain.terminal.inputs import (
    Anyway,
    Architecture,
    AtLeast,
    BatchSize,
    ClassNames,
    Fill,
    ImageFiles,
    Label,
    Mean,
    ModelSource,
    Output,
    OutputKind,
    PresetName,
    Stable,
    Std,
    TargetClass,
    card_of,
    end,
    explainers_of,
    head_of,
    names_given,
    open_model,
    read_or_refuse,
    require_names_fit,
)
from ssplain.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from torch import Tensor

    from ssplain.explain.compare import Compared
    from ssplain.models import ModelCard

WRITTEN = ("comparison.png", "maps.npz", "comparison.json")


def compare(
    images: ImageFiles,
    *,
    model: ModelSource,
    out: Annotated[Path, typer.Option(help="Folder to write the picture and the maps to.")],
    explainers: Annotated[
        str, typer.Option(help="'all', or names separated by commas, such as ssplain-0,saliency.")
    ] = "all",
    architecture: Architecture = None,
    dataset: PresetName = None,
    target: TargetClass = None,
    classes: ClassNames = None,
    output: Output = None,
    output_kind: OutputKind = "auto",
    batch_size: BatchSize = None,
    label: Label = None,
    at_least: AtLeast = None,
    fill: Fill = None,
    mean: Mean = None,
    std: Std = None,
    seed: Annotated[int, typer.Option(help="For explainers that draw at random.")] = 0,
    anyway: Anyway = False,
    stable: Stable = False,
) -> None:
    """Compare explainers on image files: one picture, all maps, and a table of times."""
    from ssplain.explain import PRESETS
    from ssplain.explain.compare import compare as run
    from ssplain.explain.registry import method
    from ssplain.models.classes import classes_of
    from ssplain.question.targets import named_target
    from ssplain.terminal.progress import bar

    require_writable(out)
    OwnFiles(out).require_free(WRITTEN)
    chosen = explainers_of(explainers)
    given = names_given(classes)
    network, options = open_model(
        model,
        architecture,
        head_of(label, at_least, mean, std),
        output=output,
        output_kind=output_kind,
        batch_size=batch_size,
        fill=fill,
    )
    card = card_of(model)
    if dataset is None and card is not None and card.dataset in PRESETS:
        dataset = card.dataset
    usable, refused = read_or_refuse(images, card, None if anyway else _inside(card))
    outside = {} if card is None else {str(p): card.faults(image) for p, image in usable}
    outside = {path: faults for path, faults in outside.items() if faults}
    for path, faults in outside.items():
        typer.echo(f"ssplain: {path} is unlike the training images: {'; '.join(faults)}.", err=True)
    batch = _stack(usable)
    names = classes_of(model, network, given)
    require_names_fit(network, options, batch[:1], names)
    steps = run(
        network,
        batch,
        named_target(target, names),
        explainers=chosen,
        dataset=dataset,
        stable=stable,
        seed=seed,
        **options,
    )
    compared: list[Compared] = []
    with bar("starting") as progress:
        for name in chosen:
            progress(len(compared), len(chosen), method(name).title)
            compared.append(next(steps))
    for one in compared:
        if one.complaint:
            typer.echo(f"ssplain: {one.method.title} is left out: {one.complaint}", err=True)
    about = {
        "format": 1,
        "versions": {"ssplain": __version__},
        "model": model,
        "sources": [Source.of(path).about() for path, _ in usable],
        "explainers": [one.method.name for one in compared if one.maps is not None],
        "outside_domain": outside,
        "stable": stable,
    }
    _write(out, [path for path, _ in usable], batch, compared, about)
    _table(compared, len(batch))
    typer.echo(f"Look at {out / 'comparison.png'}; the maps are in {out / 'maps.npz'}.")
    end(refused, len(images))


def _stack(images: "Sequence[tuple[Path, Tensor]]") -> "Tensor":
    """Put images of one shape into a batch."""
    import torch

    if not images:
        raise SSplainError("None of the images can be used; give at least one that can.")
    (first, like), *others = images
    for path, image in others:
        if image.shape != like.shape:
            raise SSplainError(
                f"{path} has shape {tuple(image.shape)} and {first} {tuple(like.shape)}; images "
                "are compared in one picture, so give images of one size and kind."
            )
    return torch.stack([image for _, image in images])


def _write(
    out: Path,
    paths: "Sequence[Path]",
    batch: "Tensor",
    compared: "Sequence[Compared]",
    about: "Mapping[str, object]",
) -> None:
    """Write the picture, the maps and where they come from."""
    from io import BytesIO

    from ssplain.files import npz_bytes
    from ssplain.report.compare import comparison

    picture = BytesIO()
    drawing = comparison(batch, compared, [path.stem for path in paths])
    drawing.savefig(picture, format="png", dpi=150)
    maps = {one.method.name: one.maps.numpy() for one in compared if one.maps is not None}
    text = json.dumps(about, indent=2, sort_keys=True) + "\n"
    contents = (picture.getvalue(), npz_bytes(maps), text.encode())
    OwnFiles(out).write(dict(zip(WRITTEN, contents, strict=True)))


def _inside(card: "ModelCard | None") -> "Callable[[Tensor], object] | None":
    """Return what refuses images unlike the model's training images."""
    return None if card is None else lambda image: card.require_inside(image, "This image")


def _table(compared: "Sequence[Compared]", count: int) -> None:
    """Print how long each explainer took."""
    from ssplain.terminal.show import print_table, results_table

    ours = next((c.seconds for c in compared if c.method.family == "ssplain" and c.seconds), None)
    words, numbers = ("explainer", "family", "reference"), ("ms per image", "times SSplain's")
    shown = results_table(words, numbers)
    for one in compared:
        if one.maps is not None:
            ratio = f"{one.seconds / ours:.2f}" if ours else "-"
            about = (one.method.title, one.method.family, one.method.reference)
            shown.add_row(*about, f"{1e3 * one.seconds:.1f}", ratio)
    print_table(shown)
    typer.echo(
        f"Times of one run on {count} image(s) together, after a first call that does not count."
    )
