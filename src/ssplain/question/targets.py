"""Which class is explained."""

import re
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from ssplain.errors import SSplainError

Target = int | Sequence[int] | Tensor | str | None

SHOWN = 20  # names in a sentence


def resolve_target(
    target: Target, probabilities: Tensor, names: Sequence[str] | None = None
) -> tuple[Tensor, Tensor]:
    """Return the explained classes `(N,)` and the weight of each class in the loss `(N, classes)`.

    Args:
        target: the classes (one for all, or one per image), one class by name, None for the
            predicted ones, or "posterior" for the expected loss under the class probabilities of
            the whole image.
        probabilities: `(N, classes)` for the whole images.
        names: of the classes, if they are known.

    >>> resolve_target(None, torch.tensor([[0.2, 0.8]]))
    (tensor([1]), tensor([[0., 1.]]))
    """
    images, classes = probabilities.shape
    if isinstance(target, str):
        target = named_target(target, names)
    if isinstance(target, str):  # what is left is "posterior"
        return probabilities.argmax(1), probabilities
    if target is None:
        chosen = probabilities.argmax(1)
    else:
        chosen = _as_classes(target, images).to(probabilities.device)
        outside = (chosen < 0) | (chosen >= classes)
        if bool(outside.any()):
            raise SSplainError(
                f"Target {int(chosen[outside][0])} is out of range: the model has {classes} "
                f"classes, 0 to {classes - 1}."
            )
    return chosen, one_hot(chosen, classes).to(probabilities.dtype)


def named_target(text: str | None, classes: Sequence[str] | None = None) -> int | str | None:
    """Return what a word means as a target: a class by number or name, "posterior", or None.

    Args:
        text: as it was typed, or stands in a list.
        classes: the names of the classes, if they are known.

    >>> named_target("Bag", ("Shirt", "Bag")), named_target("-1"), named_target("posterior")
    (1, -1, 'posterior')
    """
    if text is None or text == "posterior":
        return text
    if re.fullmatch(r"-?[0-9]+", text):
        return int(text)  # whether there are so many classes, the model tells
    places = [at for at, name in enumerate(classes or ()) if name == text]
    if len(places) > 1:  # as two of ImageNet's are
        raise SSplainError(
            f"Several classes are called {text!r}: {', '.join(map(str, places))}; give the number."
        )
    if places:
        return places[0]
    known = f"one of {_some(classes)}, " if classes else ""
    nameless = (
        ""
        if classes
        else ", since the names of this model's classes are not known (the model's attribute "
        "`classes` tells them, or --classes)"
    )
    raise SSplainError(
        f"There is no class {text!r}; give {known}a number from 0 on, or 'posterior'{nameless}."
    )


def _some(names: Sequence[str]) -> str:
    """Return names for a sentence, of many the first."""
    shown = ", ".join(names[:SHOWN])
    return shown if len(names) <= SHOWN else f"{shown}, ... ({len(names)} names)"


def _as_classes(target: int | Sequence[int] | Tensor, images: int) -> Tensor:
    try:
        given = torch.as_tensor(target)
    except (TypeError, ValueError, RuntimeError) as error:
        raise SSplainError(f"Target {target!r} is not a whole number or a list of them.") from error
    if given.is_floating_point() or given.is_complex() or given.dtype == torch.bool:
        raise SSplainError(f"The target is {given.dtype}; give whole numbers, the class indices.")
    flat = given.detach().flatten().long()
    if given.dim() == 0:
        return flat.expand(images)
    if len(flat) != images:
        raise SSplainError(
            f"There are {len(flat)} targets for {images} images; give one for each, or a single "
            "number for all."
        )
    return flat
