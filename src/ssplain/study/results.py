"""The numbers of a study, image by image, as a file: the ledger is computed from these alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
import torch

from ssplain.files import write_whole
from ssplain.metrics import Evaluation

VALUES = "values.npz"
_BETWEEN = "|"


@dataclass(frozen=True, eq=False)
class Results:
    """What a study found.

    Attributes:
        study: its name.
        images: how many.
        found: by axis and title of the explainer: what was measured. Other groups than axes are
            "maps" (of the maps alone), "stages" (of the sanity check) and "times".
    """

    study: str
    images: int
    found: Mapping[str, Mapping[str, Evaluation]]


def write_results(folder: Path, results: Results) -> None:
    """Write the values of each image (not the curves, which the tables hold).

    >>> import tempfile
    >>> one = Evaluation({"gini": torch.ones(2)}, {}, torch.zeros(0), torch.zeros(2))
    >>> with tempfile.TemporaryDirectory() as home:
    ...     write_results(Path(home), Results("mnist", 2, {"all": {"Saliency": one}}))
    ...     read_results(Path(home), "mnist").found["all"]["Saliency"].values
    {'gini': tensor([1., 1.])}
    """
    arrays = {"images": np.array(results.images)}
    for group, by_title in results.found.items():
        for title, found in by_title.items():
            arrays[_BETWEEN.join((group, title, "labels"))] = found.labels.numpy()
            for measure, values in found.values.items():
                key = _BETWEEN.join((group, title, "value", measure))
                arrays[key] = values.numpy().astype(np.float32)
    content = BytesIO()
    np.savez_compressed(content, **arrays)  # type: ignore[arg-type]  # any name is a keyword
    write_whole(folder / VALUES, content.getvalue())


def read_results(folder: Path, study: str) -> Results:
    """Read what `write_results` wrote."""
    with np.load(folder / VALUES, allow_pickle=False) as stored:
        arrays = dict(stored)
    count = int(arrays.pop("images"))
    values: dict[tuple[str, str], dict[str, torch.Tensor]] = {}
    labels: dict[tuple[str, str], torch.Tensor] = {}
    for key, array in arrays.items():
        group, title, *rest = key.split(_BETWEEN)
        if rest == ["labels"]:
            labels[group, title] = torch.from_numpy(array)
        else:
            values.setdefault((group, title), {})[rest[1]] = torch.from_numpy(array)
    found: dict[str, dict[str, Evaluation]] = {}
    for (group, title), own in labels.items():
        one = Evaluation(values.get((group, title), {}), {}, torch.zeros(0), own)
        found.setdefault(group, {})[title] = one
    return Results(study, count, found)
