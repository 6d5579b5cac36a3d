"""An eye that was read, as pictures and as one self-contained page."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from matplotlib import colormaps
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from ssplain.files import npz_bytes
from ssplain.pages.page import asset, data_url, document, render
from ssplain.reading import Reading
from ssplain.reading.table import NOTICE, as_json
from ssplain.report.render import Picture, png_bytes

ARRAYS = "reading.npz"
_WIDEST = 720  # px of a picture on the page
_LINE = (255, 255, 255)


def reading_files(reading: Reading, name: str) -> dict[str, bytes]:
    """Return the files of one eye: `eye.html`, `reading.json`, `reading.npz` and two pictures.

    Args:
        reading: what was read.
        name: of the image, for the page's title.
    """
    shown = {
        "given": _given(reading),
        "vessels": vessel_picture(reading),
        "explanation": explanation_picture(reading),
    }
    numbers = as_json(reading)
    made = {
        "vessels.png": lambda: png_bytes(shown["vessels"]),
        "explanation.png": lambda: png_bytes(shown["explanation"]),
        "reading.json": lambda: json.dumps(numbers, indent=1, allow_nan=False).encode(),
        ARRAYS: lambda: npz_bytes(arrays(reading)),
        "eye.html": lambda: _page(shown, numbers, name).encode(),
    }
    with ThreadPoolExecutor(2) as packers:  # zlib works without the interpreter's lock
        packed = [packers.submit(make) for make in made.values()]
        return dict(zip(made, (one.result() for one in packed), strict=True))


def arrays(reading: Reading) -> dict[str, NDArray[Any]]:
    """Return the arrays of one eye, as `reading.npz` holds them.

    `picture` is what was given and `vessels` what was found in it, as bytes; `relevance` is the
    explanation's mask laid on the picture. `network_picture`, `scores` and `mask` are of the
    network's size; `frame` holds top, left and side of its square on the picture, and its size.
    """
    frame, explanation = reading.frame, reading.explanation
    return {
        "picture": _bytes(reading.picture),
        "vessels": vessel_bytes(reading.vessels),
        "relevance": reading.relevance.astype(np.float16),
        "network_picture": explanation.images[0, 0].numpy(),
        "scores": explanation.scores[0, 0].numpy(),
        "mask": explanation.mask[0, 0].numpy(),
        "frame": np.array([frame.top, frame.left, frame.side, frame.size]),
    }


def vessel_bytes(vessels: NDArray[np.floating]) -> Picture:
    """Vessels as bytes; the faintest is still told from no vessel.

    >>> vessel_bytes(np.array([0.0, 1e-4, 1.0])).tolist()
    [0, 1, 255]
    """
    return np.where(vessels > 0, np.maximum(_bytes(vessels), 1), 0).astype(np.uint8)


def vessel_picture(reading: Reading) -> Picture:
    """Return the vessels that were found, with the disc and the lines that part the quadrants."""
    grey = np.repeat(_bytes(reading.vessels)[..., None], 3, axis=2)
    return _lines(grey, reading)


def explanation_picture(reading: Reading) -> Picture:
    """Return the picture dimmed, with the explanation over it, stronger where more rests on it."""
    under = _given(reading).astype(np.float64) / 255 * 0.55
    top = float(reading.relevance.max()) or 1.0
    strength = np.sqrt(reading.relevance / top)[..., None]
    colours = colormaps["inferno"](0.45 + 0.5 * strength[..., 0])[..., :3]
    return _lines(_bytes(under * (1 - strength) + colours * strength), reading)


def _page(shown: dict[str, Picture], numbers: dict[str, Any], name: str) -> str:
    """One page that needs no network: grade, pictures, quadrants, how firm it is."""
    body = render(
        "reading.html",
        notice=NOTICE,
        pictures={key: data_url(png_bytes(_small(p)), "image/png") for key, p in shown.items()},
        reading=numbers,
        number=_number,
        percent=_percent,
    )
    return document(f"{name}: {numbers['grade']}", body, style=asset("reading.css"))


def _given(reading: Reading) -> Picture:
    shown = _bytes(reading.picture)
    return np.repeat(shown[..., None], 3, axis=2) if shown.ndim == 2 else shown


def _lines(picture: Picture, reading: Reading) -> Picture:
    """Draw the disc and the lines that part the quadrants."""
    image = Image.fromarray(picture)
    pen = ImageDraw.Draw(image)
    (row, column), (height, width) = reading.centre, picture.shape[:2]
    dash = max(4, width // 80)
    for at in range(0, width, 2 * dash):
        pen.line([(at, row), (at + dash, row)], fill=_LINE)
    for at in range(0, height, 2 * dash):
        pen.line([(column, at), (column, at + dash)], fill=_LINE)
    if reading.disc is not None:
        y, x, radius = reading.disc
        pen.ellipse([x - radius, y - radius, x + radius, y + radius], outline=(120, 220, 255))
    drawn: Picture = np.asarray(image)
    return drawn


def _small(picture: Picture) -> Picture:
    image = Image.fromarray(picture)
    image.thumbnail((_WIDEST, _WIDEST))
    small: Picture = np.asarray(image)
    return small


def _bytes(values: NDArray[np.floating]) -> Picture:
    shown: Picture = np.rint(255 * np.clip(values, 0, 1)).astype(np.uint8)
    return shown


def _number(value: float | None, digits: int = 1) -> str:
    """Return a number for the page, or a dash.

    >>> _number(1.234, 2), _number(None)
    ('1.23', '-')
    """
    return "-" if value is None else f"{value:.{digits}f}"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.0%}"
