"""What commands share: options, the model's card, and image files that fit it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ssplain.errors import SSplainError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

    from ssplain.models import ModelCard

ImageFiles = Annotated[list[Path], typer.Argument(help="Image files: PNG, TIFF, JPEG, BMP or GIF.")]
ModelSource = Annotated[
    str,
    typer.Option(
        help="Bundled name (googlenet-rop, lenet5-mnist, lenet5-fmnist), folder written by "
        "`ssplain train`, .safetensors (with --architecture), .pt2, or package.module:function."
    ),
]
Architecture = Annotated[
    str | None, typer.Option(help="Architecture of a .safetensors file, such as lenet5.")
]
PresetName = Annotated[
    str | None,
    typer.Option(
        "--preset", help="The paper's settings for mnist, fmnist or rop [default: the model's]."
    ),
]
TargetClass = Annotated[
    str | None,
    typer.Option(help="Class to explain, a number or 'posterior' [default: the prediction]."),
]
Output = Annotated[
    str | None, typer.Option(help="Which output holds the classes: an index or a key.")
]
OutputKind = Annotated[str, typer.Option(help="What the model returns: auto, logits or probs.")]
BatchSize = Annotated[int | None, typer.Option(help="Images at a time.")]


Anyway = Annotated[
    bool,
    typer.Option("--anyway", help="Also explain images unlike those the model was trained on."),
]
Stable = Annotated[
    bool,
    typer.Option("--stable", help="SSplain's maps are made such that rounding does not turn them."),
]


def number_or_text(text: str | None) -> int | str | None:
    """Return a whole number where the text is one.

    >>> number_or_text("3"), number_or_text("logits")
    (3, 'logits')
    """
    return int(text) if text is not None and text.lstrip("-").isdigit() else text


def card_of(model: str) -> "ModelCard | None":
    """Return the card of a bundled model or a trained folder; other models have none."""
    from ssplain.models.card import find_card

    return find_card(model)


def read_fitting(path: Path, card: "ModelCard | None") -> "Tensor":
    """Read an image and bring it to the size that the model's card names."""
    from ssplain.data import read_image, resize

    image = read_image(path)
    if card is None:
        return image
    if len(image) != 1 and card.channels == 1:
        raise SSplainError(
            f"{path} is in colour and {card.name} takes grey images; convert it to grey first."
        )
    if tuple(image.shape[1:]) != card.size:
        typer.echo(f"ssplain: {path} is resized to {card.size[0]}x{card.size[1]}.", err=True)
    return resize(image, card.size)


def read_or_refuse(
    paths: "Sequence[Path]",
    card: "ModelCard | None",
    check: "Callable[[Tensor], object] | None" = None,
) -> "tuple[list[tuple[Path, Tensor]], int]":
    """Read the images that can be used, naming each that cannot.

    Args:
        paths: the files.
        card: of the model, if it has one.
        check: raises an error for an image that cannot be used.

    Returns:
        The images with their files, and how many were refused.
    """
    images, refused = [], 0
    for path in paths:
        try:
            image = read_fitting(path, card)
            if check is not None:
                check(image)
        except SSplainError as error:
            named = str(error) if str(path) in str(error) else f"{path}: {error}"
            typer.echo(f"ssplain: {named}", err=True)
            refused += 1
        else:
            images.append((path, image))
    return images, refused


def end(refused: int, total: int) -> None:
    """End with exit code 2 if any image was refused."""
    if refused:
        typer.echo(f"ssplain: {refused} of {total} images were refused, see above.", err=True)
        raise typer.Exit(2)
