"""Properties that every projection must have, then each against its oracle."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given
from torch import Tensor

from ssplain.prox import (
    project_box,
    project_l0,
    project_l0_box,
    project_l1,
    project_l1_box,
    project_support,
)
from tests.prox.oracles import nearest_l0, nearest_l1, nearest_l1_box
from tests.prox.strategies import Case, cases

Projection = Callable[[Case], Tensor]

PROJECTIONS: dict[str, Projection] = {
    "support": lambda c: project_support(c.x, c.support),
    "box": lambda c: project_box(c.x),
    "l0": lambda c: project_l0(c.x, c.k, c.support),
    "l1": lambda c: project_l1(c.x, c.radius, c.support),
    "l0_box": lambda c: project_l0_box(c.x, c.k, c.support),
    "l1_box": lambda c: project_l1_box(c.x, c.radius, c.support),
}


def is_feasible(name: str, m: Tensor, case: Case) -> bool:
    checks = []
    if name != "box":
        checks.append(bool((m[~case.support] == 0).all()))
    if "box" in name:
        checks.append(bool(((m >= 0) & (m <= 1)).all()))
    if "l0" in name:
        checks.append(bool(((m != 0).flatten(1).sum(1) <= case.k).all()))
    if "l1" in name:
        checks.append(bool((m.abs().flatten(1).sum(1) <= case.radius + 1e-9).all()))
    return all(checks)


@pytest.mark.parametrize("name", PROJECTIONS)
@given(case=cases(max_pixels=9))
def test_result_is_feasible(name: str, case: Case) -> None:
    assert is_feasible(name, PROJECTIONS[name](case), case)


@pytest.mark.parametrize("name", PROJECTIONS)
@given(case=cases(max_pixels=9))
def test_projecting_twice_changes_nothing(name: str, case: Case) -> None:
    once = PROJECTIONS[name](case)
    torch.testing.assert_close(PROJECTIONS[name](case._replace(x=once)), once, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", PROJECTIONS)
@given(case=cases(max_pixels=9))
def test_points_inside_stay(name: str, case: Case) -> None:
    if is_feasible(name, case.x, case):
        assert torch.equal(PROJECTIONS[name](case), case.x)


@pytest.mark.parametrize("name", PROJECTIONS)
@given(case=cases(max_pixels=9))
def test_batch_equals_loop(name: str, case: Case) -> None:
    together = PROJECTIONS[name](case)
    for i in range(len(case.x)):
        alone = PROJECTIONS[name](Case(*(part[i : i + 1] for part in case)))
        torch.testing.assert_close(together[i : i + 1], alone, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", PROJECTIONS)
@given(case=cases())
def test_input_is_not_changed(name: str, case: Case) -> None:
    before = case.x.clone()
    PROJECTIONS[name](case)
    assert torch.equal(case.x, before)


@pytest.mark.parametrize("name", ["l0", "l0_box"])
@given(case=cases())
def test_l0_is_as_near_as_the_best_of_all_subsets(name: str, case: Case) -> None:
    distance = (case.x - PROJECTIONS[name](case)).square().flatten(1).sum(1)
    for i, x in enumerate(case.x.flatten(1).numpy()):
        best = nearest_l0(
            x, case.support[i].flatten().numpy(), int(case.k[i]), box=name == "l0_box"
        )
        assert float(distance[i]) == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize(("name", "oracle"), [("l1", nearest_l1), ("l1_box", nearest_l1_box)])
@given(case=cases(max_pixels=9))
def test_l1_agrees_with_root_finding(
    name: str, oracle: Callable[..., np.ndarray], case: Case
) -> None:
    m = PROJECTIONS[name](case).flatten(1).numpy()
    for i, x in enumerate(case.x.flatten(1).numpy()):
        expected = oracle(x, case.support[i].flatten().numpy(), float(case.radius[i]))
        np.testing.assert_allclose(m[i], expected, atol=1e-9)


def test_l1_radius_zero_gives_zero() -> None:
    x = torch.tensor([[1.0, -2.0]])
    assert torch.equal(project_l1(x, torch.tensor([0.0])).abs(), torch.zeros(1, 2))
    assert torch.equal(project_l1_box(x, torch.tensor([0.0])), torch.zeros(1, 2))


def test_l1_outside_lands_on_the_sphere_at_picture_size() -> None:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(2, 1, 224, 224, generator=generator)
    radius = torch.tensor([50.0, 2000.0])
    norm = project_l1(x, radius).abs().flatten(1).sum(1)
    torch.testing.assert_close(norm, radius, rtol=1e-4, atol=0)


def test_equal_values_are_cut_in_row_major_order() -> None:
    x = torch.ones(1, 1, 2, 3)
    kept = project_l0(x, torch.tensor([2]))
    assert kept.flatten().tolist() == [1, 1, 0, 0, 0, 0]


def test_an_image_without_pixels_passes_through() -> None:
    x = torch.zeros(2, 1, 0, 5)
    k, radius = torch.tensor([1, 2]), torch.tensor([1.0, 2.0])
    for projected in (
        project_l0(x, k),
        project_l1(x, radius),
        project_l0_box(x, k),
        project_l1_box(x, radius),
    ):
        assert projected.shape == x.shape
