"""HVDROPDB: photographs of premature infants' eyes with hand-drawn vessels and optic discs.

Reference: R. Agrawal et al., HVDROPDB datasets for research in retinopathy of prematurity, Data in
Brief 2023, doi 10.1016/j.dib.2023.109839 (data: doi 10.17632/xw5xc7xrmp.3, CC BY 4.0). The files
are not part of this package; what is trained on them names them.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ssplain.data.images import read_image
from ssplain.errors import SSplainError

Camera = Literal["retcam", "neo"]
Part = Literal["train", "test"]
Drawn = Literal["vessels", "disc"]
CAMERAS: tuple[Camera, Camera] = ("retcam", "neo")

# Photographs of one infant bear neighbouring numbers, so whole runs are left out of training.
_LEFT_OUT = (*range(4, 8), *range(24, 28))

# Seen by eye: the choroid's vessels show through, and undrawn stripes are none of the retina's.
PALE = frozenset({"retcam/16", "retcam/19", "retcam/39", "retcam/27", "retcam/18", "neo/30"})

# Seen by eye: no optic disc in view.
WITHOUT_DISC = frozenset(
    f"{camera}/{number:02}"
    for camera, numbers in (
        ("retcam", (4, 10, 20, 23, 26, 32, 34, 38, 40, 41, 43, 45, 46, 50)),
        ("neo", (5, 7, 8, 12, 13, 15, 16, 18, 20, 21, 22, 25, 41, 42, 43, 45, 46, 47, 48, 50)),
    )
    for number in numbers
)


@dataclass(frozen=True)
class Eye:
    """A photograph and what was drawn on it.

    Attributes:
        name: camera and number, e.g. "retcam/07".
        photo: (H, W, 3) in [0, 1].
        mask: (H, W), where a vessel or the disc was drawn.
    """

    name: str
    photo: NDArray[np.float32]
    mask: NDArray[np.bool_]


def eyes(home: Path | None, drawn: Drawn, camera: Camera, part: Part | None = None) -> list[Eye]:
    """Read the photographs of a camera that have drawings.

    Args:
        home: the folder of the data set; by default `hvdropdb` in the folder SSPLAIN_DATA names.
        drawn: what the drawings show, "vessels" or "disc".
        camera: "retcam" or "neo".
        part: "train", "test" for the eight left out of training, or None for all.

    Raises:
        SSplainError: If the folder is not there or lacks the photographs.
    """
    home = _home(home)
    middle = "_disc" if drawn == "disc" else ""
    photos, masks = home / f"{camera}{middle}_rgb", home / f"{camera}{middle}_mask"
    pairs = list(_pairs(photos, masks))
    if not pairs:
        raise SSplainError(
            f"{photos} and {masks} hold no photograph with a drawing of the same name; give the "
            "folder of HVDROPDB (doi 10.17632/xw5xc7xrmp.3) with --data."
        )
    chosen = [
        pair
        for place, pair in enumerate(pairs)
        if part is None or (place in _LEFT_OUT) == (part == "test")
    ]
    return [
        Eye(f"{camera}/{photo.stem}", _colour(photo), _plane(mask) > 0) for photo, mask in chosen
    ]


def _home(given: Path | None) -> Path:
    home = given or Path(os.environ.get("SSPLAIN_DATA", ".")) / "hvdropdb"
    if not home.is_dir():
        raise SSplainError(
            f"There is no folder {home}; give that of HVDROPDB (doi 10.17632/xw5xc7xrmp.3) with "
            "--data."
        )
    return home


def _pairs(photos: Path, masks: Path) -> Iterator[tuple[Path, Path]]:
    for photo in sorted(photos.glob("*")) if photos.is_dir() else ():
        mask = masks / f"{photo.stem}.png"
        if mask.is_file():
            yield photo, mask


def _colour(path: Path) -> NDArray[np.float32]:
    image = read_image(path).numpy()
    return np.ascontiguousarray(np.broadcast_to(image, (3, *image.shape[1:])).transpose(1, 2, 0))


def _plane(path: Path) -> NDArray[np.float32]:
    plane: NDArray[np.float32] = read_image(path).numpy().max(axis=0)
    return plane
