"""How well vessels and discs are found on photographs that were left out of training.

Needs HVDROPDB in the folder that SSPLAIN_DATA names. Lengths are taken at a width of 640 px.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt
from skimage.morphology import skeletonize

from ssplain.data.hvdropdb import CAMERAS, WITHOUT_DISC, Camera, Eye, eyes
from ssplain.fundus.disc import find_disc
from ssplain.fundus.photo import Pixels
from ssplain.fundus.segment import DIAMETER, segment
from ssplain.simulate.paint import Painted, grown, paint
from ssplain.train.strokes import prepare
from ssplain.train.wear import worn
from ssplain.vessels import trace

Segment = Callable[[Pixels], NDArray[np.float32]]
_TOLERANCE = 3.0  # pixels at a width of 640
_SERIES = 20261  # of painted trees; training has others


def cases() -> Iterator[dict[str, object]]:
    """Yield one case per camera and kind of truth: drawn vessels, painted vessels, drawn discs."""
    for camera in CAMERAS:
        left_out = eyes(None, "vessels", camera, "test")
        yield drawn_vessels(camera, left_out)
        yield painted_vessels(camera, left_out)
        yield drawn_discs(camera, eyes(None, "disc", camera, "test"))
        yield no_discs(camera, left_out)


def drawn_vessels(
    camera: Camera, left_out: list[Eye], find: Segment = segment
) -> dict[str, object]:
    """Compare with vessels drawn by hand, strokes of one width over the larger vessels."""
    scores = [_overlap(eye.mask, find(eye.photo)) for eye in left_out]
    found, precise, dice = np.array(scores).T
    return {
        "case": f"vessels drawn on {camera} photographs",
        "photographs": len(left_out),
        "centrelines_found": _rounded(found.mean()),
        "worst": _rounded(found.min()),
        "found_lines_that_were_drawn": _rounded(precise.mean()),
        "dice": _rounded(dice.mean()),
        "each": {eye.name: _rounded(f) for eye, f in zip(left_out, found, strict=True)},
    }


def painted_vessels(
    camera: Camera, left_out: list[Eye], find: Segment = segment
) -> dict[str, object]:
    """Compare with painted vessels, whose every width is known."""
    dice, errors, ratios = [], [], []
    for number, eye in enumerate(left_out):
        painted = painted_eye(eye, number)
        soft = find(painted.photo)
        dice.append(_dice(painted.vessels >= 0.5, soft >= 0.5))
        ratio = calibre_ratios(painted, soft)
        ratios += list(ratio)
        errors += list(np.abs(ratio - 1))
    return {
        "case": f"vessels painted on {camera} photographs",
        "photographs": len(left_out),
        "dice": _rounded(np.mean(dice)),
        "worst": _rounded(np.min(dice)),
        "branches": len(errors),
        "calibre_error_median": _rounded(np.median(errors)) if errors else None,
        "calibre_ratio_median": _rounded(np.median(ratios)) if ratios else None,
    }


def drawn_discs(
    camera: Camera,
    left_out: list[Eye],
    find: Callable[[Pixels], tuple[float, float, float] | None] = find_disc,
) -> dict[str, object]:
    """Compare with discs drawn by hand: how far the centre is off, in diameters of the disc."""
    off, sizes = [], []
    for eye in left_out:
        row, column = (float(places.mean()) for places in np.nonzero(eye.mask))
        radius = float(np.sqrt(eye.mask.sum() / np.pi))
        found = find(eye.photo)
        if found is not None:
            off.append(float(np.hypot(found[0] - row, found[1] - column)) / (2 * radius))
            sizes.append(found[2] / radius)
    right = sum(distance <= 0.25 for distance in off)
    return {
        "case": f"discs drawn on {camera} photographs",
        "photographs": len(left_out),
        "found_within_a_quarter_diameter": _rounded(right / len(left_out)),
        "found": len(off),
        "centre_off_median": _rounded(np.median(off)) if off else None,
        "radius_ratio_median": _rounded(np.median(sizes)) if sizes else None,
    }


def no_discs(
    camera: Camera,
    left_out: list[Eye],
    find: Callable[[Pixels], tuple[float, float, float] | None] = find_disc,
) -> dict[str, object]:
    """Count the discs that are found where there is none in view."""
    without = [eye for eye in left_out if eye.name in WITHOUT_DISC]
    made_up = [eye.name for eye in without if find(eye.photo) is not None]
    return {
        "case": f"{camera} photographs without a disc in view",
        "photographs": len(without),
        "made_up": made_up,
    }


def painted_eye(eye: Eye, number: int) -> Painted:
    """Paint tree number `number` of the left-out series into a photograph, then wear it."""
    rng = np.random.default_rng([_SERIES, number])
    ready = prepare(eye)
    height, width = ready.photo.shape[:2]
    disc = float(rng.uniform(0.35, 0.65) * height), float(rng.uniform(0.2, 0.8) * width)
    side = 1 if disc[1] < width / 2 else -1
    strands = grown(rng, number % 3, disc, DIAMETER / 224, side)
    painted = paint(ready.ground, strands, rng, number % 3)
    return painted


def calibre_ratios(painted: Painted, soft: NDArray[np.float32]) -> NDArray[np.float64]:
    """Measured over painted width of every branch that was found and is at least 15 px long."""
    ratios = []
    for branch in trace(soft).branches:
        rows, columns = np.rint(branch.points).astype(int).T
        true = painted.width[rows, columns]
        if branch.length >= 15 and (true > 0).mean() > 0.8:
            ratios.append(branch.calibre / float(true[true > 0].mean()))
    return np.array(ratios)


def _overlap(drawn: NDArray[np.bool_], soft: NDArray[np.float32]) -> tuple[float, float, float]:
    """Drawn centrelines found, found ones that were drawn, and the Dice overlap with strokes."""
    tolerance = _TOLERANCE * drawn.shape[1] / 640
    line: NDArray[Any] = skeletonize(drawn)  # type: ignore[no-untyped-call]
    seen: NDArray[Any] = skeletonize(soft > 0)  # type: ignore[no-untyped-call]
    if not seen.any():
        return 0.0, 0.0, 0.0
    found = float((distance_transform_edt(~seen)[line] <= tolerance).mean())
    precise = float((distance_transform_edt(~line)[seen] <= tolerance).mean())
    return found, precise, _dice(drawn, soft >= 0.5)


def _dice(a: NDArray[np.bool_], b: NDArray[np.bool_]) -> float:
    return float(2 * (a & b).sum() / max(int(a.sum() + b.sum()), 1))


def _rounded(value: Any) -> float:  # noqa: ANN401 - any number of numpy's
    return round(float(value), 3)
