import numpy as np
import pytest
import torch
from scipy.stats import bootstrap
from sklearn.metrics import balanced_accuracy_score, recall_score

from ssplain.errors import SSplainError
from ssplain.metrics.intervals import area, balanced_mean, class_means, interval, paired


def test_area_by_hand() -> None:
    grid = torch.tensor([0.0, 0.25, 1.0])
    assert area(torch.tensor([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]]), grid).tolist() == [0.875, 0.125]


def test_balanced_mean_is_scikit_learns_balanced_accuracy() -> None:
    rng = np.random.default_rng(0)
    truth = rng.choice([0, 1, 2], size=200, p=[0.7, 0.25, 0.05])
    guess = rng.integers(0, 3, size=200)
    right = torch.from_numpy(truth == guess)
    labels = torch.from_numpy(truth)
    assert float(balanced_mean(right, labels)) == pytest.approx(
        balanced_accuracy_score(truth, guess)
    )
    recalls = recall_score(truth, guess, average=None)
    assert class_means(right, labels)[1].tolist() == pytest.approx(list(recalls))


def test_interval_agrees_with_scipy_for_one_class() -> None:
    values = np.random.default_rng(1).gamma(2.0, size=80)
    ours = interval(torch.from_numpy(values), torch.zeros(80), resamples=20_000)
    theirs = bootstrap(
        (values,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(2)
    ).confidence_interval
    assert ours.value == pytest.approx(values.mean())
    assert ours.low == pytest.approx(theirs.low, abs=0.02)
    assert ours.high == pytest.approx(theirs.high, abs=0.02)


def test_strata_keep_class_differences_out_of_the_interval() -> None:
    """Classes that differ but are constant within leave nothing uncertain."""
    labels = torch.tensor([0] * 30 + [1] * 10)
    values = labels.double()
    assert str(interval(values, labels)) == "0.500 [0.500, 0.500]"
    assert str(interval(values, labels, balanced=False)) == "0.250 [0.250, 0.250]"


def test_classes_of_one_image_do_not_make_an_interval_vanish() -> None:
    values, labels = torch.tensor([0.1, 0.4, 0.9, 0.2]), torch.tensor([0, 1, 2, 0])
    found = interval(values, labels, balanced=False)
    assert found == interval(values, torch.zeros(4), balanced=False)
    assert found.high - found.low > 0.3


def test_pairs_see_a_small_difference_that_the_intervals_cannot() -> None:
    rng = np.random.default_rng(0)
    second = torch.from_numpy(rng.uniform(size=60))
    first = second + torch.from_numpy(rng.normal(0.02, 0.02, size=60))
    labels = torch.arange(60) % 3
    alone_first, alone_second = interval(first, labels), interval(second, labels)
    assert alone_first.low < alone_second.high
    found = paired(first, second, labels)
    assert found.difference.low > 0
    assert found.share_above > 0.99
    assert found.difference.value == pytest.approx(alone_first.value - alone_second.value)
    turned = paired(second, first, labels)
    assert turned.difference.high < 0
    assert turned.share_above < 0.01


def test_the_same_seed_gives_the_same_interval() -> None:
    values, labels = torch.rand(20), torch.arange(20) % 2
    assert interval(values, labels, seed=3) == interval(values, labels, seed=3)
    assert interval(values, labels, seed=3) != interval(values, labels, seed=4)


def test_mistakes_are_named() -> None:
    with pytest.raises(SSplainError, match="one number and one label"):
        interval(torch.zeros(3), torch.zeros(2))
    with pytest.raises(SSplainError, match="one number and one label"):
        interval(torch.zeros(0), torch.zeros(0))
    with pytest.raises(SSplainError, match=r"level=95"):
        interval(torch.zeros(2), torch.zeros(2), level=95)
    with pytest.raises(SSplainError, match="same images"):
        paired(torch.zeros(2), torch.zeros(3), torch.zeros(2))
