import numpy as np
import pytest
import torch
from sklearn.metrics import average_precision_score

from ssplain.errors import SSplainError
from ssplain.metrics.localisation import localise


def test_by_hand() -> None:
    X = torch.tensor([[[[1.0, 1.0, 1.0, 1.0, 1.0, 0.0]]]])
    truth = torch.tensor([[[[0.0, 0.3, 0.0, 0.9, 0.0, 1.0]]]])  # the last is outside the support
    M = torch.tensor([[[[1.0, 2.0, 4.0, 5.0, 3.0, 9.0]]]])
    found = localise(X, M, truth, share=0.4)
    assert found.observed.precision.item() == 0.5
    assert found.observed.recall.item() == 0.5
    assert found.observed.pointing.item() == 1.0
    assert found.observed.average_precision.item() == pytest.approx((1 / 1 + 2 / 4) / 2)
    assert found.random.precision.item() == found.random.pointing.item() == 0.4
    assert found.random.recall.item() == 0.4


def test_average_precision_is_scikit_learns() -> None:
    generator = torch.Generator().manual_seed(0)
    X = (torch.rand(5, 1, 12, 12, generator=generator) > 0.3).float()
    M = torch.randn(5, 1, 12, 12, generator=generator)
    truth = torch.rand(5, 1, 12, 12, generator=generator) > 0.8
    found = localise(X, M, truth.float())
    for i in range(5):
        inside = X[i] > 0
        expected = average_precision_score(truth[i][inside], M[i][inside])
        assert found.observed.average_precision[i].item() == pytest.approx(expected)


def test_random_scores_are_the_means_of_random_maps() -> None:
    X, truth = torch.ones(1, 1, 3, 3), torch.zeros(1, 1, 3, 3)
    truth[..., 0, :2] = 1
    draws = torch.rand(4000, 1, 3, 3, generator=torch.Generator().manual_seed(0))
    found = localise(X.expand_as(draws), draws, truth.expand_as(draws), share=1 / 3)
    for name, mean in found.observed.mean().items():
        assert mean == pytest.approx(float(getattr(found.random, name)[0]), abs=0.02)


def test_a_single_pixel_is_found_for_certain() -> None:
    one = torch.ones(1, 1, 1, 1)
    found = localise(one, one, one)
    assert found.observed.mean() == found.random.mean() == dict.fromkeys(found.random.mean(), 1.0)


def test_healthy_images_have_no_score() -> None:
    X = torch.ones(3, 1, 2, 2)
    truth = torch.zeros(3, 1, 2, 2)
    truth[1:, :, 0] = 1
    M = torch.tensor([[4.0, 3.0], [2.0, 1.0]]).expand(3, 1, 2, 2) * torch.tensor(
        [1.0, 1.0, -1.0]
    ).view(3, 1, 1, 1)
    found = localise(X, M, truth, share=0.5).observed
    assert np.isnan(found.precision[0].item())
    assert found.mean()["precision"] == 0.5
    assert found.precision[1:].tolist() == [1.0, 0.0]
    assert found.average_precision[2].item() == pytest.approx((1 / 3 + 2 / 4) / 2)


def test_mistakes_are_named() -> None:
    X = torch.ones(1, 1, 2, 2)
    with pytest.raises(SSplainError, match=r"share=0"):
        localise(X, X, X, share=0)
    with pytest.raises(SSplainError, match="The truth has shape"):
        localise(X, X, X[0])
    with pytest.raises(SSplainError, match="NaN"):
        localise(X, X * torch.nan, X)
