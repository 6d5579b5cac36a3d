"""ROC curves of a classifier, each class against the rest."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from matplotlib import colormaps

from ssplain.report.empty import empty_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    # it brings scikit-learn, which no other picture needs
    from ssplain.train.rop import Performance


def roc_figure(performance: "Performance", classes: Sequence[str]) -> "Figure":
    """Draw one curve per class, with the area under it in the legend.

    >>> import torch
    >>> from ssplain.train.rop import judge
    >>> images = torch.eye(3).reshape(3, 1, 1, 3)
    >>> performance = judge(torch.nn.Flatten(), images, torch.arange(3))
    >>> len(roc_figure(performance, ["a", "b", "c"]).axes[0].lines)
    4
    """
    drawing = empty_figure(4.2, 4)
    axes = drawing.subplots()
    axes.plot([0, 1], [0, 1], color="0.7", linewidth=1, linestyle=":")
    colours = colormaps["viridis"]
    styles = ("-", "--", "-.")
    for i, (name, (false, true), area) in enumerate(
        zip(classes, performance.roc, performance.auc, strict=True)
    ):
        axes.plot(
            false,
            true,
            color=colours(i / max(1, len(classes) - 1) * 0.8),
            linestyle=styles[i % len(styles)],
            label=f"{name}, area {area:.3f}",
        )
    axes.set(xlabel="false positive rate", ylabel="true positive rate", aspect="equal")
    axes.legend(loc="lower right", frameon=False)
    return drawing
