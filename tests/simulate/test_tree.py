"""Tests of the anatomy of simulated trees."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial import cKDTree

from ssplain.simulate.anatomy import Eye, draw_eye
from ssplain.simulate.tree import Course, calibre, grow_tree

EYE = Eye(zoom=1, fovea=(48, -4), flat=120, field=(40, 0), radius=105, spacing=40)


def _trees() -> list[tuple[Eye, list[Course]]]:
    trees = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        eye = draw_eye(rng)
        trees.append((eye, grow_tree(rng, eye)))
    return trees


TREES = _trees()


def test_arcades_are_lines_of_the_flow() -> None:
    def slope(x: float, _y: np.ndarray) -> list[float]:
        return [math.tan(EYE.flow(x, float(_y[0])))]

    walked = solve_ivp(slope, (10, 150), [EYE.arcade(40, 10)], t_eval=[30, 48, 150], rtol=1e-8)
    np.testing.assert_allclose(walked.y[0], [EYE.arcade(40, x) for x in (30, 48, 150)], rtol=1e-5)
    assert EYE.arcade(40, 48) == pytest.approx(40)


def test_children_start_on_their_parents() -> None:
    for _, courses in TREES:
        for course in courses:
            if course.parent >= 0:
                start = courses[course.parent].points[course.attach]
                np.testing.assert_allclose(course.points[0], start)


def test_courses_stay_in_view_and_out_of_the_avascular_zone() -> None:
    for eye, courses in TREES:
        points = np.concatenate([course.points for course in courses])
        out_of_view = np.hypot(*(points - eye.field).T) >= eye.radius
        assert np.hypot(*points[out_of_view].T).max(initial=0) < 50 * eye.zoom  # beside the disc
        assert np.hypot(*(points - eye.fovea).T).min() > 12 * eye.zoom


def test_branches_leave_at_realistic_angles() -> None:
    angles = []
    for _, courses in TREES:
        for course in courses:
            if course.parent < 0:
                continue
            along = courses[course.parent].points
            ahead = along[course.attach + 3] - along[max(course.attach - 3, 0)]
            away = course.points[4] - course.points[0]
            cosine = ahead @ away / np.linalg.norm(ahead) / np.linalg.norm(away)
            angles.append(math.degrees(math.acos(np.clip(cosine, -1, 1))))
    low, middle, high = np.percentile(angles, [5, 50, 95])
    assert 20 < low < 45 < middle < 60 < high < 90


def test_vessels_of_one_kind_seldom_cross() -> None:
    near = {"like": 0, "unlike": 0}
    for _, courses in TREES:
        for i, a in enumerate(courses):
            for j, b in enumerate(courses[:i]):
                if a.parent == j or b.parent == i:
                    continue
                far = b.points[np.hypot(*b.points.T) > 15]
                if len(far) and np.min(cKDTree(far).query(a.points)[0]) < 1:
                    near["like" if a.kind == b.kind else "unlike"] += 1
    assert near["like"] < near["unlike"] / 4


def test_cubes_of_widths_add_up_at_a_branching() -> None:
    line = np.stack([np.arange(100.0), np.zeros(100)], axis=1)
    courses = [Course(line, "vein", -1, 0, 0, 3.0), Course(line, "vein", 0, 50, 1, 0.7)]
    parent, _ = calibre(courses)
    taper = np.exp(-np.arange(100) / 170)
    before, after = (parent / taper)[[30, 70]]
    assert before**3 == pytest.approx((0.7 * before) ** 3 + after**3)


def test_widths_taper_towards_the_end() -> None:
    for eye, courses in TREES:
        widths = calibre(courses, eye.zoom)
        for course, width in zip(courses, widths, strict=True):
            assert width[-1] < width[0]
            if course.parent >= 0:
                assert width[0] < widths[course.parent][course.attach]


def test_known_courses_stay_and_get_side_branches() -> None:
    rng = np.random.default_rng(3)
    known = grow_tree(rng, EYE)[:4]
    assert [course.generation for course in known] == [0] * 4
    more = grow_tree(rng, EYE, known)
    assert more[:4] == known
    assert len(more) > 8
    assert all(course.parent >= 0 for course in more[4:])


def test_the_camera_turns_mirrors_and_squeezes() -> None:
    point = np.array([[50.0, 20.0]])  # 10 px temporal of the middle of the picture, 20 px above
    np.testing.assert_allclose(EYE.place(point), [[121.5, 91.5]])
    np.testing.assert_allclose(replace(EYE, right=True).place(point), [[101.5, 91.5]])
    np.testing.assert_allclose(replace(EYE, turn=math.pi / 2).place(point), [[131.5, 121.5]])
    np.testing.assert_allclose(replace(EYE, squeeze=0.5).place(point), [[116.5, 91.5]])


def test_what_is_exposed_is_round_and_may_be_cut_off_above_and_below() -> None:
    seen = EYE.exposed()
    row, column = np.nonzero(seen)
    assert np.hypot(row - 111.5, column - 111.5).max() < 105
    assert seen.sum() == pytest.approx(math.pi * 105**2, rel=0.01)
    assert replace(EYE, height=100).exposed().any(axis=1).sum() == 100
