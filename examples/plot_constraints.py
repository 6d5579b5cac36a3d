"""What each constraint does
=========================

The same garment under one constraint after the other: support, sparsity, box, smoothness.
"""

import matplotlib.pyplot as plt

import ssplain
from ssplain import SSplain

model = ssplain.models.load("lenet5-fmnist")
images, labels = ssplain.data.bundled("fmnist")
which = int((labels == 5).nonzero()[0])  # a sandal
image, label = images[which : which + 1], labels[which : which + 1]
paper = ssplain.preset("fmnist")

# %%
# From left to right a constraint is added to those before: the mask lives on the pixels of the
# object (S0), holds at most a quarter of them (S1), with values from 0 to 1 (S2), and is smooth
# (total variation). Above, the scores; below, the feasible mask.
steps = {
    "no constraint": {"support": None, "budget": 1.0, "rho": 0.0, "tv_weight": 0.0},
    "support": {"budget": 1.0, "rho": 0.0, "tv_weight": 0.0},
    "+ box": {"budget": 1.0, "tv_weight": 0.0},
    "+ sparsity": {"tv_weight": 0.0},
    "+ smoothness": {"tv_weight": 0.001},
}


def draw(choices: dict[str, dict[str, object]]) -> plt.Figure:
    """Draw scores and mask for each choice of settings, beside the image."""
    figure, axes = plt.subplots(
        2, len(choices) + 1, figsize=(2 * len(choices) + 2, 4), layout="constrained"
    )
    axes[0, 0].imshow(image[0, 0], cmap="gray")
    axes[0, 0].set_title("image")
    for column, (title, settings) in zip(axes.T[1:], choices.items(), strict=True):
        result = SSplain(model, **{**paper, **settings}).explain(image, label)
        kept = ssplain.metrics.kept_and_removed(model, result)
        column[0].imshow(result.scores[0, 0], cmap="inferno")
        column[0].set_title(title, fontsize=10)
        column[1].imshow(result.mask[0, 0], cmap="viridis", vmin=0, vmax=1)
        share = float((result.mask > 0).sum() / (image > 0).sum())
        column[1].set_title(f"{share:.0%} kept, p = {float(kept.only[0]):.2f}", fontsize=9)
    for axis in axes.flat:
        axis.axis("off")
    return figure


draw(steps)

# %%
# The budget: alpha, as a share of the support.
draw({f"budget {share:.0%}": {"budget": share} for share in (0.05, 0.1, 0.25, 0.5, 1.0)})

# %%
# The weight of total variation: scattered pixels, then strokes, then patches.
draw({f"smoothness {weight:g}": {"tv_weight": weight} for weight in (0.0, 1e-4, 1e-3, 3e-3, 1e-2)})

# %%
# The l0 ball keeps pixels whole and drops the others; the l1 ball shrinks all by the same amount.
draw({"l0": {"norm": "l0"}, "l1": {"norm": "l1"}, "l0, 100 iterations": {"iterations": 100}})
