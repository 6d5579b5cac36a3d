import math

import numpy as np
import pytest

from ssplain.reading.fit import fit, measured, score, simulated
from ssplain.reading.opinion import GRADES, features, grade_of, read_formulas, second_opinion
from ssplain.reading.stability import changes
from ssplain.vessels import trace


def waves(height: float, width: float) -> np.ndarray:
    """Six vessels that wind more or less, and are more or less wide."""
    row, column = np.mgrid[:224, :224]
    image = np.zeros((224, 224))
    for middle in range(20, 224, 36):
        centre = middle + height * np.sin(column / 5)
        slope = np.hypot(1, height / 5 * np.cos(column / 5))
        image[(np.abs(row - centre) < width / 2 * slope) & (column > 9) & (column < 215)] = 1
    return image


def test_more_windings_and_wider_vessels_are_worse() -> None:
    unit = 18.0
    calm, wound, wide = (
        second_opinion(trace(waves(*of)), unit).severity for of in ((1, 2), (6, 2), (1, 4))
    )
    assert calm < wound
    assert calm <= wide
    for formula in read_formulas().values():
        assert all(formula[name] >= 0 for name in ("tortuosity", "curvature", "calibre"))


@pytest.mark.slow
def test_the_formula_that_comes_along_ranks_eyes_it_was_not_fitted_to() -> None:
    rows, labels = measured(simulated(seed=1603, count=24))
    found = score(read_formulas()["segmented"], rows, labels)
    assert found["spearman"] > 0.75
    assert found["balanced_accuracy"] > 0.6


def test_measures_are_in_disc_diameters() -> None:
    tree = trace(waves(5, 3))
    once, twice = features(tree, 18.0), features(tree, 36.0)
    assert twice["tortuosity"] == pytest.approx(2 * once["tortuosity"])
    assert twice["calibre"] == pytest.approx(once["calibre"] / 2)


def test_what_does_not_count_adds_nothing_and_takes_nothing() -> None:
    assert read_formulas()["photograph"]["calibre"] == 0
    parts = second_opinion(trace(waves(5, 3)), 18.0, "photograph").contributions
    assert f"{parts['calibre']:.2f}" == "0.00"


def test_with_nothing_to_measure_there_is_no_opinion() -> None:
    found = second_opinion(trace(np.zeros((40, 40))), 10.0)
    assert found.grade == "unknown"
    assert math.isnan(found.severity)


def test_the_fit_finds_a_formula_that_was_hidden() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(900, 3))
    severity = 5 + rows @ np.array([3.0, 1.0, 0.5])
    labels = np.array([GRADES.index(grade_of(one)) for one in severity])
    formula = fit(rows, labels)
    assert formula["tortuosity"] > formula["curvature"] > formula["calibre"] > 0
    fair = score(formula, rows, labels)
    assert fair["spearman"] > 0.85
    assert score({**formula, "tortuosity": -3.0}, rows, labels)["spearman"] < 0


def test_changes_are_small_and_keep_the_ground_black() -> None:
    image = waves(4, 3).astype(np.float32)
    for name, changed in changes(image).items():
        assert changed.shape == image.shape, name
        assert not np.array_equal(changed, np.zeros_like(image))
        assert (changed == 0).mean() > 0.5
        assert changed.sum() == pytest.approx(image.sum(), rel=0.15)
    photo = np.repeat(image[..., None], 3, axis=2)
    for name, changed in changes(photo).items():
        np.testing.assert_allclose(changed[..., 1], changes(image)[name], atol=1e-6)


def test_no_measure_counts_the_wrong_way_round() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(900, 3))
    severity = 5 + rows @ np.array([3.0, 1.0, -2.0])  # by chance, the wider the better
    labels = np.array([GRADES.index(grade_of(one)) for one in severity])
    formula = fit(rows, labels)
    assert formula["tortuosity"] > formula["curvature"] > formula["calibre"] == 0


def test_what_is_found_in_a_photograph_is_judged_more_mildly() -> None:
    """Vessels that we find are rougher than those that are given: the same windings mean less."""
    tree = trace(waves(1.5, 2))
    given, found = (second_opinion(tree, 18.0, kind) for kind in ("segmented", "photograph"))
    assert found.severity < given.severity
    assert found.measures == given.measures
