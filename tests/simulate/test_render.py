"""Tests of drawing: against the distance to the vessel computed pixel by pixel."""

import numpy as np
from scipy.spatial.distance import cdist

from ssplain.simulate.render import _depth, draw

SEEN = np.ones((224, 224), bool)


def test_depth_equals_a_search_over_all_samples() -> None:
    rng = np.random.default_rng(0)
    points = rng.uniform(60, 90, size=(50, 2))
    radii = rng.uniform(0.5, 3.5, size=50)
    depth, nearest = _depth(points, radii)
    row, column = np.mgrid[55:95, 55:95]
    pixels = np.stack([column.ravel(), row.ravel()], axis=1)
    every = radii - cdist(pixels, points)
    close = every.max(axis=1) > -1  # what is drawn
    np.testing.assert_allclose(depth[row, column].ravel()[close], every.max(axis=1)[close])
    np.testing.assert_array_equal(nearest[row, column].ravel()[close], every.argmax(1)[close])


def test_width_on_the_image_follows_the_width_asked_for() -> None:
    line = np.stack([np.arange(20.0, 200), np.full(180, 100.3)], axis=1)
    for width in (2.0, 4.0, 6.0):
        image = draw(np.random.default_rng(0), [line], [np.full(180, width)], SEEN).image
        half = (image[:, 40:180] > 0.5).sum(axis=0).mean()
        assert abs(half - width) < 0.7


def test_thin_vessels_are_fainter() -> None:
    lines = [
        np.stack([np.arange(20.0, 200), np.full(180, float(row))], axis=1) for row in (60, 120)
    ]
    image = draw(
        np.random.default_rng(1), lines, [np.full(180, 1.2), np.full(180, 4.0)], SEEN
    ).image
    assert np.median(image[60, 20:200]) < 0.8 < np.median(image[120, 20:200])


def test_nothing_is_drawn_where_nothing_is_seen() -> None:
    line = np.stack([np.arange(20.0, 200), np.full(180, 100.0)], axis=1)
    half = SEEN.copy()
    half[:, 112:] = False
    drawing = draw(np.random.default_rng(0), [line], [np.full(180, 4.0)], half)
    assert not drawing.image[:, 112:].any()
    assert (drawing.owner[:, 112:] == -1).all()
    assert drawing.image[100, 60] > 0.8


def test_each_pixel_names_its_vessel_and_sample() -> None:
    lines = [
        np.stack([np.arange(20.0, 200), np.full(180, float(row))], axis=1) for row in (60, 120)
    ]
    drawing = draw(np.random.default_rng(0), lines, [np.full(180, 3.0)] * 2, SEEN)
    assert (drawing.owner[60, 30:190] == 0).all()
    assert (drawing.owner[120, 30:190] == 1).all()
    np.testing.assert_array_equal(drawing.sample[120, 30:190], np.arange(10, 170))


def test_samples_far_apart_leave_no_gaps() -> None:
    """Wiggles stretch a course: its samples come to lie two pixels and more apart."""
    at = np.arange(20, 200, 2.6)
    drawing = draw(
        np.random.default_rng(0),
        [np.stack([at, np.full_like(at, 100)], axis=1)],
        [np.full_like(at, 1.7)],
        SEEN,
    )
    row = drawing.image[100, 20:200]
    assert row.min() > 0.6 * row.max()
    assert (np.diff(drawing.sample[100, 20:200]) >= 0).all()
