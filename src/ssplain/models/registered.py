"""Models that other packages bring, known by a name."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import nn

from ssplain.register import Register


@dataclass(frozen=True)
class RegisteredModel:
    """A model that `ssplain.models.load` builds by its name.

    Attributes:
        name: as in `load` and on the command line.
        build: returns the model, trained.
        classes: the name of each class.
    """

    name: str
    build: Callable[[], nn.Module]
    classes: tuple[str, ...] = ()


MODELS: Register[RegisteredModel] = Register("model", "ssplain.models", RegisteredModel)
