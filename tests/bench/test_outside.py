"""Quantus' verdict on maps whose merits are known."""

import numpy as np
import pytest

from ssplain.bench.outside import MEASURES, ranks, scored

pytest.importorskip("quantus", reason="Quantus is not installed", exc_type=ImportError)


def test_quantus_finds_the_gradient_better_than_random_pixels() -> None:
    *each, last = scored("mnist", ["integrated-gradients", "random"], 3)
    ours, random = each
    assert set(MEASURES) <= set(ours)
    assert all(np.isfinite(ours[name]) for name in MEASURES)
    assert ours["pixel-flipping"] < random["pixel-flipping"]
    assert ours["region-perturbation"] > random["region-perturbation"]
    assert ours["sparseness"] > random["sparseness"]
    # the same map whatever the image and the class: as stable and as blind as can be
    assert random["max-sensitivity"] == 0
    assert random["random-logit"] == pytest.approx(1.0)
    places = last["ranks"]
    assert places["Random"]["mean"] == pytest.approx((2 + 2 + 2 + 1 + 2) / 5)


def test_ranks_share_a_place() -> None:
    same = dict.fromkeys(MEASURES, 0.5)
    assert ranks({"a": same, "b": same})["a"].tolist() == [1.5] * 5
