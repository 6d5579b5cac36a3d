"""Simulated images must have numbers that real infant masks have, too."""

from dataclasses import astuple

import numpy as np

from ssplain.simulate.eye import simulate
from ssplain.simulate.report import REAL, Anatomy, compare, measure


def test_simulated_eyes_lie_within_the_range_of_real_ones() -> None:
    seen = np.array([astuple(measure(simulate(seed=11, index=i).image)) for i in range(12)])
    low, high = (np.array(astuple(limit)) for limit in REAL)
    middle = np.median(seen, axis=0)
    assert (low < middle).all()
    assert (middle < high).all()


def test_measures_of_a_known_drawing() -> None:
    image = np.zeros((224, 224))
    image[110:114, 20:200] = 1
    anatomy = measure(image)
    assert anatomy.branches == 1
    assert abs(anatomy.total_length - 180) < 3
    assert anatomy.share == 720 / 224**2
    assert abs(anatomy.tortuosity - 1) < 1e-3
    assert measure(np.zeros((224, 224))) == Anatomy(0.0, 0, 0.0, 0.0, 1.0)


def test_the_table_has_a_row_per_measure() -> None:
    table = compare([simulate(0, 0).image]).splitlines()
    assert [row.split()[0] for row in table[1:]] == list(Anatomy.__dataclass_fields__)
    assert table[1].endswith("0.022 to 0.136")
