"""Tests of drawing: against the distance to the vessel computed pixel by pixel."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ssplain.simulate.anatomy import Array
from ssplain.simulate.appearance import Appearance
from ssplain.simulate.render import Drawing, draw

SEEN = np.ones((224, 224), bool)
PLAIN = Appearance(
    calibre=1.0,
    softness=0.4,
    gain=1.0,
    gamma=1.0,
    threshold=0.2,
    faintness=0.0,
    unevenness=0.0,
    grain=0.0,
    missing=0.0,
    breaks=0.0,
    clutter=0.0,
    binary=False,
)


def _draw(
    points: list[Array],
    widths: list[Array],
    look: Appearance = PLAIN,
    visible: NDArray[np.bool_] = SEEN,
    light: float = 1.0,
) -> Drawing:
    lights = [np.full(len(width), light) for width in widths]
    return draw(np.random.default_rng(0), points, widths, lights, look=look, visible=visible)


def test_width_on_the_image_follows_the_width_asked_for() -> None:
    line = np.stack([np.arange(20.0, 200), np.full(180, 100.3)], axis=1)
    for width in (2.0, 4.0, 6.0):
        image = _draw([line], [np.full(180, width)]).image
        half = (image[:, 40:180] > 0.5).sum(axis=0).mean()
        assert abs(half - width) < 0.7


def test_nothing_is_drawn_where_nothing_is_seen() -> None:
    line = np.stack([np.arange(20.0, 200), np.full(180, 100.0)], axis=1)
    half = SEEN.copy()
    half[:, 112:] = False
    drawing = _draw([line], [np.full(180, 4.0)], visible=half)
    assert not drawing.image[:, 112:].any()
    assert (drawing.owner[:, 112:] == -1).all()
    assert drawing.image[100, 60] > 0.8


def test_each_pixel_names_its_vessel_and_sample() -> None:
    lines = [
        np.stack([np.arange(20.0, 200), np.full(180, float(row))], axis=1) for row in (60, 120)
    ]
    drawing = _draw(lines, [np.full(180, 3.0)] * 2)
    assert (drawing.owner[60, 30:190] == 0).all()
    assert (drawing.owner[120, 30:190] == 1).all()
    np.testing.assert_array_equal(drawing.sample[120, 30:190], np.arange(10, 170))


def test_samples_far_apart_leave_no_gaps() -> None:
    """Wiggles stretch a course: its samples come to lie two pixels and more apart."""
    at = np.arange(20, 200, 2.6)
    drawing = _draw([np.stack([at, np.full_like(at, 100)], axis=1)], [np.full_like(at, 1.7)])
    row = drawing.image[100, 20:200]
    assert row.min() > 0.6 * row.max()
    assert (np.diff(drawing.sample[100, 20:200]) >= 0).all()


def test_gain_gamma_and_threshold_act_on_the_certainty() -> None:
    line = np.stack([np.arange(20.0, 200), np.full(180, 100.0)], axis=1)
    plain = _draw([line], [np.full(180, 4.0)]).image
    for gain, gamma in ((0.5, 1.0), (1.0, 2.0), (0.8, 0.7)):
        image = _draw([line], [np.full(180, 4.0)], replace(PLAIN, gain=gain, gamma=gamma)).image
        np.testing.assert_allclose(image, gain * plain**gamma, atol=0.006)
    cut = _draw([line], [np.full(180, 4.0)], replace(PLAIN, threshold=0.5)).image
    np.testing.assert_array_equal(cut, np.where(plain >= 0.5, plain, 0))
    binary = _draw([line], [np.full(180, 4.0)], replace(PLAIN, binary=True)).image
    np.testing.assert_array_equal(binary, plain > 0)


def test_vessels_without_light_are_not_there() -> None:
    line = np.stack([np.arange(20.0, 200), np.full(180, 100.0)], axis=1)
    across = line[:, ::-1] + (12.0, -12.0)
    light = [np.ones(180), np.zeros(180)]
    drawing = draw(
        np.random.default_rng(0),
        [line, across],
        [np.full(180, 2.0), np.full(180, 6.0)],
        light,
        look=PLAIN,
        visible=SEEN,
    )
    assert set(np.unique(drawing.owner)) == {-1, 0}
    assert (drawing.image[100, 20:200] > 0.8).all()


def test_only_so_many_vessels_are_known_as_such() -> None:
    lines = [
        np.stack([np.arange(20.0, 200), np.full(180, float(row))], axis=1) for row in (60, 120)
    ]
    drawing = _draw(lines, [np.full(180, 3.0)] * 2).only(1)
    assert set(np.unique(drawing.owner)) == {-1, 0}
    assert (drawing.sample[120] == -1).all()
    assert (drawing.image[120, 30:190] > 0.8).all()
