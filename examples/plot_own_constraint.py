"""An own constraint
=================

A mask that equals its mirror image: one small class, known by its projection.
"""

import torch

import ssplain
from ssplain import SSplain
from ssplain.solve import Constraint


class Symmetric(Constraint):
    """Masks that equal their left-right mirror image."""

    name = "symmetric"

    def project(self, masks: torch.Tensor) -> torch.Tensor:
        """Return the nearest such mask."""
        return (masks + masks.flip(-1)) / 2


model = ssplain.models.load("lenet5-fmnist")
images, labels = (values[:2] for values in ssplain.data.bundled("fmnist"))
strict = {"rho": 1.0, "dual_step": 1.0, "inner_steps": 5, "lr": 0.02, "iterations": 15}
plain = SSplain(model, support=None, **strict).explain(images, labels)
result = SSplain(model, support=None, constraints=[Symmetric()], **strict).explain(images, labels)
for name, one in (("without", plain), ("with", result)):
    off = (one.scores - one.scores.flip(-1)).abs().mean()
    print(f"{name}: {float(off):.3f} from symmetry")
figure = ssplain.report.figure(result)
