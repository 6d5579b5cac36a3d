"""A ring around the disc is no vessel; vessels that cross or pass the disc are."""

import numpy as np
from numpy.typing import NDArray

from ssplain.fundus.ring import without_ring

DISC = (80.0, 90.0, 24.0)
ROW, COLUMN = np.mgrid[:160, :180].astype(np.float32)
AWAY = np.hypot(ROW - DISC[0], COLUMN - DISC[1])


def _lines(*angles: float) -> NDArray[np.float32]:
    """Vessels of 4 px that leave the disc at angles in degrees."""
    made = np.zeros(ROW.shape, np.float32)
    for angle in np.radians(angles):
        along = (COLUMN - DISC[1]) * np.cos(angle) + (ROW - DISC[0]) * np.sin(angle)
        beside = (ROW - DISC[0]) * np.cos(angle) - (COLUMN - DISC[1]) * np.sin(angle)
        made[(np.abs(beside) <= 2) & (along > 4)] = 1
    return made


def test_the_ring_goes_and_the_vessels_that_cross_it_stay() -> None:
    vessels = _lines(10, 100, 190, 280)
    ringed = np.maximum(vessels, (np.abs(AWAY - DISC[2]) < 2).astype(np.float32))
    found = without_ring(ringed, DISC)
    only_ring = (ringed > 0) & (vessels == 0)
    assert (found[only_ring] > 0).mean() < 0.25
    assert (found[vessels > 0] > 0).mean() > 0.9
    outside = (AWAY / DISC[2]) > 1.4
    assert np.array_equal(found[outside], ringed[outside])


def test_vessels_without_a_ring_are_left_alone() -> None:
    vessels = _lines(0, 45, 90, 135, 180, 225, 270, 315)
    assert without_ring(vessels, DISC) is vessels
    beside = (np.abs(COLUMN - DISC[1] - 1.1 * DISC[2]) <= 2).astype(np.float32)  # passes the disc
    assert without_ring(beside, DISC) is beside
    nothing = np.zeros_like(vessels)
    assert without_ring(nothing, DISC) is nothing
