"""Digits
======

Which strokes make a digit what it is: the paper's settings for MNIST.
"""

import ssplain
from ssplain import SSplain, preset

model = ssplain.models.load("lenet5-mnist")
images, labels = (values[:4] for values in ssplain.data.bundled("mnist"))
result = SSplain(model, **preset("mnist")).explain(images, labels)
figure = ssplain.report.figure(result)

# %%
# The model's probability with the kept pixels alone, and without them.
kept = ssplain.metrics.kept_and_removed(model, result)
for i in range(len(result)):
    print(f"{int(labels[i])}: {float(kept.only[i]):.2f} with, {float(kept.without[i]):.2f} without")
