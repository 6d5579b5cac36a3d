"""Hair-thin vessels keep their centreline and their calibre; masks that went through JPEG too.

The skeleton that is to be covered is scikit-image's own, by another method than the one in use.
"""

import io
from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageDraw
from scipy.spatial import KDTree
from skimage.morphology import skeletonize

from ssplain.vessels import VesselTree, trace
from ssplain.vessels.ground import find_threshold

Mask = NDArray[np.bool_]
Plane = NDArray[np.float64]


def covered(mask: Mask, tree: VesselTree) -> float:
    """Which share of the mask's skeleton has a centreline within 1.5 px."""
    points = np.concatenate([branch.points for branch in tree.branches])
    skeleton = np.argwhere(skeletonize(mask))  # type: ignore[no-untyped-call]
    away, _ = KDTree(points).query(skeleton)
    return float(np.mean(np.asarray(away) <= 1.5))


def mean_calibre(tree: VesselTree) -> float:
    lengths = [branch.length for branch in tree.branches]
    return float(np.average(tree.calibres, weights=lengths))


def near(points: Plane, width: float, shape: tuple[int, int] = (224, 224)) -> Mask:
    away, _ = KDTree(points).query(np.argwhere(np.ones(shape)))
    return np.asarray(away).reshape(shape) <= width / 2


def straight(degrees: float) -> Plane:
    angle, along = np.radians(degrees), np.linspace(-90, 90, 3000)
    return np.stack([112.3 + along * np.sin(angle), 111.8 + along * np.cos(angle)], axis=1)


def arc(radius: float) -> Plane:
    turn = np.linspace(0, 4.5, 3000)
    return np.stack([112.3 + radius * np.sin(turn), 111.8 + radius * np.cos(turn)], axis=1)


def sine(height: float, wavelength: float) -> Plane:
    along = np.linspace(20, 204, 6000)
    return np.stack([112 + height * np.sin(2 * np.pi * along / wavelength), along], axis=1)


def bush(seed: int) -> list[Plane]:
    """Vessels from one disc, each with wavy side branches that cross each other."""
    rng = np.random.default_rng(seed)
    along = np.linspace(0, 1, 1500)
    vessels = []
    for angle in np.linspace(0, 2 * np.pi, 7)[:-1] + rng.uniform(0, 1):
        for side, first in ((0.0, 0.04), (rng.uniform(0.3, 0.9), 0.3), (-0.6, 0.5)):
            way = along[along >= first]
            bend = side * (way - first) + rng.uniform(0.02, 0.1) * np.sin(
                rng.uniform(10, 40) * way + rng.uniform(0, 6)
            )
            vessels.append(
                112 + 105 * way[:, None] * np.stack([np.sin(angle + bend), np.cos(angle + bend)], 1)
            )
    return vessels


@pytest.mark.parametrize("width", [1, 1.5, 2])
@pytest.mark.parametrize(
    "points",
    [*map(straight, (0, 7, 17, 30, 62, 80)), *map(arc, (10, 25, 90)), sine(12, 60), sine(4, 20)],
)
def test_thin_lines_are_traced_whole(points: Plane, width: float) -> None:
    mask = near(points, width)
    tree = trace(mask)
    (branch,) = tree.branches
    assert covered(mask, tree) >= 0.99
    assert branch.calibre == pytest.approx(width, abs=0.5)


@pytest.mark.parametrize("width", [1, 1.5, 2])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_thin_trees_are_traced_whole(seed: int, width: float) -> None:
    mask = near(np.concatenate(bush(seed)), width)
    tree = trace(mask)
    assert covered(mask, tree) >= 0.95
    assert mean_calibre(tree) == pytest.approx(width, abs=0.25)
    # where vessels run into each other a branch is as wide as both
    wrong = [branch.length for branch in tree.branches if abs(branch.calibre - width) > 0.5]
    assert sum(wrong) < 0.15 * sum(branch.length for branch in tree.branches)


