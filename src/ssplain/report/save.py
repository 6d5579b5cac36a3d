"""Results as files: one explained image as a folder with its pictures, and figures."""

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssplain.explain import Explanation
from ssplain.files import whole_folder, write_whole
from ssplain.report.render import enlarge, mask_view, overlay, png_bytes, top_view

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def save(result: Explanation, folder: str | Path, about: Mapping[str, Any] | None = None) -> None:
    """Write the explanation of one image with its pictures, whole or not at all.

    The folder gets `explanation.npz` and `manifest.json` (see `Explanation.save`), `overlay.png`,
    `mask.png` (what the feasible mask keeps) and `top5.png` (the paper's view: the top 5 % of
    the pixels, the rest purple). An existing folder of that name is replaced if
    it holds such a result and nothing else.

    Args:
        result: the explanation of one image; take `result[i]` of many.
        folder: where to write.
        about: further entries for the manifest.
    """
    drawn = pictures(result)
    with whole_folder(folder) as temporary:
        for name, content in drawn.items():
            write_whole(temporary / name, content)
        result.write_into(temporary, about)


def pictures(result: Explanation) -> dict[str, bytes]:
    """Return the pictures of one explained image as PNG files, by name.

    Args:
        result: the explanation of one image; take `result[i]` of many.
    """
    image, scores, support = result.images[0], result.scores[0], result.support[0]
    drawn = {
        "overlay.png": overlay(image, scores, support),
        "mask.png": mask_view(image, result.mask[0]),
        "top5.png": top_view(image, result.top(0.05)[0]),
    }
    return {name: png_bytes(enlarge(picture)) for name, picture in drawn.items()}


def write_figure(drawing: "Figure", path: Path, *, dpi: float | None = None) -> None:
    """Write a figure, whole; the suffix says in which format. The same figure gives the same SVG.

    Args:
        drawing: as made here.
        path: ending in .png, .svg or .pdf.
        dpi: dots per inch; matplotlib's own setting if None.
    """
    kind, drawn = path.suffix.lstrip("."), BytesIO()
    more: dict[str, Any] = {"metadata": {"Date": None}} if kind == "svg" else {}
    if dpi is not None:
        more["dpi"] = dpi
    drawing.savefig(drawn, format=kind, **more)
    write_whole(path, drawn.getvalue())
