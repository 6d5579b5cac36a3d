"""Explains two digits and two garments and draws them in one picture.

python examples/first_look.py [FILE]
"""

import sys
from pathlib import Path

import numpy as np

import ssplain
from ssplain import report

CHOSEN = {"mnist": (1, 4), "fmnist": (0, 4)}


def strip(dataset: str, index: int) -> np.ndarray:
    """Return image, scores, mask and top 5 % of one image side by side."""
    model = ssplain.models.load(f"lenet5-{dataset}")
    images, labels = ssplain.data.bundled(dataset)
    explainer = ssplain.SSplain(model, **ssplain.preset(dataset))
    result = explainer.explain(images[index], labels[index : index + 1])
    image = result.images[0]
    views = (
        report.grey(image),
        report.heat(result.scores[0], result.support[0]),
        report.mask_view(image, result.mask[0]),
        report.top_view(image, result.top(0.05)[0]),
    )
    gap = np.full((28, 1, 3), 255, np.uint8)
    return np.concatenate([part for view in views for part in (view, gap)][:-1], axis=1)


def main(path: Path) -> None:
    """Draw all chosen images below one another, two in a row."""
    strips = [strip(dataset, i) for dataset, chosen in CHOSEN.items() for i in chosen]
    between = np.full((28, 4, 3), 255, np.uint8)
    rows = [np.concatenate([strips[i], between, strips[i + 2]], axis=1) for i in (0, 1)]
    line = np.full((1, rows[0].shape[1], 3), 255, np.uint8)
    report.write_png(report.enlarge(np.concatenate([rows[0], line, rows[1]]), 228), path)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("docs/images/first-look.png"))
