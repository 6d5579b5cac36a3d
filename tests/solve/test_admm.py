from typing import ClassVar

import pytest
import torch
from torch import Tensor

from ssplain.errors import SSplainError
from ssplain.solve import ADMM, Box, Constraint, L0Ball, L1Ball, Term, TotalVariation
from ssplain.solve.adam import Adam


class Distance(Term):
    """Half the squared distance to a given mask per image; counts how many rows it sees."""

    name: ClassVar[str] = "distance"

    def __init__(self, goal: Tensor, seen: list[int] | None = None) -> None:
        self.goal, self.seen = goal, [] if seen is None else seen

    def value(self, masks: Tensor) -> Tensor:
        self.seen.append(len(masks))
        return (masks - self.goal).square().flatten(1).sum(1) / 2

    def take(self, rows: Tensor) -> "Distance":
        return Distance(self.goal[rows], self.seen)


GOAL = torch.tensor([[1.7, 0.9, -0.4, 0.2], [0.1, 0.6, 0.7, 0.8]]).view(2, 1, 2, 2)
EVERYWHERE = torch.ones(2, 1, 2, 2, dtype=torch.bool)


def test_adam_is_that_of_pytorch() -> None:
    generator = torch.Generator().manual_seed(0)
    ours = torch.rand(3, 5, generator=generator)
    theirs = ours.clone().requires_grad_()
    optimiser = torch.optim.Adam([theirs], lr=0.07)
    adam = Adam.zeros_like(ours, lr=0.07)
    for _ in range(30):
        gradient = torch.randn(3, 5, generator=generator) * 10.0 ** torch.randint(-6, 3, (3, 5))
        theirs.grad = gradient.clone()
        optimiser.step()
        adam.step(ours, gradient)
    torch.testing.assert_close(ours, theirs.detach(), rtol=1e-6, atol=1e-7)


def test_pooled_adam_moves_weak_pixels_less() -> None:
    """With full pooling a step is in proportion to the gradient, whatever its scale."""
    gradient = torch.tensor([[4.0, -2.0, 0.0, 0.0], [4e-6, -2e-6, 0.0, 0.0]])
    moved = torch.zeros(2, 4)
    adam = Adam.zeros_like(moved, lr=0.1, pooling=1.0)
    adam.step(moved, gradient, pixels=torch.tensor([2.0, 2.0]))
    expected = -0.1 * torch.tensor([4.0, -2.0, 0, 0]) / 10**0.5  # root mean square of the two
    torch.testing.assert_close(moved, expected.expand(2, -1), rtol=1e-2, atol=0)
    half = torch.zeros(2, 4)
    Adam.zeros_like(half, lr=0.1, pooling=0.5).step(half, gradient, torch.tensor([2.0, 2.0]))
    torch.testing.assert_close(half[0, 0], torch.tensor(-0.1 * 4 / 13**0.5))


def test_a_term_may_change_with_the_iteration() -> None:
    class Turning(Distance):
        name = "turning"

        def at(self, iteration: int) -> Term:
            return Distance(self.goal if iteration < 2 else -self.goal, self.seen)

    start = torch.zeros(2, 1, 2, 2)
    turned = ADMM(iterations=4).solve(start, [Turning(GOAL)], []).history.terms["turning"]
    straight = ADMM(iterations=4).solve(start, [Distance(GOAL)], []).history.terms["distance"]
    assert torch.equal(turned[:, :2], straight[:, :2])
    assert bool((turned[:, 2] > straight[:, 2]).all())


def test_converges_to_the_projection_with_the_textbook_dual_step() -> None:
    """The nearest feasible point to a goal is known exactly; ADMM must find it."""
    k = torch.tensor([2, 3])
    solver = ADMM(rho=1.0, lr=0.01, iterations=150, dual_step=1.0, inner_steps=60)
    ball = L0Ball(k, EVERYWHERE)
    solution = solver.solve(torch.zeros(2, 1, 2, 2), [Distance(GOAL)], [ball, Box(EVERYWHERE)])
    expected = torch.tensor([[1.0, 0.9, 0.0, 0.0], [0.0, 0.6, 0.7, 0.8]]).view(2, 1, 2, 2)
    torch.testing.assert_close(solution.masks, expected, rtol=0, atol=0.02)
    primal = solution.history.primal
    assert bool((primal[:, -1] < 0.2 * primal.amax(1)).all())


def test_history_holds_each_term_where_the_iteration_set_out() -> None:
    start = torch.full((2, 1, 2, 2), 0.3)
    terms = [Distance(GOAL), TotalVariation(0.1)]
    solver = ADMM(iterations=4)
    history = solver.solve(start, terms, [Box(EVERYWHERE)]).history
    torch.testing.assert_close(history.terms["distance"][:, 0], terms[0].value(start))
    assert history.terms["total_variation"][:, 0].tolist() == [0.0, 0.0]
    after_one = ADMM(iterations=1).solve(start, terms, [Box(EVERYWHERE)]).masks
    torch.testing.assert_close(history.terms["distance"][:, 1], terms[0].value(after_one))
    torch.testing.assert_close(history.terms["total_variation"][:, 1], terms[1].value(after_one))
    assert history.iterations.tolist() == [4, 4]


