"""The vessels of a fitted image for the page: a label per pixel, and numbers per branch."""

import math
from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np

from ssplain import vessels
from ssplain.desk.subject import Subject

LEAST_SIDE = 100  # smaller images have no vessels worth the name
MOST_SHARE = 0.5  # of the image; what covers more is no tree of lines


@dataclass(frozen=True, eq=False)
class Vessels:
    """Branches of an image.

    Attributes:
        labels: one 16-bit number per pixel, little endian: which branch, 0 for none.
        branches: number, width, length, tortuosity, curvature of each, and its middle.
    """

    labels: bytes
    branches: list[dict[str, Any]]


class Tracer:
    """Traces images, remembering the last ones."""

    def __init__(self, most: int = 64) -> None:
        self.most = most
        self._known: OrderedDict[str, Vessels | None] = OrderedDict()
        self._lock = Lock()

    def __call__(self, key: str, subject: Subject) -> Vessels | None:
        """Return the vessels of an image, or None if it shows none.

        Args:
            key: the same for the same image.
            subject: the image.
        """
        with self._lock:
            if key not in self._known:
                self._known[key] = trace(subject)
            while len(self._known) > self.most:
                self._known.popitem(last=False)
            self._known.move_to_end(key)
            return self._known[key]


def trace(subject: Subject) -> Vessels | None:
    """Return the vessels of an image; None if it shows no vessels.

    >>> import torch
    >>> image = torch.zeros(1, 120, 120)
    >>> image[:, 40:44, 10:110] = 1
    >>> found = trace(Subject.plain(image))
    >>> round(found.branches[0]["width"]), trace(Subject.plain(image[:, :28, :28]))
    (4, None)
    """
    if subject.vessels is not None and subject.reading is not None:
        disc = subject.reading["disc"]
        plane = subject.vessels.numpy()
        tree = vessels.trace(plane, disc=None if disc is None else tuple(disc), threshold=0.0)
    else:
        image = subject.taken
        share = float((image > 0).float().mean())
        if len(image) != 1 or min(image.shape[1:]) < LEAST_SIDE or not 0 < share <= MOST_SHARE:
            return None
        tree = vessels.trace(image)
    rows = []
    for branch in tree.branches:
        middle = branch.points[len(branch.points) // 2]
        rows.append(
            {
                "label": branch.label,
                "width": _number(branch.calibre),
                "length": _number(branch.length),
                "tortuosity": _number(branch.tortuosity),
                "arc_over_chord": _number(branch.arc_over_chord),
                "curvature": _number(branch.mean_curvature),
                "pixels": branch.pixels,
                "row": _number(middle[0]),
                "column": _number(middle[1]),
            }
        )
    return Vessels(tree.labels.astype(np.uint16).tobytes(), rows)


def _number(value: float) -> float | None:
    """Return a number that JSON can hold; None where there is none."""
    return float(value) if math.isfinite(value) else None
