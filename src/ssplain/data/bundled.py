"""The images that come with the package, so that demos and tests need no other data."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch

from ssplain.data.idx import CLASSES
from ssplain.data.rop_truth import bundled_truth
from ssplain.register import Register

ASSETS = Path(__file__).parents[1] / "assets"

Labelled = tuple[torch.Tensor, torch.Tensor]


@dataclass(frozen=True)
class DataSet:
    """Images with labels that are known by a name.

    One of your own, given to `ssplain.data.DATASETS.add` or announced under the entry point group
    `ssplain.datasets`, can be evaluated like those that come with the package.

    Attributes:
        name: on the command line.
        load: returns images `(N, C, H, W)` and labels `(N,)`.
        classes: the name of each class; those of the model if empty.
        model: what is explained on it unless told otherwise.
        truth: returns the diseased pixels `(N, 1, H, W)`, where they are known.
        vessels: whether the images show vessels on black, which can be traced.
    """

    name: str
    load: Callable[[], Labelled]
    classes: tuple[str, ...] = ()
    model: str = ""
    truth: Callable[[], torch.Tensor] | None = None
    vessels: bool = False


def _read(file: str) -> Labelled:
    """Read uint8 `images` (N, H, W) and `labels` (N,) from the assets."""
    with np.load(ASSETS / file, allow_pickle=False) as stored:
        images, labels = stored["images"], stored["labels"]
    return (
        torch.from_numpy(images.astype(np.float32) / 255).unsqueeze(1),
        torch.from_numpy(labels.astype(np.int64)),
    )


DATASETS: Register[DataSet] = Register(
    "bundled data set",
    "ssplain.datasets",
    DataSet,
    (
        DataSet("mnist", partial(_read, "mnist.npz"), CLASSES["mnist"], "lenet5-mnist"),
        DataSet("fmnist", partial(_read, "fmnist.npz"), CLASSES["fmnist"], "lenet5-fmnist"),
        DataSet(
            "rop",
            partial(_read, "rop/images.npz"),
            model="googlenet-rop",
            truth=lambda: bundled_truth("rop").relevance,
            vessels=True,
        ),
    ),
)


def bundled(name: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the images and labels of a data set that the package carries.

    Args:
        name: "mnist" or "fmnist": the first 500 images of the test set; "rop": 100 simulated
            segmented fundus images, whose truth `bundled_truth` tells; or one that was added to
            `DATASETS`.

    Returns:
        Images (N, 1, H, W) in [0, 1] as 32-bit floats, and labels (N,) as 64-bit integers.

    Raises:
        SSplainError: If there is no such data set.

    Example:
        >>> images, labels = bundled("mnist")
        >>> images.shape, images.dtype, labels[:5].tolist()
        (torch.Size([500, 1, 28, 28]), torch.float32, [7, 2, 1, 0, 4])
    """
    return DATASETS.find(name).load()
