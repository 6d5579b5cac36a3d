"""A figure of explained images, a thin layer of matplotlib over the rendered arrays."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ssplain.ask.heads import denormalise as _as_they_were
from ssplain.explain import Explanation
from ssplain.report.empty import empty_figure
from ssplain.report.labels import label
from ssplain.report.render import grey, heat, mask_view, top_view

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Statistics = float | Sequence[float]


def figure(
    result: Explanation,
    classes: Sequence[str] | None = None,
    share: float = 0.05,
    *,
    denormalise: tuple[Statistics, Statistics] | None = None,
) -> "Figure":
    """Draw image, scores, mask and the paper's view of each explained image, one row each.

    Args:
        result: what to draw; slice it first if it holds many images.
        classes: names of the classes, for the titles.
        share: the share of pixels in the last column.
        denormalise: mean and std, each one number or one per channel, if the images were normalised
            by them outside the model; they are then shown as they were.

    >>> import ssplain
    >>> model = ssplain.models.load("lenet5-mnist")
    >>> images, labels = ssplain.data.bundled("mnist")
    >>> drawing = figure(ssplain.SSplain(model).explain(images[:2], labels[:2]))
    >>> len(drawing.axes)
    8
    """
    rows = len(result)
    drawing = empty_figure(8, 2.2 * rows + 0.3)
    grid = drawing.subplots(rows, 4, squeeze=False)
    top = result.top(share)
    shown = result.images if denormalise is None else _as_they_were(result.images, *denormalise)
    titles = ("image", "scores", "mask", f"top {share:.0%} of the pixels")
    for i, axes in enumerate(grid):
        image, scores, support = shown[i], result.scores[i], result.support[i]
        pictures = (
            grey(image),
            heat(scores, support),
            mask_view(image, result.mask[i]),
            top_view(image, top[i]),
        )
        for ax, picture, title in zip(axes, pictures, titles, strict=True):
            ax.imshow(picture, interpolation="nearest")
            ax.set_xticks([])
            ax.set_yticks([])
            if i == 0:
                ax.set_title(title, fontsize=10)
        axes[0].set_ylabel(_caption(result, i, classes), fontsize=9)
    return drawing


def _caption(result: Explanation, index: int, classes: Sequence[str] | None) -> str:
    target = int(result.target[index])
    number = f"class {target}"
    name = number if classes is None else label(classes[target], number, 26)
    return f"{name}\np = {float(result.probabilities[index, target]):.2f}"
