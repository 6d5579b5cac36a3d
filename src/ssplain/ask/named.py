"""The names of a model's classes: what the model says of them, and what others may."""

import re
from collections.abc import Mapping, Sequence

from torch import nn

from ssplain.errors import SSplainError

_SPREAD = (nn.DataParallel, nn.parallel.DistributedDataParallel)
_NAMELESS = re.compile(r"LABEL_[0-9]+")  # what Hugging Face calls classes without names


def told_classes(model: object) -> tuple[str, ...] | None:
    """Return the names of its classes that a model tells, in the order of its outputs, or None.

    They are its attribute `classes`, a sequence of words, or the `config.id2label` of Hugging
    Face's models. The same names may stand there twice, as some of ImageNet's do.

    >>> class Net:
    ...     classes = ("cat", "dog")
    >>> told_classes(Net()), told_classes(len)
    (('cat', 'dog'), None)
    """
    if isinstance(model, _SPREAD):
        model = model.module
    model = getattr(model, "_orig_mod", model)  # of a compiled one
    told = getattr(model, "classes", None)
    if told is None:
        told = _in_order(getattr(getattr(model, "config", None), "id2label", None))
    if isinstance(told, str) or not isinstance(told, Sequence) or not told:
        return None
    if not all(isinstance(name, str) for name in told):
        return None  # a model may call anything its classes
    names = tuple(told)
    return None if all(_NAMELESS.fullmatch(name) for name in names) else names


def given_classes(names: Sequence[str]) -> tuple[str, ...]:
    """Return names that somebody gives to a model's classes, refusing those that would mislead.

    >>> given_classes(["cat", "dog"])
    ('cat', 'dog')
    """
    for at, name in enumerate(names):
        if not name.strip():
            raise SSplainError(
                f"Class {at} has no name among those given; give one for each class."
            )
        if name in names[:at]:
            raise SSplainError(
                f"Two classes are called {name!r}; give each a name of its own, or tell them "
                "apart by their numbers."
            )
        if name == "posterior" or (re.fullmatch(r"-?[0-9]+", name) and name != str(at)):
            raise SSplainError(
                f"Class {at} cannot be called {name!r}, which means something else as a target; "
                "give it another name."
            )
    return tuple(names)


def require_as_many(names: Sequence[str] | None, classes: int) -> None:
    """Complain of more or fewer names than the model has classes.

    >>> require_as_many(("cat", "dog"), 3)
    Traceback (most recent call last):
        ...
    ssplain.errors.SSplainError: There are 2 names for the model's 3 classes; give one name for each
    class, in the order of the model's outputs (`--classes`, or the model's attribute `classes`).
    """
    if names is not None and len(names) != classes:
        raise SSplainError(
            f"There are {len(names)} names for the model's {classes} classes; give one name for "
            "each class, in the order of the model's outputs (`--classes`, or the model's "
            "attribute `classes`)."
        )


def _in_order(labels: object) -> list[object] | None:
    """Return names by number as a list, if there is one for each number from 0."""
    if not isinstance(labels, Mapping):
        return None
    numbered = {str(number): name for number, name in labels.items()}
    wanted = [str(number) for number in range(len(numbered))]
    return [numbered[n] for n in wanted] if numbered.keys() == set(wanted) else None
