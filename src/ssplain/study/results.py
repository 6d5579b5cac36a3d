"""The numbers of a study, image by image, as a file: the ledger is computed from these alone."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ssplain.errors import SSplainError
from ssplain.files import npz_bytes, write_whole
from ssplain.metrics import Evaluation
from ssplain.study.kinds import Variant

VALUES = "values.npz"
Found = Mapping[str, Mapping[str, Evaluation]]
_BETWEEN = "|"


class UnmeasuredError(SSplainError):
    """A study was run, but not what is asked for."""


@dataclass(frozen=True, eq=False)
class Results:
    """What a study found.

    Attributes:
        study: its name.
        images: how many.
        found: by axis and title of the explainer: what was measured. Other groups than axes are
            "maps" (of the maps alone), "stages" (of the sanity check) and "times on" a
            data set.
    """

    study: str
    images: int
    found: Found

    def of(self, variant: Variant, measure: str, group: str) -> Evaluation:
        """Return what was measured on an explainer, or say that this was not."""
        found = self.found.get(group, {}).get(variant.title)
        if found is None or measure not in found.values:
            raise UnmeasuredError(
                f"The study {self.study!r} holds no {measure!r} of {variant.title} ({group})."
            )
        return found


def write_results(folder: Path, results: Results, *, curves: bool = False) -> None:
    """Write the values of each image.

    Args:
        folder: of the study.
        results: what it found.
        curves: whether to write the curves of each image, too, so that a longer run can go on from
            here (see `ssplain.study.earlier`). They are large, and their means are in the tables.

    >>> import tempfile, torch
    >>> one = Evaluation.of_values({"gini": torch.ones(2)}, torch.zeros(2))
    >>> with tempfile.TemporaryDirectory() as home:
    ...     write_results(Path(home), Results("mnist", 2, {"all": {"Saliency": one}}))
    ...     read_results(Path(home), "mnist").found["all"]["Saliency"].values
    {'gini': tensor([1., 1.])}
    """
    arrays = {"images": np.array(results.images)}
    for group, by_title in results.found.items():
        for title, found in by_title.items():
            kept = {name: one.float() for name, one in found.curves.items()} if curves else {}
            own = replace(found, curves=kept, seconds=0.0).arrays()
            arrays |= {_BETWEEN.join((group, title, name)): array for name, array in own.items()}
    write_whole(folder / VALUES, npz_bytes(arrays))


def read_results(folder: Path, study: str) -> Results:
    """Read what `write_results` wrote."""
    with np.load(folder / VALUES, allow_pickle=False) as stored:
        arrays = dict(stored)
    count = int(arrays.pop("images"))
    parts: dict[str, dict[str, dict[str, np.ndarray]]] = {}
    for key, array in arrays.items():
        group, title, name = key.split(_BETWEEN)
        parts.setdefault(group, {}).setdefault(title, {})[name] = array
    found = {
        group: {title: Evaluation.from_arrays(own) for title, own in by_title.items()}
        for group, by_title in parts.items()
    }
    return Results(study, count, found)
