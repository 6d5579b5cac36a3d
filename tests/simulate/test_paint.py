import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from ssplain.simulate.disease import draw_disease
from ssplain.simulate.ground import Ground, clear, dark_lines
from ssplain.simulate.paint import Place, Strand, choroid, grown, paint
from tests.fundus.eyes import blank_eye, painted_eye


def plain(height: int = 120, width: int = 160) -> Ground:
    photo = np.full((height, width, 3), (0.7, 0.45, 0.2), np.float32)
    contrast = np.full((height, width, 3), (0.05, 0.2, 0.15), np.float32)
    inside = np.ones((height, width), bool)
    return Ground(photo, inside, contrast, ~inside)


def line(width: float, *, relevance: float = 0.0) -> Strand:
    along = np.arange(10.0, 150)
    points = np.stack([along, np.full(len(along), 60.0)], axis=1)
    return Strand(points, np.full(len(along), width), np.full(len(along), relevance), artery=False)


@pytest.mark.parametrize("width", [1.5, 3.0, 6.0, 9.0])
def test_a_painted_vessel_is_as_wide_as_it_says(width: float) -> None:
    painted = paint(plain(), [line(width)], np.random.default_rng(0))
    assert painted.vessels[:, 40:120].sum(axis=0) == pytest.approx(width, abs=0.25)
    on = painted.vessels[:, 40:120] > 0
    assert painted.width[:, 40:120][on] == pytest.approx(width)


def test_the_photograph_changes_where_the_truth_says_and_darkens_green_most() -> None:
    ground = plain()
    painted = paint(ground, [line(5.0, relevance=0.7)], np.random.default_rng(1))
    change = ground.photo - painted.photo
    far = gaussian_filter(painted.vessels, 3) < 1e-6
    assert np.abs(change[far]).max() == 0
    core = painted.vessels == 1
    assert (change[core] > 0).all()
    ratio = np.log(ground.photo / painted.photo)[core].mean(axis=0)
    assert ratio[1] > ratio[2] > ratio[0] > 0
    assert set(np.unique(painted.relevance)) == {np.float32(0), np.float32(0.7)}
    assert ((painted.strand == 0) == (painted.vessels > 0)).all()


def test_disease_is_planted_and_healthy_trees_have_none() -> None:
    place = Place((240.0, 200.0), 2.7, 1)
    plus = grown(np.random.default_rng(3), draw_disease(np.random.default_rng(4), 2), place)
    normal = grown(np.random.default_rng(3), draw_disease(np.random.default_rng(4), 0), place)
    assert max(strand.relevance.max() for strand in plus) > 0.5
    assert sum((strand.relevance > 0.2).sum() for strand in normal) == 0


def test_vessels_are_removed_and_their_contrast_is_remembered() -> None:
    painted = painted_eye(label=0)
    strokes = gaussian_filter(painted.vessels, 2) > 0.05
    ground = clear(painted.photo, strokes, painted.inside)
    bare = blank_eye()
    core = (painted.vessels == 1) & painted.inside
    before = np.log(bare[core] / painted.photo[core])[:, 1].mean()
    after = np.log(bare[core] / ground.photo[core])[:, 1].mean()
    assert abs(after) < 0.25 * before
    assert ground.contrast[core][:, 1].mean() == pytest.approx(before, rel=0.6)
    untouched = ~(gaussian_filter(strokes.astype(float), 8) > 1e-3)
    assert np.array_equal(ground.photo[untouched], painted.photo[untouched])


def test_dark_lines_are_dark_not_bright() -> None:
    painted = painted_eye()
    lines = dark_lines(painted.photo, painted.inside)
    core = (painted.vessels == 1) & (painted.width > 3)
    off = painted.inside & (gaussian_filter(painted.vessels, 4) < 1e-3)
    assert lines[core].mean() > 4 * lines[off].mean()


def test_the_choroid_shows_through_everywhere_but_is_no_line_of_truth() -> None:
    photo = plain().photo
    striped = choroid(photo, np.random.default_rng(0))
    assert (striped <= photo).all()
    assert (striped[..., 1] < 0.995 * photo[..., 1]).mean() > 0.05
