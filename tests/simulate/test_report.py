"""Simulated images must have numbers that real infant masks have, too."""

import os
from dataclasses import astuple, fields
from pathlib import Path

import numpy as np
import pytest

from ssplain.data.simulated import read_mask
from ssplain.simulate.eye import simulate
from ssplain.simulate.report import Anatomy, anatomy_table, brightness, measure

SHAPES = (
    "share",
    "extent",
    "branches",
    "total_length",
    "branch_length",
    "curvature",
    "arc_over_chord",
)


@pytest.mark.skipif("SSPLAIN_DATA" not in os.environ, reason="SSPLAIN_DATA names no data folder")
def test_simulated_eyes_spread_over_the_range_of_real_ones() -> None:
    """Hand-drawn masks have the shapes of real trees; their widths and light are the pencil's."""
    folder = Path(os.environ["SSPLAIN_DATA"]) / "hvdropdb"
    files = [
        *sorted(folder.glob("retcam_mask/*.png"))[::5],
        *sorted(folder.glob("neo_mask/*"))[::5],
    ]
    real = np.array([astuple(measure(read_mask(path))) for path in files])
    made = np.array([astuple(measure(simulate(seed=11, index=i).image)) for i in range(18)])
    for i, field in enumerate(fields(Anatomy)):
        if field.name in SHAPES:
            low, high = np.percentile(made[:, i], [2, 98])
            assert low < np.median(real[:, i]) < high, field.name


def test_measures_of_a_known_drawing() -> None:
    image = np.zeros((224, 224))
    image[110:114, 20:200] = 0.5
    anatomy = measure(image)
    assert (anatomy.branches, anatomy.light, anatomy.contrast) == (1, 0.5, 0)
    assert abs(anatomy.total_length - 180) < 3
    assert anatomy.share == 720 / 224**2
    assert anatomy.extent == pytest.approx(81, abs=1)
    assert anatomy.calibre == pytest.approx(4, abs=0.3)
    assert abs(anatomy.arc_over_chord - 1) < 1e-2
    assert anatomy.curvature < 1e-3
    assert measure(np.zeros((224, 224))).branches == 0


def test_brightness_is_six_numbers_of_an_image_and_of_its_vessels() -> None:
    image = np.zeros(100)
    image[:10] = np.linspace(0.1, 1, 10)
    assert brightness(image) == pytest.approx((0.055, 0.1, 0.55, 0.2872, 0.55, 0.91), abs=1e-4)
    assert brightness(np.zeros((2, 2))) == (0, 0, 0, 0, 0, 0)


def test_the_table_has_a_row_per_measure_and_a_second_half_for_real_eyes() -> None:
    image = simulate(0, 0).image
    table = anatomy_table([image]).splitlines()
    assert [row.split()[0] for row in table[1:]] == [field.name for field in fields(Anatomy)]
    assert len(table[1].split()) == 4
    both = anatomy_table([image], [image]).splitlines()
    assert both[0].endswith("real")
    assert both[1].split()[1:4] == both[1].split()[4:]
