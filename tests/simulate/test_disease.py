"""Tests of what disease does to vessels."""

import numpy as np
import pytest

from ssplain.simulate.disease import QUADRANTS, draw_severity, plant, quadrant_of
from ssplain.simulate.tree import Array, Course, Kind


def _line(angle: float, length: int = 60) -> Array:
    along = np.arange(5.0, length)
    return along[:, None] * (np.cos(angle), np.sin(angle))


def _plant(kind: Kind, severity: float, length: int = 60) -> tuple[Array, Array]:
    course = Course(_line(0.7, length), kind, -1, 0, 0, 2.0)
    rng = np.random.default_rng(0)
    width = np.full(len(course.points), 2.0)
    points, widths, _ = plant(rng, [course], [width], np.full(4, severity), 1.0)
    return points[0] - course.points, widths[0]


@pytest.mark.parametrize(
    ("angle", "name"),
    [
        (0.7, "superotemporal"),
        (-0.7, "inferotemporal"),
        (2.4, "superonasal"),
        (-2.4, "inferonasal"),
    ],
)
def test_quadrants_are_named_as_seen_from_the_disc(angle: float, name: str) -> None:
    assert QUADRANTS[quadrant_of(_line(angle))] == name


def test_classes_differ_in_severity_but_overlap_at_their_borders() -> None:
    rng = np.random.default_rng(0)
    drawn = np.array([[draw_severity(rng, label) for label in range(3)] for _ in range(600)])
    worst, mean = drawn.max(axis=2), drawn.mean(axis=2)
    assert (worst[:, 0] < worst[:, 1]).mean() > 0.99
    assert (worst[:, 1] < worst[:, 2]).mean() > 0.99
    assert mean[:, 0].max() > mean[:, 1].min()
    assert mean[:, 1].max() > mean[:, 2].min()


def test_plus_disease_affects_all_quadrants_and_pre_plus_at_least_three() -> None:
    rng = np.random.default_rng(1)
    for label, least in ((1, 3), (2, 4)):
        affected = [(draw_severity(rng, label) > 0.2).sum() for _ in range(100)]
        assert min(affected) == least
        assert max(affected) == 4


def test_arteries_bend_in_proportion_to_severity() -> None:
    calm, _ = _plant("artery", 0.0)
    mild, narrow = _plant("artery", 0.5)
    strong, same = _plant("artery", 1.0)
    swing = [np.hypot(*shift.T).max() for shift in (calm, mild, strong)]
    assert swing[0] < 0.8
    assert swing[2] - swing[0] == pytest.approx(2 * (swing[1] - swing[0]), rel=0.05)
    np.testing.assert_array_equal(narrow, same)


def test_wiggles_are_sideways_and_start_at_nothing() -> None:
    shift, _ = _plant("artery", 1.0)
    np.testing.assert_allclose(shift @ (np.cos(0.7), np.sin(0.7)), 0, atol=1e-9)
    np.testing.assert_array_equal(shift[0], 0)


def test_veins_widen_but_keep_their_course() -> None:
    calm, narrow = _plant("vein", 0.0)
    same, wide = _plant("vein", 1.0)
    np.testing.assert_array_equal(calm, same)
    ratio = wide / narrow
    assert ratio.min() > 1.4
    assert np.ptp(ratio) < 1e-9


def test_disease_fades_towards_the_periphery() -> None:
    _, narrow = _plant("vein", 0.0, length=130)
    _, wide = _plant("vein", 1.0, length=130)
    ratio = wide / narrow
    assert ratio[0] > 1.4
    assert ratio[-1] == pytest.approx(1, abs=1e-3)  # 130 px from the disc


def test_branches_follow_the_vessel_they_leave() -> None:
    trunk = Course(_line(0.7), "artery", -1, 0, 0, 2.0)
    start = trunk.points[30]
    side = Course(start + _line(1.6, 40) - _line(1.6, 40)[0], "artery", 0, 30, 1, 0.7)
    widths = [np.full(len(c.points), 2.0) for c in (trunk, side)]
    points, _, findings = plant(np.random.default_rng(2), [trunk, side], widths, np.ones(4), 1.0)
    np.testing.assert_allclose(points[1][0], points[0][30])
    assert findings[0].diseased
