"""What commands share: options, the model's card, and image files that fit it."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ssplain.errors import SSplainError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor, nn

    from ssplain.models import Head, ModelCard, ModelOptions

ImageFiles = Annotated[list[Path], typer.Argument(help="Image files: PNG, TIFF, JPEG, BMP or GIF.")]
ModelSource = Annotated[
    str,
    typer.Option(
        help="Bundled name (googlenet-rop, lenet5-mnist, lenet5-fmnist), folder written by "
        "`ssplain train`, .safetensors (with --architecture), .pt2, .onnx, or "
        "package.module:function."
    ),
]
Architecture = Annotated[
    str | None, typer.Option(help="Architecture of a .safetensors file, such as lenet5.")
]
PresetName = Annotated[
    str | None,
    typer.Option(
        "--preset",
        help="Settings: the paper's for mnist, fmnist or rop; or photograph, for natural images "
        "(default: the model's).",
    ),
]
TargetClass = Annotated[
    str | None,
    typer.Option(
        help="Class to explain, by number or, where the classes have names, by name; or "
        "'posterior' (default: the prediction)."
    ),
]
ClassNames = Annotated[
    str | None,
    typer.Option(
        "--classes",
        help="Names of the model's classes, in the order of its outputs: separated by commas, or a "
        "file with one on each line (default: those that the model or its card tells).",
    ),
]
Output = Annotated[
    str | None, typer.Option(help="Which output holds the classes: an index or a key.")
]
OutputKind = Annotated[str, typer.Option(help="What the model returns: auto, logits or probs.")]
BatchSize = Annotated[int | None, typer.Option(help="Images at a time.")]
Label = Annotated[
    int | None,
    typer.Option(
        help="One label of a model with independent labels, by number: class 1 is present, class "
        "0 absent. Give --output-kind probs if the model returns probabilities."
    ),
]
AtLeast = Annotated[
    str | None,
    typer.Option(
        help="For a regression: is its output (--label: which one) at least this? After a comma, "
        "how far beyond it the answer is clear, such as 5,0.5 (default: 1)."
    ),
]
Fill = Annotated[
    str | None,
    typer.Option(help="What a hidden pixel shows: a number (0 is black), mean or blur."),
]
Mean = Annotated[
    str | None,
    typer.Option(help="Mean by which the model's images are normalised; one, or one per channel."),
]
Std = Annotated[
    str | None, typer.Option(help="Standard deviation likewise, such as 0.229,0.224,0.225.")
]

Anyway = Annotated[
    bool,
    typer.Option("--anyway", help="Also explain images unlike those the model was trained on."),
]
Stable = Annotated[
    bool,
    typer.Option(
        "--stable", help="Make SSplain's maps so that rounding errors do not change them."
    ),
]


def number_or_text(text: str | None) -> int | str | None:
    """Return a whole number where the text is one.

    >>> number_or_text("3"), number_or_text("logits")
    (3, 'logits')
    """
    return int(text) if text is not None and re.fullmatch(r"-?[0-9]+", text) else text


def number_or_word(text: str | None) -> float | str | None:
    """Return a number, with or without a fraction, where the text is one.

    >>> number_or_word("0.5"), number_or_word("mean")
    (0.5, 'mean')
    """
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def names_given(text: str | None) -> tuple[str, ...] | None:
    """Return the names of --classes: between commas, or the lines of a file.

    >>> names_given("cat, dog")
    ('cat', 'dog')
    """
    if text is None:
        return None
    if Path(text).is_file():
        try:
            lines = Path(text).read_text(encoding="utf-8-sig").rstrip().splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise SSplainError(
                f"--classes {text} cannot be read ({error}); save it as UTF-8."
            ) from error
        return tuple(line.strip() for line in lines)
    if "," not in text:
        raise SSplainError(
            f"--classes {text} is no file and holds no comma; give names such as cat,dog, or a "
            "file with one on each line."
        )
    return tuple(name.strip() for name in text.split(","))


def require_names_fit(
    network: "nn.Module", options: "ModelOptions", image: "Tensor", names: "Sequence[str] | None"
) -> None:
    """Complain of more or fewer names than the model has classes, which one image shows."""
    from ssplain.ask.door import Door
    from ssplain.ask.named import require_as_many

    if names is not None:
        with Door(network, **options).open(image) as asked:
            require_as_many(names, asked.probabilities.shape[1])


def explainers_of(text: str) -> "Sequence[str]":
    """Return the explainers of --explainers: all, or the named ones.

    >>> explainers_of("ssplain-0, saliency")
    ['ssplain-0', 'saliency']
    """
    from ssplain.explain.registry import names

    return names() if text == "all" else [name.strip() for name in text.split(",")]


def head_of(label: int | None, at_least: str | None, mean: str | None, std: str | None) -> "Head":
    """Return what --label, --at-least, --mean and --std ask for.

    >>> head_of(2, None, "0.5", "0.2,0.2,0.3")
    Head(label=2, at_least=None, mean=(0.5,), std=(0.2, 0.2, 0.3))
    """
    from ssplain.models import Head

    if label is not None and label < 0:
        raise SSplainError(f"--label {label} does not work; labels count from 0.")
    return Head(
        label,
        *(
            None if text is None else _numbers(text, option)
            for text, option in ((at_least, "--at-least"), (mean, "--mean"), (std, "--std"))
        ),
    )


def _numbers(text: str, option: str) -> tuple[float, ...]:
    """Return the numbers between commas."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError as error:
        raise SSplainError(
            f"{option} {text} is neither a number nor numbers separated by commas."
        ) from error


def open_model(
    source: str,
    architecture: str | None,
    head: "Head",
    *,
    output: str | None,
    output_kind: str,
    batch_size: int | None,
    fill: str | None,
) -> "tuple[nn.Module, ModelOptions]":
    """Load a model with its head; return it and how it is to be called."""
    from ssplain.models import load, quick

    network, picked, kind = head.on(
        quick(load(source, architecture)),
        number_or_text(output),
        output_kind,  # type: ignore[arg-type]  # checked by the door
    )
    options: ModelOptions = {"output": picked, "output_kind": kind, "batch_size": batch_size}
    if fill is not None:  # or else the preset's
        options["fill"] = number_or_word(fill)
    return network, options


def card_of(model: str) -> "ModelCard | None":
    """Return the card of a bundled model or a trained folder; other models have none."""
    from ssplain.models.card import find_card

    return find_card(model)


def read_fitting(path: Path, card: "ModelCard | None") -> "Tensor":
    """Read an image and bring it to the size that the model's card names."""
    from ssplain.data import read_image, resize
    from ssplain.data.remarks import unused_bits

    image = read_image(path)
    for remark in filter(None, (unused_bits(image, path), _hazy(image))):
        typer.echo(f"ssplain: {path}: {remark}.", err=True)
    if card is None:
        return image
    if len(image) != 1 and card.channels == 1:
        raise SSplainError(
            f"{path} is in colour and {card.name} takes grey images; convert it to grey first."
        )
    if tuple(image.shape[1:]) != card.size:
        typer.echo(f"ssplain: {path} is resized to {card.size[0]}x{card.size[1]}.", err=True)
    return resize(image, card.size)


def _hazy(image: "Tensor") -> str | None:
    from ssplain.data.remarks import HAZY, haze

    if (share := haze(image)) < HAZY:
        return None
    return (
        f"{share:.0%} of its non-black pixels are nearly black, as JPEG leaves them, and count "
        "as its support; save it without loss, on a black ground"
    )


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
