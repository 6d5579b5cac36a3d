"""Strokes drawn by hand beside a vessel, drawn to the vessel."""

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from skimage.morphology import skeletonize

Mask = NDArray[np.bool_]
_AROUND = ((0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1), (1, 0), (1, 1))


def snapped(strokes: Mask, dark: NDArray[np.floating], reach: int = 2) -> Mask:
    """Thin strokes to lines that run where the photograph is darkest, not along their middle.

    Pixels are taken from the band of a stroke, the brightest first, as long as that changes
    neither the number of its parts nor of its holes (simple points); ends stay in place.

    Args:
        strokes: (H, W) what was drawn.
        dark: (H, W) how dark a line goes through each pixel.
        reach: pixels beside a stroke in which its vessel may lie.

    Returns:
        (H, W) lines one pixel wide.

    Example:
        >>> strokes = np.zeros((20, 40), bool)
        >>> strokes[6:13, 3:37] = True
        >>> dark = np.zeros((20, 40))
        >>> dark[12] = 1
        >>> np.nonzero(snapped(strokes, dark)[:, 20])[0]
        array([12])
    """
    band = np.pad(ndimage.binary_dilation(strokes, iterations=reach), 1)
    depth = np.pad(ndimage.gaussian_filter(dark, 1.5), 1)
    keep = np.pad(_ends(skeletonize(strokes)), 1)  # type: ignore[no-untyped-call]
    width = band.shape[1]
    flat, fixed = band.ravel(), keep.ravel()
    steps = [row * width + column for row, column in _AROUND]
    simple = _simple_points()
    left = np.flatnonzero(flat & ~fixed)
    # as bright as each other, the outermost go first
    inwards = ndimage.distance_transform_edt(band).ravel()
    left = left[np.lexsort((inwards[left], depth.ravel()[left]))]
    pixels: list[bool] = flat.tolist()
    while True:
        kept = []
        for pixel in left.tolist():
            code = sum(1 << bit for bit, step in enumerate(steps) if pixels[pixel + step])
            if simple[code]:
                pixels[pixel] = False
            else:
                kept.append(pixel)
        if len(kept) == len(left):
            break
        left = np.array(kept, np.intp)
    return np.array(pixels).reshape(band.shape)[1:-1, 1:-1]


def _ends(line: Mask) -> Mask:
    neighbours = ndimage.convolve(line.astype(np.uint8), np.ones((3, 3), np.uint8), mode="constant")
    ends: Mask = line & (neighbours <= 2)
    return ends


def _simple_points() -> list[bool]:
    """Of each of the 256 neighbourhoods, whether its middle can go: Yokoi's number is 1."""
    codes = np.arange(256)
    empty = [1 - (codes >> bit & 1) for bit in range(8)]
    number = sum(empty[i] - empty[i] * empty[i + 1] * empty[(i + 2) % 8] for i in (0, 2, 4, 6))
    simple: list[bool] = (np.asarray(number) == 1).tolist()
    return simple
