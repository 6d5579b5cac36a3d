import numpy as np
import pytest
import torch

from ssplain.errors import SSplainError
from ssplain.metrics.sparsity import gini, kappa, roughness


def test_kappa_by_hand() -> None:
    X = torch.tensor([[[[0.0, 1.0, 2.0, 1.0]]]])
    background_first = torch.tensor([[[[9.0, 3.0, 1.0, 2.0]]]])
    assert kappa(X, background_first, points=5).tolist() == [[0, 0, 0.25, 0.5, 1]]
    assert kappa(X, X, points=3).tolist()[0][1] == 0.75
    assert kappa(X, background_first, points=4, axis="support").tolist() == [[0, 0.25, 0.5, 1]]


def test_kappa_on_its_own_axis_never_falls_below_it() -> None:
    generator = torch.Generator().manual_seed(0)
    X = torch.rand(5, 3, 6, 6, generator=generator)
    M = torch.randn(5, 1, 6, 6, generator=generator)
    found = kappa(X, M, axis="kappa", points=11)
    grid = torch.linspace(0, 1, 11, dtype=torch.float64)
    assert bool((found >= grid - 1e-9).all())
    brightest = X.abs().sum(1).flatten(1).amax(1) / X.abs().sum((1, 2, 3))
    assert bool((found - grid <= brightest[:, None] + 1e-6).all())


def test_gini_is_the_mean_difference() -> None:
    """Textbook form: the mean absolute difference of two draws over twice the mean."""
    values = np.abs(np.random.default_rng(0).normal(size=(3, 40)))
    apart = np.abs(values[:, :, None] - values[:, None]).mean((1, 2)) / (2 * values.mean(1))
    np.testing.assert_allclose(gini(torch.from_numpy(-values)), apart, rtol=1e-12)


def test_gini_inside_is_that_of_the_inside_alone() -> None:
    values = torch.rand(2, 1, 5, 5, generator=torch.Generator().manual_seed(0))
    inside = torch.rand(2, 1, 5, 5, generator=torch.Generator().manual_seed(1)) > 0.4
    expected = [float(gini(v[i][None])) for v, i in zip(values, inside, strict=True)]
    assert gini(values, inside).tolist() == pytest.approx(expected)


def test_flat_maps_are_even_and_smooth() -> None:
    for flat in (torch.zeros(2, 1, 4, 4), torch.full((2, 1, 4, 4), -3.0)):
        assert gini(flat).tolist() == [0.0, 0.0]
        assert roughness(flat).tolist() == [0.0, 0.0]


def test_roughness_ignores_units_and_orders_maps() -> None:
    board = (torch.arange(8)[:, None] + torch.arange(8)) % 2.0
    halves = (torch.arange(8)[:, None] < 4).double().expand(8, 8)
    rough, smooth = roughness(torch.stack([board, halves])[:, None]).tolist()
    assert rough == pytest.approx(112 / 64)
    assert smooth == pytest.approx(8 / 64)
    scaled = roughness(torch.stack([board * 50 - 7, halves])[:, None])
    assert scaled.tolist() == pytest.approx([rough, smooth])


def test_nan_is_refused() -> None:
    for measure in (gini, roughness):
        with pytest.raises(SSplainError, match="NaN"):
            measure(torch.full((1, 1, 2, 2), torch.nan))
