"""Example maps to play with: a slider for the top share of pixels, computed beforehand.

The slider stands on one of the `SHARES`. For each map and pixel one byte says at which of them the
pixel comes in, so each position shows exactly the pixels that a picture of that share would show.
The positions lie closer together where the share is small: that is where maps differ.
"""

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import torch
from markupsafe import Markup
from numpy.typing import NDArray

from ssplain.errors import SSplainError
from ssplain.metrics import rank_pixels
from ssplain.pages.page import render
from ssplain.report.render import heat, top_view

_Bytes = NDArray[np.uint8]
_Numbers = NDArray[np.floating[Any]]

SHARES: tuple[float, ...] = (
    *(i / 1000 for i in range(5, 100)),  # 0.5 % to 9.9 %
    *(i / 400 for i in range(40, 120)),  # 10 % to 29.75 %
    *(i / 100 for i in range(30, 101)),  # 30 % to 100 %
)
NEVER = 255  # a pixel that comes in at no share
FIRST = SHARES.index(0.05)  # the share in the paper's figures


@dataclass(frozen=True, eq=False)
class Examples:
    """Images and what explainers say about them.

    Attributes:
        images: `(n, H, W)` bytes.
        titles: n of them.
        names: E names of explainers.
        scores: `(n, E, H, W)`.
    """

    images: _Bytes
    titles: tuple[str, ...]
    names: tuple[str, ...]
    scores: _Numbers


def read_examples(path: Path) -> Examples:
    """Read example maps from an .npz file; see `ssplain.report.record.Record`."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            images, scores = stored["images"], stored["scores"]
            titles, names = (tuple(map(str, stored[key])) for key in ("titles", "names"))
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        raise SSplainError(f"{path} holds no example maps ({error}); run its study again.") from (
            error
        )
    wanted = (len(titles), len(names), *images.shape[1:])
    if images.dtype != np.uint8 or images.ndim != 3 or scores.shape != wanted or not scores.size:
        raise SSplainError(
            f"{path} holds {images.dtype} images of shape {images.shape} and scores of shape "
            f"{scores.shape} where {wanted} belongs; run its study again."
        )
    return Examples(images, titles, names, scores)


def entry(scores: _Numbers, inside: NDArray[np.bool_] | None = None) -> _Bytes:
    """Return for each pixel of a map the first of the `SHARES` at which it is among the top ones.

    The highest score comes first; the order among equal ones is that of the measures, see
    `ssplain.metrics.rank_pixels`. A share has `round(share * H * W)` pixels.

    Args:
        scores: `(H, W)`.
        inside: `(H, W)`; pixels outside come last and are never shown, as in `Explanation.top`.

    >>> [SHARES[at] for at in entry(np.array([[0.7, 0.9, 0.1]]))[0]]  # second, first, last
    [0.5, 0.1675, 0.84]
    """
    among = None if inside is None else torch.from_numpy(inside)[None, None]
    rank = rank_pixels(torch.from_numpy(scores)[None, None], among).rank.numpy()
    came = np.searchsorted(_counts(scores.size), rank, side="right").reshape(scores.shape)
    return np.where(True if inside is None else inside, came, NEVER).astype(np.uint8)


def brightness(scores: _Numbers) -> _Bytes:
    """Return scores as bytes from zero to the highest; what speaks against the class is zero.

    >>> brightness(np.array([[-3.0, 0.0, 1.0, 2.0]])).tolist()
    [[0, 0, 128, 255]]
    """
    shown = np.clip(np.nan_to_num(scores, neginf=0.0), 0.0, None)
    return np.rint(255 * shown / (shown.max() or 1.0)).astype(np.uint8)


def pack(examples: Examples) -> dict[str, Any]:
    """Return what the page's script needs, ready for JSON.

    `images` holds for each image a compressed run of bytes: the image itself, then three planes
    for each explainer: `entry` within the image's non-zero pixels, `entry` of all pixels, and
    `brightness` of the scores.
    """
    runs = []
    for image, maps in zip(examples.images, examples.scores, strict=True):
        planes = [
            plane
            for scores in maps
            for plane in (entry(scores, image > 0), entry(scores), brightness(scores))
        ]
        # not as a PNG: some browsers alter the pixels that a script reads from a picture
        run = zlib.compress(np.stack([image, *planes]).tobytes(), 9)
        runs.append(base64.b64encode(run).decode())
    height, width = examples.images.shape[1:]
    return {
        "height": height,
        "width": width,
        "counts": _counts(height * width),
        "titles": examples.titles,
        "names": examples.names,
        "images": runs,
    }


def colours() -> dict[str, list[Any]]:
    """Return what bytes look like, by those who draw the figures: 256 colours for each view.

    >>> tables = colours()
    >>> tables["purple"], tables["kept"][255], len(tables["scores"])
    ([68, 1, 84], [253, 231, 36], 256)
    """
    ramp = torch.arange(256).reshape(1, 1, 256) / 255
    everywhere = torch.ones(1, 1, 256, dtype=torch.bool)
    return {
        "kept": top_view(ramp, everywhere)[0].tolist(),
        "purple": top_view(ramp, ~everywhere)[0, 0].tolist(),
        "scores": heat(ramp, everywhere)[0].tolist(),
    }


def embedded(values: Mapping[str, Any]) -> Markup:
    r"""Return values as a script element that holds data; no text in them can end the element.

    >>> print(embedded({"title": "</script>"}), end="")
    <script type="application/json">{"title":"\u003c/script>"}</script>
    """
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return Markup(f'<script type="application/json">{text}</script>\n')  # noqa: S704 - no "<" in it


def viewer(examples: Examples) -> Markup:
    """Return the slider, the choice of image and view, and the maps, as HTML.

    Everything in it works from the keyboard; without JavaScript it is not shown.
    """
    data = embedded(pack(examples))
    return render("viewer.html", last=len(SHARES) - 1, first=FIRST, data=data)


def _counts(pixels: int) -> list[int]:
    """Return how many pixels each of the shares is."""
    return [round(share * pixels) for share in SHARES]
