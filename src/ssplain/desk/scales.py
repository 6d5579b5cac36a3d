"""On which scale a model is asked: an eye that was read is graded here as in its reading.

A model that is asked about such eyes is another model to the room, with a name of its own.
"""

from collections.abc import Mapping

from ssplain.desk.subject import Subject
from ssplain.models.calibrated import Kind

_ENDINGS: Mapping[Kind, str] = {
    "photograph": " on photographs",
    "segmented": " on segmented eyes",
}


def asked(source: str, subject: Subject) -> str:
    """Return a model's name as it is asked about an image.

    >>> import torch
    >>> asked("googlenet-rop", Subject.plain(torch.ones(1, 2, 2)))
    'googlenet-rop'
    """
    return source if subject.eye is None else source + _ENDINGS[subject.eye]


def parted(source: str) -> tuple[str, Kind | None]:
    """Return the model's own name, and the kind of eyes on whose scale it is asked.

    >>> parted("googlenet-rop on photographs"), parted("googlenet-rop")
    (('googlenet-rop', 'photograph'), ('googlenet-rop', None))
    """
    for kind, ending in _ENDINGS.items():
        if source.endswith(ending):
            return source.removesuffix(ending), kind
    return source, None