def test_residuals_are_those_of_the_definition() -> None:
    start = torch.full((2, 1, 2, 2), 0.9)
    box = Box(EVERYWHERE)
    one = ADMM(iterations=1, rho=0.5, lr=0.3).solve(start, [Distance(GOAL * 2)], [box])
    copies = one.masks.clamp(0, 1)
    expected = ((one.masks - copies).square().flatten(1).sum(1) / 4).sqrt()
    torch.testing.assert_close(one.history.primal[:, 0], expected)
    moved = ((copies - start).square().flatten(1).sum(1) / 4).sqrt() * 0.5
    torch.testing.assert_close(one.history.dual[:, 0], moved)


def test_finished_images_leave_the_batch_and_keep_their_result() -> None:
    easy = torch.cat([torch.full((1, 1, 2, 2), 0.5), GOAL[:1]])
    start = torch.full((2, 1, 2, 2), 0.5)
    solver = ADMM(rho=1.0, lr=0.01, iterations=40, dual_step=1.0, tolerance=1e-3)
    distance = Distance(easy)
    both = solver.solve(start, [distance], [Box(EVERYWHERE)])
    assert both.history.iterations.tolist()[0] < 5
    assert both.history.iterations.tolist()[1] > 20
    assert distance.seen.count(2) == both.history.iterations.tolist()[0]
    assert bool(torch.isnan(both.history.primal[0, 5:]).all())
    for i in range(2):
        alone = solver.solve(
            start[i : i + 1], [Distance(easy[i : i + 1])], [Box(EVERYWHERE[i : i + 1])]
        )
        assert torch.equal(alone.masks[0], both.masks[i])


@pytest.mark.parametrize("make", [L0Ball, L1Ball])
def test_constraints_of_some_images(make: type[L0Ball] | type[L1Ball]) -> None:
    support = torch.tensor([[1, 1, 0, 1], [0, 1, 1, 1]]).bool().view(2, 1, 2, 2)
    ball = make(torch.tensor([1, 2]), support)
    second = ball.take(torch.tensor([1]))
    assert torch.equal(second.project(GOAL[1:]), ball.project(GOAL)[1:])
    assert torch.equal(second.project_with_box(GOAL[1:]), ball.project_with_box(GOAL)[1:])


def test_l1_radius_is_the_sum_of_the_largest_values() -> None:
    ball = L1Ball(torch.tensor([2, 3]), EVERYWHERE)
    torch.testing.assert_close(ball.radius(GOAL), torch.tensor([2.6, 2.1]))
    negative = L1Ball(torch.tensor([1, 1]), EVERYWHERE)
    assert negative.project(-GOAL.abs()).abs().sum() == 0


def test_inner_steps_and_dual_step_matter() -> None:
    start = torch.zeros(2, 1, 2, 2)

    def run(**options: float) -> Tensor:
        solver = ADMM(iterations=5, rho=0.1, **options)  # type: ignore[arg-type]
        return solver.solve(start, [Distance(GOAL)], [Box(EVERYWHERE)]).masks

    assert torch.equal(run(dual_step=0.1), run())
    assert not torch.allclose(run(dual_step=1.0), run())
    assert not torch.allclose(run(inner_steps=2), run())


def test_pixels_that_are_not_free_stay() -> None:
    free = torch.tensor([True, False, True, False]).view(1, 1, 2, 2).expand(2, -1, -1, -1)
    start = torch.full((2, 1, 2, 2), 0.25)
    masks = ADMM(iterations=5).solve(start, [Distance(GOAL)], [Box(EVERYWHERE)], free).masks
    assert bool((masks[~free] == 0.25).all())
    assert bool((masks[free] != 0.25).all())


def test_a_projection_that_returns_its_argument_does_no_harm() -> None:
    class Anything(Constraint):
        name = "anything"

        def project(self, masks: Tensor) -> Tensor:
            return masks

    start = torch.full((2, 1, 2, 2), 0.25)
    free = ADMM(iterations=9).solve(start, [Distance(GOAL)], [Anything()]).masks
    none = ADMM(iterations=9).solve(start, [Distance(GOAL)], []).masks
    torch.testing.assert_close(free, none)
    assert bool((start == 0.25).all())


def test_non_finite_term_names_image_and_iteration() -> None:
    class Broken(Term):
        name = "broken"

        def value(self, masks: Tensor) -> Tensor:
            return masks.sum((1, 2, 3)) / torch.tensor([1.0, 0.0])

    with pytest.raises(SSplainError, match="'broken' is not finite for image 1 in iteration 1"):
        ADMM().solve(torch.ones(2, 1, 2, 2), [Broken()], [])


def test_term_without_gradient_is_named() -> None:
    class Constant(Term):
        name = "constant"

        def value(self, masks: Tensor) -> Tensor:
            return torch.zeros(len(masks))

    with pytest.raises(SSplainError, match="'constant' has no gradient"):
        ADMM().solve(torch.ones(1, 1, 2, 2), [Constant()], [])
