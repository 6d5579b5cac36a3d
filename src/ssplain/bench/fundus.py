"""How well vessels and discs are found on photographs that were left out of training.

Needs HVDROPDB in the folder that SSPLAIN_DATA names. Lengths are taken at a width of 640 px.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt
from scipy.stats import spearmanr
from skimage.morphology import skeletonize

from ssplain.data.hvdropdb import CAMERAS, WITHOUT_DISC, Camera, Eye, eyes
from ssplain.fundus.disc import find_disc
from ssplain.fundus.segment import FAINT, SURE, segment
from ssplain.reading.opinion import features
from ssplain.sheets.paintings import painted_eye
from ssplain.sheets.strokes import ground_of
from ssplain.simulate.disease import CLASSES
from ssplain.simulate.paint import Painted
from ssplain.vessels import trace

_TOLERANCE = 3.0  # pixels at a width of 640
_SERIES = 20261  # of painted trees; training has others

Network = torch.nn.Module | None  # None for the bundled one
Case = dict[str, Any]


def cases() -> Iterator[Case]:
    """Yield one case per camera and kind of truth: drawn vessels, painted vessels, drawn discs."""
    yield from vessel_cases(None)
    yield from disc_cases(None)


def vessel_cases(home: Path | None, network: Network = None) -> Iterator[Case]:
    """Judge a vessel network on the photographs that were left out of training."""
    for camera in CAMERAS:
        left_out = eyes(home, "vessels", camera, "test")
        for least in (FAINT, SURE):
            yield drawn_vessels(camera, left_out, network, least)
            yield painted_vessels(camera, left_out, network, least)
    yield windings([e for c in CAMERAS for e in eyes(home, "vessels", c, "test")], network)


def disc_cases(home: Path | None, network: Network = None) -> Iterator[Case]:
    """Judge a disc network on the photographs that were left out of training."""
    for camera in CAMERAS:
        yield drawn_discs(camera, eyes(home, "disc", camera, "test"), network)
        yield no_discs(camera, eyes(home, "vessels", camera, "test"), network)


def drawn_vessels(
    camera: Camera, left_out: list[Eye], network: Network = None, least: float = FAINT
) -> Case:
    """Compare with vessels drawn by hand, strokes of one width over the larger vessels."""
    scores = [_overlap(eye.mask, segment(eye.photo, network, least=least)) for eye in left_out]
    found, precise, dice, touched = np.array(scores).T
    return {
        "case": f"vessels drawn on {camera} photographs",
        "from": least,
        "photographs": len(left_out),
        "centrelines_found": _rounded(found.mean()),
        "worst": _rounded(found.min()),
        "centrelines_touched": _rounded(touched.mean()),
        "found_lines_that_were_drawn": _rounded(precise.mean()),
        "dice": _rounded(dice.mean()),
        "each": {eye.name: _rounded(f) for eye, f in zip(left_out, found, strict=True)},
    }


def painted_vessels(
    camera: Camera, left_out: list[Eye], network: Network = None, least: float = FAINT
) -> Case:
    """Compare with painted vessels, whose every width is known."""
    dice = []
    ratios: list[float] = []
    for number, eye in enumerate(left_out):
        painted = _painted(eye, number)
        soft = segment(painted.photo, network, least=least)
        dice.append(_dice(painted.vessels >= 0.5, soft >= 0.5))
        ratios += calibre_ratios(painted, soft)
    return {
        "case": f"vessels painted on {camera} photographs",
        "from": least,
        "photographs": len(left_out),
        "dice": _rounded(np.mean(dice)),
        "worst": _rounded(np.min(dice)),
        "branches": len(ratios),
        "calibre_error_median": _rounded(np.median(np.abs(np.array(ratios or [0]) - 1))),
        "calibre_ratio_median": _rounded(np.median(ratios or [0])),
    }


def windings(left_out: list[Eye], network: Network = None) -> Case:
    """Whether painted eyes that wind more do so in what is read: ranks of the means, by length."""
    true, found = [], []
    for number in range(len(CLASSES) * len(left_out)):
        painted = _painted(left_out[number // len(CLASSES)], number)
        true.append(features(trace(painted.vessels), 1.0))
        found.append(features(trace(segment(painted.photo, network, least=SURE)), 1.0))
    return {
        "case": "windings of painted vessels",
        "from": SURE,
        "photographs": len(true),
        **{
            f"spearman_{name}": _rounded(
                spearmanr([t[name] for t in true], [f[name] for f in found]).statistic
            )
            for name in ("curvature", "tortuosity", "calibre")
        },
    }


def drawn_discs(camera: Camera, left_out: list[Eye], network: Network = None) -> Case:
    """Compare with discs drawn by hand: how far the centre is off, in diameters of the disc."""
    off, sizes = [], []
    for eye in left_out:
        row, column = (float(places.mean()) for places in np.nonzero(eye.mask))
        radius = float(np.sqrt(eye.mask.sum() / np.pi))
        found = find_disc(eye.photo, network)
        off.append(
            np.inf
            if found is None
            else float(np.hypot(found[0] - row, found[1] - column)) / (2 * radius)
        )
        sizes += [] if found is None else [found[2] / radius]
    right = [distance <= 0.25 for distance in off]
    return {
        "case": f"discs drawn on {camera} photographs",
        "photographs": len(left_out),
        "found_within_a_quarter_diameter": _rounded(np.mean(right)),
        "found": len(sizes),
        "centre_off_median": _rounded(np.median(off)),
        "radius_ratio_median": _rounded(np.median(sizes or [0])),
        "missed": [eye.name for eye, hit in zip(left_out, right, strict=True) if not hit],
    }


def no_discs(camera: Camera, left_out: list[Eye], network: Network = None) -> Case:
    """Count the discs that are found where there is none in view."""
    without = [eye for eye in left_out if eye.name in WITHOUT_DISC]
    return {
        "case": f"{camera} photographs without a disc in view",
        "photographs": len(without),
        "made_up": [eye.name for eye in without if find_disc(eye.photo, network) is not None],
    }


def _painted(eye: Eye, number: int) -> Painted:
    """Paint tree number `number` of a series that training never saw into a photograph."""
    rng = np.random.default_rng([_SERIES, number])
    return painted_eye(ground_of(eye), rng, number % 3)[0]


def calibre_ratios(painted: Painted, soft: NDArray[np.float32]) -> list[float]:
    """Measured over painted width of every branch that was found and is at least 15 px long."""
    ratios = []
    for branch in trace(soft).branches:
        rows, columns = np.rint(branch.points).astype(int).T
        true = painted.width[rows, columns]
        if branch.length >= 15 and (true > 0).mean() > 0.8:
            ratios.append(branch.calibre / float(true[true > 0].mean()))
    return ratios


def _overlap(
    drawn: NDArray[np.bool_], soft: NDArray[np.float32]
) -> tuple[float, float, float, float]:
    """Drawn centrelines found, found ones that were drawn, Dice with strokes, drawn ones touched.

    Found is what lies near a centreline, touched what lies near a vessel, be it its edge.
    """
    tolerance = _TOLERANCE * drawn.shape[1] / 640
    line: NDArray[Any] = skeletonize(drawn)  # type: ignore[no-untyped-call]
    seen: NDArray[Any] = skeletonize(soft > 0)  # type: ignore[no-untyped-call]
    if not seen.any():
        return 0.0, 0.0, 0.0, 0.0
    found = float((distance_transform_edt(~seen)[line] <= tolerance).mean())
    precise = float((distance_transform_edt(~line)[seen] <= tolerance).mean())
    touched = float((distance_transform_edt(soft == 0)[line] <= tolerance).mean())
    return found, precise, _dice(drawn, soft >= 0.5), touched


def _dice(a: NDArray[np.bool_], b: NDArray[np.bool_]) -> float:
    return float(2 * (a & b).sum() / max(int(a.sum() + b.sum()), 1))


def _rounded(value: Any) -> float:  # noqa: ANN401 - any number of numpy's
    return round(float(value), 3)
