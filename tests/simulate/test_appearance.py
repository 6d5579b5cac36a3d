"""Tests of how a segmentation shows a tree."""

from dataclasses import fields, replace

import numpy as np

from ssplain.simulate.anatomy import draw_eye
from ssplain.simulate.appearance import clutter, draw_appearance, drop_missing, lights
from ssplain.simulate.tree import grow_tree
from tests.simulate.test_render import PLAIN


def test_everything_varies_from_eye_to_eye() -> None:
    rng = np.random.default_rng(0)
    looks = [draw_appearance(rng) for _ in range(60)]
    for field in fields(PLAIN):
        assert len({getattr(look, field.name) for look in looks}) == (
            2 if field.name == "binary" else 60
        )


def test_missing_vessels_take_their_branches_along() -> None:
    rng = np.random.default_rng(1)
    courses = grow_tree(rng, draw_eye(rng))
    kept = drop_missing(rng, courses, 0.5)
    assert 3 < len(kept) < 0.8 * len(courses)
    for course in kept:
        if course.parent >= 0:
            start = kept[course.parent].points[course.attach]
            np.testing.assert_allclose(course.points[0], start)
    assert len(drop_missing(rng, courses, 0.0)) == len(courses)


def test_thin_vessels_are_fainter_and_have_more_gaps() -> None:
    widths = [np.full(20000, 1.1), np.full(20000, 4.0)]
    rng = np.random.default_rng(0)
    thin, wide = lights(rng, widths, replace(PLAIN, faintness=0.5, breaks=0.01))
    assert np.median(thin) == 0.5
    assert 0.98 < np.median(wide) <= 1
    assert 0.03 < (thin == 0).mean() < 0.1
    assert (wide == 0).mean() < 0.4 * (thin == 0).mean()


def test_light_takes_as_many_numbers_whatever_the_widths() -> None:
    after = []
    for width in (1.1, 4.0):
        rng = np.random.default_rng(0)
        lights(rng, [np.full(100, width)], replace(PLAIN, breaks=0.1))
        after.append(rng.random())
    assert after[0] == after[1]


def test_clutter_lies_in_the_picture_and_is_faint() -> None:
    points, widths, light = clutter(np.random.default_rng(0), replace(PLAIN, clutter=30.0))
    assert 15 < len(points) < 50
    for way, width, faint in zip(points, widths, light, strict=True):
        assert len(way) == len(width) == len(faint)
        assert faint.max() < 0.9
        np.testing.assert_allclose(np.hypot(*np.diff(way, axis=0).T), 1)
    assert clutter(np.random.default_rng(0), PLAIN) == ([], [], [])
