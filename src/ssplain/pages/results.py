"""Explained images as one HTML file: no server, no network; slider and switch work from disk.

For each map and pixel one byte says at which of the slider's positions the pixel comes in (see
`ssplain.pages.examples`), counted among the pixels that the map is about. Only those pixels are
stored, so a page of sparse images is small; where a page would still be too large, pictures and
maps are made coarser until it is not.
"""

import base64
import csv
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO, StringIO
from typing import Any

import numpy as np
import torch
from matplotlib import colormaps
from numpy.typing import NDArray
from PIL import Image

from ssplain.metrics import rank_pixels
from ssplain.pages.examples import SHARES, embedded
from ssplain.pages.page import asset, data_url, document, render
from ssplain.report.render import Picture

MOST_BYTES = 150_000  # of the page for each image, so that 20 images take 3 MB
FEWEST = 20  # images that a page has room for in any case
FIRST = SHARES.index(0.25)
_WIDEST = (720, 480, 320, 240, 160)  # px of a picture's longer side, tried in turn
NOTICE = (
    "It shows what a model's decision rests on, not what a patient has. A research tool, not a "
    "medical device."
)


@dataclass(frozen=True, eq=False)
class Explained:
    """One image of the page.

    Attributes:
        title: what it is called.
        picture: `(H, W)` or `(H, W, 3)` bytes.
        inside: `(H, W)`: the pixels that maps are about.
        maps: by the explainer's title, scores `(H, W)` of which only the order counts.
        facts: what else is known of it, by name.
        warnings: sentences to be kept in mind, such as why not to rely on a map.
    """

    title: str
    picture: Picture
    inside: NDArray[np.bool_]
    maps: Mapping[str, NDArray[np.floating[Any]]]
    facts: Mapping[str, str]
    warnings: tuple[str, ...] = ()


def results_page(
    title: str, images: Sequence[Explained], note: str = "", most: int | None = None
) -> str:
    """Return explained images as one HTML page that needs nothing else.

    Args:
        title: of the page.
        images: what to show.
        note: a sentence or two about all of them.
        most: bytes that the page may have; None for 3 MB for 20 images, and more for more.

    >>> image = np.zeros((8, 8), np.uint8)
    >>> image[2, :] = 200
    >>> one = Explained("a.png", image, image > 0, {"SSplain-0": np.eye(8)}, {"class": "7"})
    >>> "a.png" in results_page("Digits", [one])
    True
    """
    limit = MOST_BYTES * max(FEWEST, len(images)) if most is None else most
    for widest in _WIDEST:
        page = _page(title, images, note, widest)
        if len(page.encode()) <= limit:
            break
    return page


def entries(scores: NDArray[np.floating[Any]], inside: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Return for each pixel inside, row by row, the first share at which it is among the top ones.

    A share has `round(share * n)` of the n pixels inside.

    >>> inside = np.array([[True, False, True, True]])
    >>> [SHARES[at] for at in entries(np.array([[0.1, 9.0, 0.7, 0.5]]), inside)]
    [0.84, 0.1675, 0.5]
    """
    order = rank_pixels(
        torch.from_numpy(np.ascontiguousarray(scores, np.float64))[None, None],
        torch.from_numpy(np.ascontiguousarray(inside))[None, None],
    )
    rank = order.rank.numpy().reshape(inside.shape)[inside]
    counts = [round(share * int(inside.sum())) for share in SHARES]
    return np.searchsorted(counts, rank, side="right").astype(np.uint8)


def chance(p: float) -> str:
    """Return a probability as people read it, never a bare 0 or 100 %.

    >>> chance(0.98765), chance(1.0), chance(1e-9)
    ('98.8 %', '> 99.9 %', '< 0.1 %')
    """
    if p > 0.999:
        return "> 99.9 %"
    return "< 0.1 %" if p < 0.001 else f"{100 * p:.1f} %"


def _page(title: str, images: Sequence[Explained], note: str, widest: int) -> str:
    names = list(dict.fromkeys(name for one in images for name in one.maps))
    ramp = colormaps["inferno"](np.linspace(0.95, 0.25, len(SHARES)))[:, :3]
    body = render(
        "results.html",
        note=note,
        notice=NOTICE,
        names=names,
        images=[_shown(one, widest) for one in images],
        last=len(SHARES) - 1,
        first=FIRST,
        table=data_url(_table(images), "text/csv"),
        shared=embedded({"shares": SHARES, "colours": (ramp * 255).astype(int).tolist()}),
    )
    return document(title, body, style=asset("results.css"), script=asset("results.js"))


def _shown(one: Explained, widest: int) -> dict[str, Any]:
    height, width = one.inside.shape
    step = -(-max(height, width) // widest)  # maps are made coarser by whole pixels
    inside = _coarse(one.inside.astype(np.float64), step) > 0
    run = [np.packbits(inside.ravel(), bitorder="little")]
    for scores in one.maps.values():
        lowest = float(scores[one.inside].min()) if one.inside.any() else 0.0
        high = _coarse(np.where(one.inside, scores - lowest, 0.0), step)
        run.append(entries(high, inside))
    packed = zlib.compress(np.concatenate(run).tobytes(), 9)
    small = _picture(one.picture, widest)
    return {
        "title": one.title,
        "facts": one.facts,
        "warnings": one.warnings,
        "picture": small,
        "width": width,
        "height": height,
        "crisp": max(height, width) <= 64,
        "data": embedded(
            {
                "height": inside.shape[0],
                "width": inside.shape[1],
                "inside": int(inside.sum()),
                "maps": list(one.maps),
                "run": base64.b64encode(packed).decode(),
            }
        ),
    }


def _coarse(plane: NDArray[np.float64], step: int) -> NDArray[np.float64]:
    """Return the highest value of each square of `step` pixels; what lies beyond the edge is 0.

    >>> _coarse(np.array([[1.0, 2.0, 3.0]]), 2)
    array([[2., 3.]])
    """
    if step == 1:
        return plane
    height, width = (-(-size // step) * step for size in plane.shape)
    whole = np.zeros((height, width))
    whole[: plane.shape[0], : plane.shape[1]] = plane
    squares = whole.reshape(height // step, step, width // step, step)
    found: NDArray[np.float64] = squares.max((1, 3))
    return found


def _picture(picture: Picture, widest: int) -> str:
    """Return a picture as an address: lines as PNG, photographs as JPEG."""
    image = Image.fromarray(picture)
    if max(image.size) > widest:
        image.thumbnail((widest, widest))
    buffer = BytesIO()
    if picture.ndim == 3:
        image.save(buffer, "JPEG", quality=82, optimize=True)
        return data_url(buffer.getvalue(), "image/jpeg")
    image.save(buffer, "PNG", optimize=True)
    return data_url(buffer.getvalue(), "image/png")


def _table(images: Sequence[Explained]) -> bytes:
    columns = list(dict.fromkeys(name for one in images for name in one.facts))
    text = StringIO(newline="")
    writer = csv.DictWriter(text, ["image", *columns, "warnings"])
    writer.writeheader()
    for one in images:
        # a text that a spreadsheet would take for a formula is kept a text
        cells = {"image": one.title, **one.facts, "warnings": " ".join(one.warnings)}
        writer.writerow({k: f"'{v}" if v[:1] in "=+-@\t\r" and v else v for k, v in cells.items()})
    return text.getvalue().encode()
