"""Garments: what tells one class from another
============================================

The same image, asked about two classes.
"""

import torch

import ssplain
from ssplain import SSplain, preset

model = ssplain.models.load("lenet5-fmnist")
images, labels = ssplain.data.bundled("fmnist")
classes = ssplain.models.card("lenet5-fmnist").classes
image = images[:1].repeat(2, 1, 1, 1)
with torch.no_grad():
    first, second = model(images[:1]).topk(2).indices[0].tolist()
print("explained:", classes[first], "and", classes[second])
result = SSplain(model, **preset("fmnist")).explain(image, [first, second])
figure = ssplain.report.figure(result)
