"""ADMM over a batch of masks: state, one iteration, stopping rule."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.linalg import vector_norm

from ssplain.errors import SSplainError
from ssplain.solve.adam import Adam
from ssplain.solve.history import History
from ssplain.solve.problem import Constraint, Term


@dataclass(frozen=True, eq=False)
class Solution:
    """The masks M(K), one per image, and how they came about."""

    masks: Tensor
    history: History


@dataclass(frozen=True)
class ADMM:
    r"""The alternating direction method of multipliers, Algorithm 1 of the paper by default.

    For objective f and sets \(C_i\) with projections \(\Pi_i\), copies \(M_i\) and scaled
    duals \(U_i\), iteration k does

    1. \(M\): `inner_steps` Adam steps, with Adam's memory kept from iteration to iteration, on
       \(f(M) + \frac{\rho}{2} \sum_i \|M - M_i + U_i\|^2\),
    2. \(M_i \leftarrow \Pi_i(M + U_i)\),
    3. \(U_i \leftarrow U_i + \delta (M - M_i)\).

    Attributes:
        rho: the penalty.
        lr: Adam's learning rate.
        iterations: K, or the most that an image may take if `tolerance` is given.
        dual_step: \(\delta\); rho as printed in the paper (eq. 5c) if None. The textbook's scaled
            form (Boyd et al., 2011, section 3.1.1) has 1.
        inner_steps: Adam steps per iteration.
        tolerance: an image stops when its primal and its dual residual (see `History`) are both
            at most this; it then costs no more model time. None runs all iterations.
        pooling: how far Adam scales all pixels of an image alike: 0 is Adam, 1 gives each pixel a
            step in proportion to its own gradient; see `Adam`.

    >>> import ssplain.solve as s
    >>> class Nearest(s.Term):
    ...     name = "distance"
    ...     def value(self, masks):
    ...         return (masks - 3.0).square().flatten(1).sum(1)
    >>> start = torch.zeros(1, 1, 2, 2)
    >>> box = s.Box(torch.ones(1, 1, 2, 2, dtype=torch.bool))
    >>> solver = s.ADMM(rho=2.0, lr=0.05, iterations=100, dual_step=1.0, inner_steps=20)
    >>> solver.solve(start, [Nearest()], [box]).masks.round(decimals=2).unique()
    tensor([1.])
    """

    rho: float = 0.01
    lr: float = 0.1
    iterations: int = 20
    dual_step: float | None = None
    inner_steps: int = 1
    tolerance: float | None = None
    pooling: float = 0.0

    def solve(
        self,
        start: Tensor,
        terms: Sequence[Term],
        constraints: Sequence[Constraint],
        free: Tensor | None = None,
        *,
        within: Constraint | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> Solution:
        """Minimise the sum of the terms under the constraints.

        Args:
            start: `(N, 1, H, W)`, M(0); not changed.
            terms: the objective, summed.
            constraints: the sets, each with a copy and a dual of its own.
            free: boolean like `start`: the pixels that may move; all if None.
            within: a linear space that the masks never leave, such as `ConstantOn`: the start and
                every gradient are projected on it.
            progress: called after each iteration with the number of iterations done.
        """
        state = _State.begin(self, start, terms, constraints, free, within=within)
        for k in range(self.iterations):
            state.iterate(k)
            if progress is not None:
                progress(k + 1)
            if self.tolerance is not None and state.release_finished(k, self.tolerance):
                break
        return state.finish()


@dataclass
class _State:
    """The masks that still move (rows of `masks`) and where they belong in the result (`rows`)."""

    solver: ADMM
    terms: list[Term]
    constraints: list[Constraint]
    masks: Tensor
    copies: list[Tensor]
    duals: list[Tensor]
    free: Tensor | None
    within: Constraint | None
    pixels: Tensor
    adam: Adam
    rows: Tensor
    result: Tensor
    history: History

    @classmethod
    def begin(
        cls,
        solver: ADMM,
        start: Tensor,
        terms: Sequence[Term],
        constraints: Sequence[Constraint],
        free: Tensor | None,
        *,
        within: Constraint | None,
    ) -> "_State":
        masks = start.detach().clone(memory_format=torch.contiguous_format)
        if within is not None:
            masks = within.project(masks)
        moving = None if free is None else free.to(masks.dtype)
        pixels = torch.full_like(masks, 1.0) if moving is None else moving
        return cls(
            solver,
            list(terms),
            list(constraints),
            masks,
            copies=[c.project(masks) for c in constraints],
            duals=[torch.zeros_like(masks) for _ in constraints],
            free=moving,
            within=within,
            pixels=pixels.flatten(1).sum(1).clamp(min=1.0),
            adam=Adam.zeros_like(masks, solver.lr, solver.pooling),
            rows=torch.arange(len(masks), device=masks.device),
            result=masks.clone(),
            history=History.empty(
                [t.name for t in terms], len(masks), solver.iterations, like=masks
            ),
        )

    def iterate(self, k: int) -> None:
        """Do iteration k (from 0) for all images that still move."""
        solver = self.solver
        # sum_i (M - M_i + U_i) = p M + pull, and the second part stays during the inner steps
        pull = torch.zeros_like(self.masks)
        for copy, dual in zip(self.copies, self.duals, strict=True):
            pull.add_(dual).sub_(copy)
        for inner in range(solver.inner_steps):
            gradient = pull.add(self.masks, alpha=len(self.copies)).mul_(solver.rho)
            for term in self.terms:
                values, slope = term.at(k).value_and_gradient(self.masks)
                gradient.add_(slope)
                if inner == 0:
                    self.history.terms[term.name][self.rows, k] = self._finite(values, term, k)
            if self.free is not None:
                gradient.mul_(self.free)
            if self.within is not None:
                gradient = self.within.project(gradient)
            self.adam.step(self.masks, gradient, self.pixels)
        self._update_copies(k)
        self.history.iterations[self.rows] = k + 1

    def _update_copies(self, k: int) -> None:
        solver = self.solver
        step = solver.rho if solver.dual_step is None else solver.dual_step
        primal = torch.zeros_like(self.pixels)
        dual = torch.zeros_like(self.pixels)
        for i, constraint in enumerate(self.constraints):
            before = self.copies[i]
            self.copies[i] = constraint.project(self.masks + self.duals[i])
            gap = self.masks - self.copies[i]
            self.duals[i].add_(gap, alpha=step)
            primal += vector_norm(gap.flatten(1), dim=1).square()
            dual += vector_norm((before - self.copies[i]).flatten(1), dim=1).square()
        self.history.primal[self.rows, k] = (primal / self.pixels).sqrt()
        self.history.dual[self.rows, k] = (dual / self.pixels).sqrt() * solver.rho

    def _finite(self, values: Tensor, term: Term, k: int) -> Tensor:
        bad = ~torch.isfinite(values)
        if bool(bad.any()):
            rows = self.rows[bad].tolist()
            raise SSplainError(
                f"The term {term.name!r} is not finite for image {rows[0]} in iteration {k + 1} "
                f"({len(rows)} of {len(values)} images); check the model on masked images or "
                "use a smaller lr."
            )
        return values

    def release_finished(self, k: int, tolerance: float) -> bool:
        """Take images that have converged out of the batch; tell whether none is left."""
        done = (self.history.primal[self.rows, k] <= tolerance) & (
            self.history.dual[self.rows, k] <= tolerance
        )
        if not bool(done.any()):
            return False
        self.result[self.rows[done]] = self.masks[done]
        keep = (~done).nonzero().squeeze(1)
        self.rows, self.masks = self.rows[keep], self.masks[keep]
        self.copies = [copy[keep] for copy in self.copies]
        self.duals = [dual[keep] for dual in self.duals]
        self.free = None if self.free is None else self.free[keep]
        self.within = None if self.within is None else self.within.take(keep)
        self.pixels = self.pixels[keep]
        self.adam.take(keep)
        self.terms = [term.take(keep) for term in self.terms]
        self.constraints = [constraint.take(keep) for constraint in self.constraints]
        return len(keep) == 0

    def finish(self) -> Solution:
        """Put what still moved into the result."""
        self.result[self.rows] = self.masks
        return Solution(self.result, self.history)
