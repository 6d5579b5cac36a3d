"""`ssplain explain`: which pixels of these images the model's decision rests on."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ssplain.cli.inputs import (
    Architecture,
    BatchSize,
    ImageFiles,
    ModelSource,
    Output,
    OutputKind,
    PresetName,
    TargetClass,
    card_of,
    end,
    number_or_text,
    read_or_refuse,
)
from ssplain.errors import SSplainError
from ssplain.files import require_writable, told
from ssplain.names import Folders, Source, common_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from ssplain.explain import SSplain
    from ssplain.models import ModelCard


def explain(
    images: ImageFiles,
    *,
    model: ModelSource,
    out: Annotated[Path, typer.Option(help="Folder to write to; each image gets a folder in it.")],
    architecture: Architecture = None,
    settings: PresetName = None,
    target: TargetClass = None,
    budget: Annotated[
        float | None, typer.Option(help="Share of the support that may be kept.")
    ] = None,
    norm: Annotated[str | None, typer.Option(help="Sparsity by l0 or l1.")] = None,
    tv_weight: Annotated[float | None, typer.Option(help="Weight of total variation.")] = None,
    rho: Annotated[float | None, typer.Option(help="Penalty of the ADMM.")] = None,
    lr: Annotated[float | None, typer.Option(help="Learning rate of Adam.")] = None,
    iterations: Annotated[int | None, typer.Option(help="Iterations of the ADMM.")] = None,
    start: Annotated[
        str | None, typer.Option(help="First mask: intensity, minmax, ones or random.")
    ] = None,
    support: Annotated[
        str | None,
        typer.Option(help="Pixels that count: nonzero, otsu, all, or a threshold such as 0.1."),
    ] = None,
    tolerance: Annotated[
        float | None, typer.Option(help="Stop when the residuals are at most this.")
    ] = None,
    output: Output = None,
    output_kind: OutputKind = "auto",
    batch_size: BatchSize = None,
    seed: Annotated[int, typer.Option(help="For --start random.")] = 0,
) -> None:
    """Explain image files: scores, mask, pictures and a manifest for each."""
    from ssplain.explain import SSplain
    from ssplain.models import fold_batch_norm, load

    require_writable(out)
    network = fold_batch_norm(load(model, architecture))
    card = card_of(model)
    chosen = _settings(settings, card) | {
        name: value
        for name, value in {
            "budget": budget,
            "norm": norm,
            "tv_weight": tv_weight,
            "rho": rho,
            "lr": lr,
            "iterations": iterations,
            "start": start,
        }.items()
        if value is not None
    }
    if support is not None:
        chosen["support"] = _support(support)
    explainer = SSplain(
        network,
        **chosen,
        tolerance=tolerance,
        output=number_or_text(output),
        output_kind=output_kind,  # type: ignore[arg-type]  # checked by SSplain
        batch_size=batch_size,
        seed=seed,
    )
    refused = _explain_files(
        explainer, images, target=number_or_text(target), card=card, model=model, out=out
    )
    end(refused, len(images))


def _explain_files(
    explainer: "SSplain",
    paths: "Sequence[Path]",
    *,
    target: int | str | None,
    card: "ModelCard | None",
    model: str,
    out: Path,
) -> int:
    """Explain the readable images, sizes together; return how many were refused."""
    import torch

    from ssplain import report
    from ssplain.cli.show import table
    from ssplain.explain.inputs import as_batch, find_support
    from ssplain.metrics import kept_and_removed

    images, refused = read_or_refuse(
        paths, card, check=lambda image: find_support(as_batch(image), explainer.support)
    )
    images, places, homeless = _place(out, paths, images)
    sizes: dict[tuple[int, ...], list[tuple[Path, Tensor]]] = {}
    for path, image in images:
        sizes.setdefault(tuple(image.shape), []).append((path, image))
    rows = []
    for group in sizes.values():
        result = explainer.explain(
            torch.stack([image for _, image in group]),
            target,  # type: ignore[arg-type]  # checked by SSplain
        )
        kept = kept_and_removed(
            explainer.classifier.model,
            result,
            output=explainer.classifier.output,
            output_kind=explainer.classifier.output_kind,
        )
        for i, (path, _) in enumerate(group):
            folder, source = places[path]
            report.save(result[i], folder, {"source": source.about(), "model": model})
            name = folder.relative_to(out).as_posix()
            rows.append((name, result[i], [float(p[i]) for p in (kept.only, kept.without)]))
    if rows:
        table(rows, card.classes if card else None)
        typer.echo(f"Written to {out}: one folder per image, with overlay.png, mask.png, top5.png.")
    return refused + homeless


def _place(
    out: Path, paths: "Sequence[Path]", images: "Sequence[tuple[Path, Tensor]]"
) -> "tuple[list[tuple[Path, Tensor]], dict[Path, tuple[Path, Source]], int]":
    """Give each image its folder; those whose place is taken by other files are refused."""
    folders = Folders(out, common_folder(paths))
    places, kept, refused = {}, [], 0
    for path, image in images:
        try:
            with told(path, "read", "check the file"):
                source = Source.of(path)
            places[path] = (folders.of(source), source)
        except SSplainError as error:
            typer.echo(f"ssplain: {error}", err=True)
            refused += 1
        else:
            kept.append((path, image))
    return kept, places, refused


def _settings(name: str | None, card: "ModelCard | None") -> dict[str, Any]:
    """Return the preset that was asked for, or that fits the model; nothing if there is none."""
    from ssplain.explain import PRESETS, preset

    if name is not None:
        return {**preset(name)}
    return {**preset(card.dataset)} if card is not None and card.dataset in PRESETS else {}


def _support(text: str) -> str | float | None:
    if text == "all":
        return None
    try:
        return float(text)
    except ValueError:
        return text
