"""Makes the bundled fundus images and their truth: `python -m ssplain.data.bundle_rop`."""

import argparse
import csv
from dataclasses import asdict
from pathlib import Path

import numpy as np

from ssplain.data.rop_truth import BRANCHES, FOLDER, IMAGES, TRUTH
from ssplain.data.simulated import SimulatedROP, in_steps

COUNT = 100


def bundle_rop(folder: Path = FOLDER, count: int = COUNT) -> None:
    """Write the first images of the test series where `bundled_truth` finds them.

    Args:
        folder: gets the images and labels, their truth per pixel, and a table of their vessels.
        count: how many images; the classes take turns.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> bundle_rop(folder, count=3)
        >>> sorted(path.name for path in folder.iterdir())
        ['branches.csv', 'images.npz', 'truth.npz']
    """
    series = SimulatedROP("test", count)
    fundi = [series.truth(i) for i in range(count)]
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        folder / IMAGES,
        images=np.stack([np.rint(255 * f.image).astype(np.uint8) for f in fundi]),
        labels=np.array([f.label for f in fundi], np.uint8),
    )
    np.savez_compressed(
        folder / TRUTH,
        relevance=np.stack([in_steps(f.relevance) for f in fundi]),
        amounts=np.array([f.amount for f in fundi], np.float32),
        branch_ids=np.stack([f.branch_ids.astype(np.int16) for f in fundi]),
        eyes=np.array([f.eye for f in fundi]),
    )
    with (folder / BRANCHES).open("w", newline="", encoding="utf-8") as file:
        names = ["image", "branch", *asdict(fundi[0].branches[0])]
        table = csv.DictWriter(file, names, lineterminator="\n")
        table.writeheader()
        for image, fundus in enumerate(fundi):
            for branch, row in enumerate(fundus.branches):
                cells = {
                    k: f"{v:.5g}" if isinstance(v, float) else v for k, v in asdict(row).items()
                }
                table.writerow({"image": image, "branch": branch, **cells})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder to write to")
    bundle_rop(parser.parse_args().out)
