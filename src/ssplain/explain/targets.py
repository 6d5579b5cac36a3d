"""Which class is explained."""

import re
from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from ssplain.errors import SSplainError

Target = int | Sequence[int] | Tensor | Literal["posterior"] | None


def resolve_target(target: Target, probabilities: Tensor) -> tuple[Tensor, Tensor]:
    """Return the explained classes `(N,)` and the weight of each class in the loss `(N, classes)`.

    Args:
        target: the classes (one for all, or one per image), None for the predicted ones, or
            "posterior" for the expected loss under the class probabilities of the whole image.
        probabilities: `(N, classes)` for the whole images.

    >>> resolve_target(None, torch.tensor([[0.2, 0.8]]))
    (tensor([1]), tensor([[0., 1.]]))
    """
    images, classes = probabilities.shape
    if isinstance(target, str):
        if target != "posterior":
            raise SSplainError(
                f"target={target!r} is not known; give classes, None for the predicted ones, or "
                "'posterior'."
            )
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
    if classes and text in classes:
        return list(classes).index(text)
    known = f"one of {', '.join(classes)}, " if classes else ""
    nameless = "" if classes else ", since the names of this model's classes are not known"
    raise SSplainError(
        f"There is no class {text!r}; give {known}a number from 0 on, or 'posterior'{nameless}."
    )


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
