import numpy as np
import torch
from hypothesis import given

from ssplain.prox import total_variation, total_variation_gradient
from tests.prox.strategies import Case, cases


def textbook(mask: np.ndarray) -> float:
    total = 0.0
    rows, columns = mask.shape
    for i in range(rows):
        for j in range(columns):
            if i > 0:
                total += abs(mask[i, j] - mask[i - 1, j])
            if j > 0:
                total += abs(mask[i, j] - mask[i, j - 1])
    return total


@given(cases(max_pixels=9))
def test_value_is_the_double_sum(case: Case) -> None:
    expected = [textbook(mask[0].numpy()) for mask in case.x]
    np.testing.assert_allclose(total_variation(case.x).numpy(), expected, atol=1e-12)


@given(cases(max_pixels=9))
def test_gradient_is_that_of_automatic_differentiation(case: Case) -> None:
    leaf = case.x.clone().requires_grad_()
    (expected,) = torch.autograd.grad(total_variation(leaf).sum(), leaf)
    value, gradient = total_variation_gradient(case.x)
    torch.testing.assert_close(gradient, expected)
    torch.testing.assert_close(value, total_variation(case.x))


def test_constant_mask_has_none() -> None:
    assert total_variation(torch.full((2, 1, 33, 57), 0.7)).tolist() == [0.0, 0.0]


@given(cases(max_pixels=9))
def test_inside_counts_only_neighbours_that_both_are(case: Case) -> None:
    """The textbook's loops again, asking of both neighbours."""
    inside = case.support
    for mask, own, found in zip(case.x, inside, total_variation(case.x, inside), strict=True):
        values, there = mask[0].numpy(), own[0].numpy()
        rows, columns = values.shape
        pairs = [((i, j), (i - 1, j)) for i in range(1, rows) for j in range(columns)]
        pairs += [((i, j), (i, j - 1)) for i in range(rows) for j in range(1, columns)]
        expected = sum(abs(values[a] - values[b]) for a, b in pairs if there[a] and there[b])
        assert abs(float(found) - expected) < 1e-12
    leaf = case.x.clone().requires_grad_()
    (expected_slope,) = torch.autograd.grad(total_variation(leaf, inside).sum(), leaf)
    torch.testing.assert_close(total_variation_gradient(case.x, inside)[1], expected_slope)