def test_capillaries_of_wide_vessels_are_their_own_branches() -> None:
    """At 565 px: a trunk of 9 px, and capillaries of 1 px that leave it."""
    image = Image.new("L", (565, 565))
    pen = ImageDraw.Draw(image)
    pen.line([(30, 280), (530, 300)], fill=255, width=9)
    for at in range(60, 500, 40):
        row = 280 + (at - 30) / 25
        pen.line([(at, row), (at + 35, row + (-1) ** (at // 40) * 70)], fill=255, width=1)
    mask = np.array(image) > 0
    tree = trace(mask)
    assert covered(mask, tree) >= 0.95
    thin = [branch for branch in tree.branches if branch.calibre < 1.7]
    assert len(thin) == 11
    assert sum(branch.length for branch in thin) == pytest.approx(11 * 78, rel=0.05)
    assert all(branch.calibre > 7 for branch in tree.branches if branch not in thin)


def test_the_eyes_of_small_loops_stay_open_between_thin_vessels() -> None:
    mask = np.zeros((40, 60), dtype=bool)
    mask[20, 5:55] = True
    mask[17, 26:31] = mask[[18, 19], 25] = mask[[18, 19], 31] = True  # an eye of 12 px
    assert len(trace(mask).branches) == 4
    mask[17:21, 25:32] = True
    assert len(trace(mask).branches) == 1


def jpeg(image: NDArray[np.uint8], quality: int) -> Plane:
    file = io.BytesIO()
    Image.fromarray(image).save(file, "JPEG", quality=quality)
    with Image.open(file) as opened:
        return np.asarray(opened.convert("L")) / 255


@pytest.fixture(scope="module")
def traced(phantoms: SimpleNamespace) -> Sequence[tuple[NDArray[np.uint8], VesselTree]]:
    """Masks as bytes, each with its tree."""
    wide = [phantoms.fork(20), phantoms.ring(50, 2.5), phantoms.crooked() > 0]
    thin = [near(np.concatenate(bush(seed)), 1 + seed) for seed in range(3)]
    drawn = [(255 * mask).astype(np.uint8) for mask in (*wide, *thin)]
    return [(mask, trace(mask)) for mask in drawn]


@pytest.mark.parametrize("quality", [95, 75, 50])
def test_masks_saved_as_jpeg_have_the_same_branches(
    traced: Sequence[tuple[NDArray[np.uint8], VesselTree]], quality: int
) -> None:
    for mask, plain in traced:
        rippled = trace(jpeg(mask, quality))
        assert plain.threshold == 0 < rippled.threshold
        assert len(rippled.branches) == pytest.approx(len(plain.branches), rel=0.1)
        assert mean_calibre(rippled) == pytest.approx(mean_calibre(plain), rel=0.1)
        # what it would be without
        assert len(trace(jpeg(mask, quality), threshold=0).branches) > 2 * len(plain.branches)


def test_soft_images_on_black_are_taken_as_they_are(phantoms: SimpleNamespace) -> None:
    assert find_threshold(phantoms.crooked()) == 0
    faint = np.where(phantoms.fork() > 0, np.clip(1.5 - phantoms.radius() / 80, 0.02, 1), 0)
    assert find_threshold(faint / faint.max()) == 0
    assert find_threshold(np.zeros((9, 9))) == 0
    assert find_threshold(np.ones((9, 9))) == 0


@pytest.mark.parametrize("haze", [1e-4, 0.03, 0.2])
def test_a_haze_over_the_ground_is_left_out(phantoms: SimpleNamespace, haze: float) -> None:
    """The output of a network is never exactly 0."""
    noise = np.random.default_rng(0).random((224, 224))
    plane = np.maximum(phantoms.fork(20).astype(float), haze * noise)
    tree = trace(plane)
    assert tree.threshold > 0
    assert len(tree.branches) == 3
