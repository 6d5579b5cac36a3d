"""Measured width and curvature rank the vessels of simulated images as they were planted."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from ssplain.vessels import trace
from ssplain.vessels.table import Row, Truth, planted_rows

simulation = pytest.importorskip("ssplain.vessels.simulate")

IMAGES = 100
LONG = 40  # px: of a shorter vessel hardly a bend is left between its junctions and ends


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    """All planted branches that were traced for at least 40 px."""
    found = []
    for index in range(IMAGES):
        fundus = simulation.simulate(seed=0, index=index)
        columns = {
            name: np.array([getattr(branch, name) for branch in fundus.branches])
            for name in ("kind", "width", "curvature")
        }
        found += planted_rows(trace(fundus.image), Truth(fundus.branch_ids, columns))
    return [row for row in found if float(str(row["length_px"])) >= LONG]


def rank_correlation(rows: list[Row], measured: str, planted: str) -> float:
    known = [row for row in rows if row[measured] is not None]
    assert len(known) > 300
    pairs = np.array([(row[measured], row[planted]) for row in known], dtype=float)
    return float(spearmanr(pairs[:, 0], pairs[:, 1]).statistic)


def test_calibre_ranks_planted_width(rows: list[Row]) -> None:
    """Of all vessels: the planted width has the planted dilation in it."""
    assert rank_correlation(rows, "asd_px", "planted_width") >= 0.8


def test_calibre_ranks_the_veins_which_are_the_dilated_ones(rows: list[Row]) -> None:
    veins = [row for row in rows if row["planted_kind"] == "vein"]
    assert rank_correlation(veins, "asd_px", "planted_width") >= 0.8


def test_curvature_ranks_the_arteries_which_are_the_tortuous_ones(rows: list[Row]) -> None:
    arteries = [row for row in rows if row["planted_kind"] == "artery"]
    assert rank_correlation(arteries, "mean_curvature_per_px", "planted_curvature") >= 0.8


def test_curvature_ranks_all_vessels_less_well(rows: list[Row]) -> None:
    """Veins are hardly bent: differences between them drown in the noise of the pixel grid."""
    assert rank_correlation(rows, "mean_curvature_per_px", "planted_curvature") >= 0.6
