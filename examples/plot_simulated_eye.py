"""A simulated eye
===============

Vessels with planted disease: the map beside the truth that the network never saw.
"""

import matplotlib.pyplot as plt

import ssplain
from ssplain import SSplain, preset

model = ssplain.models.load("googlenet-rop")
images, labels = ssplain.data.bundled("rop")
which = int((labels == 2).nonzero()[0])
settings = {**preset("rop"), "iterations": 5}  # the paper's 50 take a few seconds more
result = SSplain(model, **settings).explain(images[which], labels[which : which + 1])
truth = ssplain.data.bundled_truth("rop").relevance[which, 0]

figure, axes = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
shown = {"image": result.images[0, 0], "scores": result.scores[0, 0], "planted disease": truth}
for axis, (title, values) in zip(axes, shown.items(), strict=True):
    axis.imshow(values, cmap="gray" if title == "image" else "magma")
    axis.set_title(title)
    axis.axis("off")
