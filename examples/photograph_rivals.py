"""How well explainers find a planted shape: the table in docs/how-to/natural-images.md.

python examples/photograph_rivals.py [--images 100] [--seed 4] [--only NAME ...]

Prints a line per explainer as soon as it is measured: average precision of its maps against the
shape's pixels, the standard error over the images, and the seconds that it took.
"""

import argparse
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import ssplain
from ssplain.explain.segments import find_segments
from ssplain.metrics import localise
from ssplain.simulate.shapes import planted_shapes

HOME = Path(__file__).parent
MEAN, STD, SIZE = 0.5, 0.25, 32


def superpixels(images: Tensor) -> Tensor:
    """Return some 40 parts of each image, numbered from 0."""
    everywhere = torch.ones_like(images[:, :1], dtype=torch.bool)
    return find_segments(images, everywhere, "superpixels") - 1


# usual settings, not searched for on such images; lengths scaled from 224 pixels to these
EXTREMAL: dict[str, Any] = {"budget": 0.2, "step": 1, "sigma": 3.0, "support": None}
ROWS: dict[str, tuple[str, dict[str, Any] | None]] = {  # None: default settings, no preset
    "SSplain, preset": ("ssplain-0", {}),
    "Occlusion, 3x3 windows": ("occlusion", {"window": 3, "stride": 1}),
    "Occlusion, 5x5 windows": ("occlusion", {"window": 5, "stride": 1}),
    "Saliency": ("saliency", {}),
    "Integrated Gradients": ("integrated-gradients", {}),
    "Guided Grad-CAM": ("guided-grad-cam", {}),
    "RISE, 7x7 cells, 1,000 masks": ("rise", {}),
    "RISE, 7x7 cells, 4,000 masks": ("rise", {"samples": 4000}),
    "Greedy regions, 40 superpixels": ("regions", {"support": None}),
    "iGOS++, 28x28 cells, blur": ("igos", {}),
    "iGOS++, 14x14 cells, blur": ("igos", {"size": 14}),
    "Extremal Perturbation, blur": ("extremal-perturbation", EXTREMAL),
    "Extremal Perturbation, fade": ("extremal-perturbation", EXTREMAL | {"perturbation": "fade"}),
    "LIME, pixels, 200 samples": ("lime", {}),
    "LIME, 40 superpixels, 1,000 samples": ("lime", {"segments": superpixels, "samples": 1000}),
    "KernelSHAP, pixels, 200 samples": ("kernel-shap", {}),
    "KernelSHAP, 40 superpixels, 1,000 samples": (
        "kernel-shap",
        {"segments": superpixels, "samples": 1000},
    ),
    "Brightness": ("intensity", {}),
    "Default settings of SSplain": ("ssplain-0", None),
}


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--images", type=int, default=100)
    parser.add_argument("--seed", type=int, default=4)
    parser.add_argument("--only", nargs="*", default=list(ROWS), help="rows that start so")
    asked = parser.parse_args()
    sys.path.append(str(HOME))  # where shapenet.py is
    net = ssplain.models.load(HOME / "data" / "shapes.safetensors", "shapenet:build")
    model = ssplain.models.Normalised(net, mean=MEAN, std=STD)
    drawn = planted_shapes(asked.images, SIZE, seed=asked.seed)
    for row, (name, settings) in ROWS.items():
        if not row.startswith(tuple(asked.only)):
            continue
        began = time.perf_counter()
        dataset = None if settings is None else "photograph"
        explainer = ssplain.explain.make(name, model, dataset=dataset, **(settings or {}))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a flat map of LIME scores as chance, as it should
            maps = explainer.attribute(drawn.images, drawn.labels)
        scored = localise(drawn.images, maps, drawn.truth, support=None)
        found = scored.observed.average_precision
        error = float(found.std()) / len(found) ** 0.5
        seconds = time.perf_counter() - began
        sys.stdout.write(f"{row:42} {float(found.mean()):.3f} +- {error:.3f}  {seconds:6.1f} s\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
