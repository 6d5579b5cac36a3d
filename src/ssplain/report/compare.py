"""The paper's comparison picture: explainers side by side, scores above, top pixels below."""

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from ssplain.errors import SSplainError
from ssplain.explain.compare import Compared
from ssplain.metrics import rank_pixels
from ssplain.report.empty import empty_figure
from ssplain.report.labels import label
from ssplain.report.render import grey, heat, top_view

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LEGEND = (
    "Above: scores from 0 (dark) to the highest of each map; "
    "below: yellow and green are bright pixels of the image, blue its background"
)


def comparison(
    images: Tensor,
    compared: Sequence[Compared],
    names: Sequence[str] | None = None,
    share: float = 0.05,
) -> "Figure":
    """Draw two rows per image: each explainer's scores, and its top pixels with the rest purple.

    Scores are shown from zero to the highest of each map, so that dark means "says nothing for the
    class" in every panel; what speaks against it is dark too. Among equal scores the top pixels are
    drawn as the measures draw them.

    Args:
        images: `(N, C, H, W)`.
        compared: what the explainers said about them; those that could not run are left out.
        names: what to write beside the images; those that cannot be drawn become numbers.
        share: the share of all pixels in the lower row.

    >>> import ssplain
    >>> from ssplain.explain.compare import compare
    >>> model = ssplain.models.load("lenet5-mnist")
    >>> images, labels = ssplain.data.bundled("mnist")
    >>> found = compare(model, images[:1], explainers=["saliency", "intensity"])
    >>> len(comparison(images[:1], list(found)).axes)
    6
    """
    shown = [(one.method.title, one.maps) for one in compared if one.maps is not None]
    if not shown:
        raise SSplainError("No explainer could be run, so there is nothing to compare.")
    rows, columns = 2 * len(images), 1 + len(shown)
    height = images.shape[-2] / images.shape[-1]
    drawing = empty_figure(1.3 * columns, 1.25 * height * rows + 0.7)
    grid = drawing.subplots(rows, columns, squeeze=False)
    everywhere = torch.ones_like(images[0, :1], dtype=torch.bool)
    for ax in grid.flat:
        ax.set_xticks([])
        ax.set_yticks([])
    for i, image in enumerate(images):
        above, below = grid[2 * i], grid[2 * i + 1]
        above[0].imshow(grey(image), interpolation="nearest")
        below[0].set_axis_off()
        below[0].text(0.98, 0.5, f"top {share:.0%}\nof the pixels", ha="right", va="center", size=8)
        if names is not None:
            room = max(8, round(18 * height))
            above[0].set_ylabel(label(names[i], f"image {i + 1}", room), size=8)
        for column, (_, maps) in enumerate(shown, start=1):
            rank = rank_pixels(maps[i : i + 1]).rank
            top = (rank < round(share * rank.numel())).view_as(maps[i])
            above[column].imshow(heat(maps[i], everywhere, low=0.0), interpolation="nearest")
            below[column].imshow(top_view(image, top), interpolation="nearest")
    for ax, title in zip(grid[0], ["image", *(title for title, _ in shown)], strict=True):
        ax.set_title(fill(title, 16), size=8)
    drawing.supxlabel(_LEGEND, size=7, wrap=True)
    return drawing
