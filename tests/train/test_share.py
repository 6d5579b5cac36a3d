from math import sqrt

import numpy as np
import pytest

from ssplain.train.rop import Performance
from ssplain.train.share import mean_share_range, said, share_range


@pytest.mark.parametrize(("right", "total"), [(0, 5), (5, 5), (19, 20), (300, 1000)])
def test_the_interval_is_wilsons(right: int, total: int) -> None:
    z, p = 1.959963985, right / total
    middle = (p + z * z / (2 * total)) / (1 + z * z / total)
    half = z / (1 + z * z / total) * sqrt(p * (1 - p) / total + z * z / (4 * total * total))
    assert share_range(right, total) == pytest.approx((middle - half, middle + half), abs=1e-8)


def test_the_mean_of_shares_is_covered_as_often_as_said() -> None:
    """Drawn a thousand times from known recalls, also where some class is always right."""
    dice = np.random.default_rng(0)
    totals, recalls = [12, 8, 20], np.array([0.9, 1.0, 0.6])
    inside = 0
    for _ in range(1000):
        right = dice.binomial(totals, recalls).tolist()
        low, high = mean_share_range(right, totals)
        inside += low <= float(recalls.mean()) <= high
    assert 0.93 <= inside / 1000 <= 0.99


def test_performance_says_how_little_few_images_say() -> None:
    confusion = np.array([[5, 0, 0], [0, 4, 1], [0, 0, 5]])
    found = Performance(confusion, (1.0, 0.8, 1.0), 14 / 15, (1.0, 1.0, 1.0), ())
    low, high = mean_share_range([5, 4, 5], [5, 5, 5])
    assert f"balanced accuracy {said(14 / 15, (low, high), 15)}" in str(found)
    assert high - low > 0.2
