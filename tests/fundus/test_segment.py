import numpy as np
import pytest
from scipy.ndimage import binary_dilation

from ssplain.errors import SSplainError
from ssplain.fundus import FAINT, SURE, segment
from ssplain.fundus.photo import Pixels, resized
from ssplain.vessels import trace
from tests.fundus.eyes import blank_eye, painted_eye


def overlap(a: Pixels, b: Pixels) -> float:
    one, two = a >= 0.5, b >= 0.5
    return float(2 * (one & two).sum() / (one.sum() + two.sum()))


@pytest.fixture(scope="module")
def eye() -> tuple[Pixels, Pixels, Pixels]:
    painted = painted_eye(label=1)
    return painted.photo, painted.vessels, segment(painted.photo)


def test_painted_vessels_are_found_with_their_width(eye: tuple[Pixels, Pixels, Pixels]) -> None:
    _, true, found = eye
    assert overlap(true, found) > 0.75
    ratio = np.array([b.calibre for b in trace(found).branches if b.length > 40]).mean()
    ratio /= np.array([b.calibre for b in trace(true).branches if b.length > 40]).mean()
    assert 0.75 < ratio < 1.3


def test_a_map_is_soft_and_exactly_zero_off_the_vessels(eye: tuple[Pixels, Pixels, Pixels]) -> None:
    photo, _, found = eye
    assert found.shape == photo.shape[:2]
    assert found.dtype == np.float32
    assert found.min() == 0
    assert 0.5 < found.max() <= 1
    assert (found == 0).mean() > 0.7
    assert len(np.unique(found)) > 100


@pytest.mark.parametrize("width", [400, 1600])
def test_vessels_stay_where_they_are_at_any_size(
    eye: tuple[Pixels, Pixels, Pixels], width: int
) -> None:
    photo, true, _ = eye
    size = width * 3 // 4, width
    found = segment(resized(photo, size))
    assert found.shape == size
    assert overlap(true, resized(found[..., None], (480, 640))[..., 0]) > 0.65


@pytest.mark.parametrize("change", ["dim", "bright", "tinted", "white surround", "grainy"])
def test_vessels_are_found_in_other_light(eye: tuple[Pixels, Pixels, Pixels], change: str) -> None:
    photo, true, _ = eye
    other = {
        "dim": 0.4 * photo,
        "bright": np.clip(1.25 * photo, 0, 1),
        "tinted": np.clip(photo * np.array([0.8, 1.1, 1.4], np.float32), 0, 1),
        "white surround": np.where(photo.max(axis=2, keepdims=True) > 0.1, photo, 1),
        "grainy": np.clip(
            photo + 0.01 * np.random.default_rng(1).standard_normal(photo.shape), 0, 1
        ),
    }[change]
    assert overlap(true, segment(other.astype(np.float32))) > 0.65


def test_surer_vessels_are_some_of_the_faint_ones_and_have_the_same_values(
    eye: tuple[Pixels, Pixels, Pixels],
) -> None:
    photo, _, found = eye
    sure = segment(photo, least=SURE)
    assert 0 < (sure > 0).sum() < (found > 0).sum()
    assert (found[sure > 0] > 0).all()
    assert found[found > 0].min() < SURE / 2 <= sure[sure > 0].min()
    # not only wider edges: vessels of their own
    away = ~binary_dilation(sure > 0, iterations=3)
    assert (found[away] >= FAINT).sum() > 10
    inside = sure >= 0.5  # resizing mixes the edges of the two maps
    assert np.abs(sure[inside] - found[inside]).mean() < 0.02


@pytest.mark.parametrize("least", [0, 1, -0.5, float("nan")])
def test_a_bound_outside_the_map_is_refused(least: float) -> None:
    with pytest.raises(SSplainError, match=r"least=.* does not work; give a number between"):
        segment(blank_eye(), least=least)


def test_no_vessels_are_made_up() -> None:
    assert (segment(blank_eye(disc=False)) > 0).mean() < 0.004


def test_the_same_photograph_gives_the_same_bytes(eye: tuple[Pixels, Pixels, Pixels]) -> None:
    photo, _, found = eye
    assert np.array_equal(segment(photo), found)
