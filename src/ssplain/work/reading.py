"""The task of `ssplain read`: each eye from its photograph to an explained grade."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from typing import Any, ClassVar

import torch

from ssplain.data import read_any
from ssplain.data.readers import eye_of
from ssplain.models import card
from ssplain.pages.reading import reading_files
from ssplain.reading.eye import EXPLAINER, Reader
from ssplain.reading.opinion import GRADES, read_formulas
from ssplain.reading.quadrants import Side, check_eye, settle_eye
from ssplain.reading.table import as_row
from ssplain.work.task import Item, Result


@dataclass(frozen=True)
class ReadingEyes:
    """Read eyes, one at a time.

    Attributes:
        model: the network that grades, by name or folder.
        eye: "left" or "right" if all are; the target of an input list names it for each, and a
            DICOM file may say it itself.
    """

    name: ClassVar[str] = "read"
    model: str = "googlenet-rop"
    eye: str | None = None

    def about(self) -> dict[str, Any]:
        """Return the fingerprints of the networks and the formula."""
        names = (self.model, "unet-vessels", "unet-disc")
        return {
            "weights": {name: card(name).sha256 for name in names},
            "formula": read_formulas(),
            "photographs": card(self.model).photographs,
            "segmented": card(self.model).segmented,
            "explainer": EXPLAINER,
            "eye": self.eye,
        }

    def group(self, item: Item) -> tuple[str, int]:  # noqa: ARG002 - eyes go one at a time
        """Take eyes one at a time."""
        return "", 1

    def open(self) -> "ReadingWorker":
        """Load the networks, once per process."""
        return ReadingWorker(self)


class ReadingWorker:
    """The task with its networks loaded."""

    def __init__(self, task: ReadingEyes) -> None:
        self.task, self.reader = task, Reader.of(task.model)
        check_eye(task.eye)

    def read(self, item: Item) -> torch.Tensor:
        """Read the file."""
        return read_any(item.path, item.page)

    def check(self, item: Item, value: torch.Tensor) -> None:  # noqa: ARG002 - nothing to see
        """Complain about an eye that is neither left nor right, or not the one of the file."""
        self._eye(item)

    def work(self, items: Sequence[Item], inputs: Sequence[torch.Tensor]) -> list[Result]:
        """Read eyes."""
        return [self._one(item, image) for item, image in zip(items, inputs, strict=True)]

    def _eye(self, item: Item) -> Side | None:
        return settle_eye(item.target or self.task.eye, eye_of(item.path))

    def _one(self, item: Item, image: torch.Tensor) -> Result:
        found = self.reader.read(image, eye=self._eye(item))
        return Result(
            numbers={
                "prediction": GRADES.index(found.grade),
                "probabilities": [round(p, 6) for p in found.probabilities.tolist()],
                **as_row(found),
            },
            files=partial(reading_files, found, PurePath(item.given or item.path).name),
            manifest={"model": self.task.model, "explainer": EXPLAINER, "reading": "eye"},
        )
