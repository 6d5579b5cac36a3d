"""What a model's classes are called, whoever says it."""

from collections.abc import Sequence
from pathlib import Path

from ssplain.ask.named import given_classes, told_classes
from ssplain.models.card import find_card
from ssplain.models.registered import MODELS


def classes_of(
    source: str | Path, model: object, given: Sequence[str] | None = None
) -> tuple[str, ...] | None:
    """Return the names of a model's classes, or None where nobody tells them.

    Args:
        source: as `load` takes it; a card has names, and a registered model may.
        model: as it is asked, with its head; see `ssplain.ask.named.told_classes`.
        given: names that go before all others.

    >>> classes_of("lenet5-fmnist", None)[8], classes_of("mynets:build", None)
    ('Bag', None)
    """
    if given is not None:
        return given_classes(given)
    told = told_classes(model)
    if told is not None:
        return told
    if str(source) in MODELS:
        return MODELS[str(source)].classes or None
    card = find_card(source)
    return None if card is None else tuple(card.classes)
