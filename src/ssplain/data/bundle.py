"""Makes the bundled images from the full sets: `python -m ssplain.data.bundle --data DIR`."""

import argparse
from pathlib import Path

import numpy as np

from ssplain.data.bundled import ASSETS
from ssplain.data.idx import FOLDERS, load

COUNT = 500


def bundle(dataset: str, folder: str | Path | None, target: Path, count: int = COUNT) -> Path:
    """Write the first test images of a set where `bundled` finds them.

    Args:
        dataset: "mnist" or "fmnist".
        folder: Where the IDX files are; see `ssplain.data.load`.
        target: The folder to write to.
        count: How many images to keep.

    Returns:
        The file written; the same input gives the same bytes.

    Raises:
        SSplainError: If the IDX files are missing or damaged.
    """
    images, labels = load(dataset, folder, split="test")
    path = target / f"{dataset}.npz"
    np.savez_compressed(
        path, images=images[:count].numpy(), labels=labels[:count].numpy().astype(np.uint8)
    )
    return path


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of the IDX files, else SSPLAIN_DATA")
    parser.add_argument("--out", type=Path, default=ASSETS, help="folder to write to")
    arguments = parser.parse_args()
    for dataset in FOLDERS:
        bundle(dataset, arguments.data, arguments.out)
