"""Tests of what disease does to vessels."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from ssplain.simulate.anatomy import Array
from ssplain.simulate.disease import AMOUNTS, QUADRANTS, Disease, draw_disease, plant, quadrant_of
from ssplain.simulate.tree import Course, Kind

ILL = Disease(
    amount=1.0, quadrants=np.ones(4), wavelength=14.0, veins=0.5, dilation=0.3, reach=100.0
)


def _line(angle: float, length: int = 60) -> Array:
    along = np.arange(5.0, length)
    return along[:, None] * (np.cos(angle), np.sin(angle))


def _plant(kind: Kind, disease: Disease, length: int = 60, seed: int = 0) -> tuple[Array, Array]:
    course = Course(_line(0.7, length), kind, -1, 0, 0, 2.0)
    width = np.full(len(course.points), 2.0)
    points, widths, _ = plant(np.random.default_rng(seed), [course], [width], disease, 1.0)
    return points[0] - course.points, widths[0]


def _swing(kind: Kind, amount: float) -> float:
    """Largest displacement that disease adds, in pixels."""
    calm, _ = _plant(kind, replace(ILL, amount=0.0))
    wound, _ = _plant(kind, replace(ILL, amount=amount))
    return float(np.hypot(*(wound - calm).T).max())


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


def test_grades_differ_in_amount_and_in_nothing_else() -> None:
    for seed in range(50):
        eyes = [draw_disease(np.random.default_rng(seed), label) for label in range(3)]
        for eye, (least, most) in zip(eyes, AMOUNTS, strict=True):
            assert least <= eye.amount <= most
            same = replace(eye, amount=0.0, quadrants=np.zeros(4))
            assert same == replace(eyes[0], amount=0.0, quadrants=same.quadrants)
            np.testing.assert_array_equal(eye.quadrants, eyes[0].quadrants)
    assert all(below[1] < above[0] for below, above in pairwise(AMOUNTS))


def test_an_amount_asked_for_takes_the_place_of_the_drawn_one() -> None:
    drawn, asked = (draw_disease(np.random.default_rng(4), 2, amount) for amount in (None, 0.3))
    assert asked.amount == 0.3
    assert (asked.wavelength, asked.reach) == (drawn.wavelength, drawn.reach)


def test_disease_is_in_at_least_three_quadrants_and_dilation_in_half_of_the_eyes() -> None:
    rng = np.random.default_rng(1)
    eyes = [draw_disease(rng, 2) for _ in range(400)]
    affected = [(eye.quadrants > 0.8).sum() for eye in eyes]
    assert (min(affected), max(affected)) == (3, 4)
    assert np.mean([eye.dilation > 0 for eye in eyes]) == pytest.approx(0.5, abs=0.08)


def test_vessels_wind_in_proportion_to_the_amount_and_arteries_more_than_veins() -> None:
    assert _swing("artery", 1.0) == pytest.approx(2 * _swing("artery", 0.5), rel=1e-6)
    assert _swing("vein", 1.0) == pytest.approx(0.5 * _swing("artery", 1.0), rel=1e-6)
    assert 0.5 < _swing("artery", 1.0) < 1.7  # half a wavelength of 14 px at a slope of 0.58


def test_windings_are_sideways_and_start_at_nothing() -> None:
    shift, _ = _plant("artery", ILL)
    np.testing.assert_allclose(shift @ (np.cos(0.7), np.sin(0.7)), 0, atol=1e-9)
    np.testing.assert_array_equal(shift[0], 0)


def test_windings_have_about_the_wavelength_asked_for_and_are_irregular() -> None:
    crossings = []
    for seed in range(20):
        calm, _ = _plant("artery", replace(ILL, amount=0.0), 160, seed)
        wound, _ = _plant("artery", replace(ILL, reach=400.0), 160, seed)
        side = (wound - calm) @ (-np.sin(0.7), np.cos(0.7))
        crossings.append(np.diff(np.flatnonzero(np.diff(np.sign(side[1:])))))
    halves = np.concatenate(crossings)
    assert 5 < np.median(halves) < 9  # half of 14
    assert np.std(halves) > 1.5


def test_veins_widen_where_the_eye_has_dilation_and_arteries_half_as_much() -> None:
    for kind, factor in (("vein", 1.0), ("artery", 0.5)):
        _, narrow = _plant(kind, replace(ILL, dilation=0.0))  # type: ignore[arg-type]
        _, wide = _plant(kind, ILL)  # type: ignore[arg-type]
        ratio = wide / narrow
        assert 1 + 0.6 * factor * 0.3 < ratio.max() <= 1 + 1.15 * factor * 0.3
        _, healthy = _plant(kind, replace(ILL, amount=0.0))  # type: ignore[arg-type]
        np.testing.assert_allclose(healthy, narrow)


def test_disease_fades_towards_the_periphery() -> None:
    largest = 0.0
    for seed in range(5):
        calm, _ = _plant("artery", replace(ILL, amount=0.0, reach=60.0), 160, seed)
        wound, _ = _plant("artery", replace(ILL, reach=60.0), 160, seed)
        added = np.hypot(*(wound - calm).T)
        largest = max(largest, added[:60].max())
        assert added[90:].max() < 1e-9  # beyond 85 px from the disc
    assert largest > 0.5


def test_what_is_planted_is_written_down_where_it_is() -> None:
    course = Course(_line(0.7, 160), "artery", -1, 0, 0, 2.0)
    rng = np.random.default_rng(0)
    _, _, (found,) = plant(rng, [course], [np.full(155, 2.0)], replace(ILL, reach=60.0), 1.0)
    assert found.diseased
    assert found.severity == found.strength.max()
    assert not found.strength[90:].any()
    assert (found.strength[found.strength > 0] > 0.2).all()
    _, _, (well,) = plant(rng, [course], [np.full(155, 2.0)], replace(ILL, amount=0.1), 1.0)
    assert not well.diseased


def test_branches_follow_the_vessel_they_leave() -> None:
    trunk = Course(_line(0.7), "artery", -1, 0, 0, 2.0)
    start = trunk.points[30]
    side = Course(start + _line(1.6, 40) - _line(1.6, 40)[0], "artery", 0, 30, 1, 0.7)
    widths = [np.full(len(c.points), 2.0) for c in (trunk, side)]
    points, _, _ = plant(np.random.default_rng(2), [trunk, side], widths, ILL, 1.0)
    np.testing.assert_allclose(points[1][0], points[0][30])
