"""A photograph
============

Where black is not nothing: hidden pixels show the image's mean colour.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt

import ssplain
from ssplain import SSplain, preset
from ssplain.simulate.shapes import KINDS, planted_shapes

HOME = Path(ssplain.__file__).parents[2] / "examples"
sys.path.append(str(HOME))  # where shapenet.py is

net = ssplain.models.load(HOME / "data" / "shapes.safetensors", "shapenet:build")
model = ssplain.models.Normalised(net, mean=0.5, std=0.25)
drawn = planted_shapes(4, size=32, seed=11)
result = SSplain(model, **preset("photograph")).explain(drawn.images, drawn.labels)

figure, axes = plt.subplots(3, 4, figsize=(8, 6), layout="constrained")
for i, column in enumerate(axes.T):
    column[0].imshow(drawn.images[i].permute(1, 2, 0))
    column[0].set_title(KINDS[int(drawn.labels[i])])
    column[1].imshow(result.scores[i, 0], cmap="magma")
    column[2].imshow(drawn.truth[i, 0], cmap="gray")
    for axis in column:
        axis.axis("off")
