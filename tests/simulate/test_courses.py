"""Tests of taking courses from masks: simulated trees serve as masks whose truth is known."""

import math
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy.ndimage import distance_transform_edt

from ssplain.errors import SSplainError
from ssplain.simulate import courses as courses_of_masks
from ssplain.simulate.courses import find_disc, read_courses, simulate_on_mask
from ssplain.simulate.eye import SimulatedFundus, simulate
from ssplain.vessels.tracing import trace


def _star(angles: int = 9) -> np.ndarray:
    """Rays of width 3 from (100, 120)."""
    row, column = np.mgrid[:224, :224]
    image = np.zeros((224, 224))
    for angle in np.linspace(0, math.tau, angles, endpoint=False) + 0.1:
        dy, dx = math.sin(angle), math.cos(angle)
        along = (row - 100) * dy + (column - 120) * dx
        across = (row - 100) * dx - (column - 120) * dy
        image[(along > 0) & (along < 70) & (abs(across) < 1.6)] = 1
    return image


def test_the_disc_is_where_the_rays_meet() -> None:
    row, column = find_disc(trace(_star()))
    assert math.hypot(row - 100, column - 120) < 8


def _near(mask: np.ndarray, reach: float) -> np.ndarray:
    return distance_transform_edt(mask == 0) <= reach


@pytest.mark.parametrize("index", range(3))
def test_courses_run_where_the_mask_has_vessels(index: int) -> None:
    mask = simulate(seed=3, index=index).image
    eye, courses = read_courses(np.random.default_rng(0), mask)
    placed = np.concatenate([eye.place(course.points) for course in courses])
    column, row = np.clip(np.rint(placed).astype(int), 0, 223).T
    assert _near(mask, 3)[row, column].mean() > 0.98
    assert len(placed) > 0.7 * sum(branch.length for branch in trace(mask).branches)


@pytest.mark.parametrize("index", range(3))
def test_vessels_stay_near_the_mask(index: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(courses_of_masks, "_SPROUTING", 0.0)
    mask = simulate(seed=3, index=0).image
    fundus = simulate_on_mask(mask, seed=1, index=index)
    assert fundus.label == index
    # natural bows and disease move vessels aside
    assert _near(mask, 9)[fundus.branch_ids >= 0].mean() > 0.98
    assert (fundus.branch_ids >= 0).sum() > 0.3 * (mask > 0).sum()


def _winding(image: np.ndarray) -> float:
    bends = [b.mean_curvature for b in trace(image).branches]
    return float(np.nanmean(bends))


def test_windings_of_the_mask_are_not_passed_on() -> None:
    ill = [simulate(5, i, label=2).image for i in range(8)]
    redrawn = [simulate_on_mask(ill[i], 6, i, label=0, amount=0.0).image for i in range(8)]
    well = [simulate(6, i, label=0, amount=0.0).image for i in range(8)]
    natural = np.mean([_winding(image) for image in well])
    assert np.mean([_winding(image) for image in ill]) > 1.8 * natural  # there is something to lose
    assert np.mean([_winding(image) for image in redrawn]) < 1.25 * natural


def test_side_branches_grow_from_the_vessels_of_a_mask(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = []
    for share in (0.0, 1.0):
        monkeypatch.setattr(courses_of_masks, "_SPROUTING", share)
        counts.append(len(simulate_on_mask(_star(), seed=1, index=0).branches))
    assert counts[1] > counts[0] + 3


def test_a_mask_of_any_eye_gives_that_eye() -> None:
    def eyes(fundus: SimulatedFundus) -> set[str]:
        mirrored = np.ascontiguousarray(fundus.image[:, ::-1])
        return {simulate_on_mask(image, 0, 0).eye for image in (fundus.image, mirrored)}

    fundus = simulate(seed=3, index=1)
    assert simulate_on_mask(fundus.image, 0, 0).eye == fundus.eye
    assert eyes(fundus) == {"left", "right"}


def test_the_same_mask_and_seed_give_the_same_image() -> None:
    mask = simulate(seed=3, index=2).image
    first, second = (simulate_on_mask(mask, seed=1, index=5) for _ in range(2))
    np.testing.assert_array_equal(first.image, second.image)
    assert first.branches == second.branches
    assert not np.array_equal(first.image, simulate_on_mask(mask, seed=2, index=5).image)


def test_wide_vessels_feed_more_than_thin_ones() -> None:
    fundus = simulate_on_mask(simulate(seed=3, index=0).image, seed=1, index=0)
    for branch in fundus.branches:
        if branch.parent >= 0:
            assert branch.width < 1.2 * fundus.branches[branch.parent].width


def test_a_loop_is_followed_once_and_ends() -> None:
    row, column = np.mgrid[:224, :224]
    ring = abs(np.hypot(row - 100, column - 150) - 30) < 1.6
    mask = (_star() + ring > 0).astype(float)
    eye, courses = read_courses(np.random.default_rng(0), mask)
    placed = np.concatenate([eye.place(course.points) for course in courses])
    for top in (70, 130):
        assert np.hypot(*(placed - (150, top)).T).min() < 3


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        (np.zeros((224, 224)), "The mask shows no vessel"),
        (np.ones((100, 100)), r"shape \(100, 100\)"),
    ],
)
def test_masks_of_no_use_are_refused(mask: np.ndarray, message: str) -> None:
    with pytest.raises(SSplainError, match=message):
        simulate_on_mask(mask, 0, 0)


@pytest.mark.skipif("SSPLAIN_DATA" not in os.environ, reason="SSPLAIN_DATA names no data folder")
def test_real_masks_give_sparse_images() -> None:
    for path in sorted(Path(os.environ["SSPLAIN_DATA"]).glob("hvdropdb/retcam_mask/*.png"))[::5]:
        small = Image.open(path).convert("L").resize((224, 168), Image.Resampling.BOX)
        mask = np.pad(np.asarray(small) / 255.0, ((28, 28), (0, 0)))
        mask[mask < 0.3] = 0
        share = (simulate_on_mask(mask, 0, 2).image > 0).mean()
        assert 0.003 < share < 0.2
