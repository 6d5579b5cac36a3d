"""Evaluating a folder of your own
===============================

Read image files, explain them in three ways, and score the maps with intervals.
"""

import tempfile
from pathlib import Path

import torch

import ssplain
from ssplain import metrics

model = ssplain.models.load("lenet5-mnist")
images, labels = (values[:20] for values in ssplain.data.bundled("mnist"))
folder = Path(tempfile.mkdtemp())
for i, image in enumerate(images):  # your own images are there already
    ssplain.report.write_png(ssplain.report.grey(image), folder / f"{i:03}.png")

read = torch.stack([ssplain.data.read_image(path) for path in sorted(folder.glob("*.png"))])
for name in ("ssplain-0", "integrated-gradients", "intensity"):
    maps = ssplain.explain.make(name, model, dataset="mnist").attribute(read, labels)
    curves = metrics.insertion_deletion(model, read, labels, maps, axis="support")
    print(f"{name:22} insertion {curves.insertion.area:.3f}, deletion {curves.deletion.area:.3f}")
