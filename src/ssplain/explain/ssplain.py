"""SSplain, the sparse and smooth explainer."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import torch
from captum.attr import PerturbationAttribution
from torch import Tensor

from ssplain.errors import SSplainError
from ssplain.explain.checks import require as _require
from ssplain.explain.inputs import (
    Start,
    Support,
    as_batch,
    find_support,
    pixel_budget,
    start_mask,
    tie_order,
)
from ssplain.explain.protocol import ChannelRule, Progress, over_channels
from ssplain.explain.result import Explanation
from ssplain.explain.targets import ClassLoss, Target, resolve_target
from ssplain.models.adapter import Classifier, OutputKind, OutputSelector, frozen, home_of
from ssplain.models.batching import fitting_batch, run_in_batches
from ssplain.models.fingerprint import fingerprint
from ssplain.solve import ADMM, Box, Constraint, History, L0Ball, L1Ball, Term, TotalVariation


class SSplain(PerturbationAttribution):  # type: ignore[misc]
    r"""Finds the few, connected pixels that a classifier's decision rests on.

    For each image X with target y it looks for a mask M on the support of X that minimises

    \[ l(f(X \odot M), y) + \lambda \nu(M) \quad \text{s.t.} \quad M \in S_1,\ M \in S_2 \]

    where \(\nu\) is total variation, \(S_1\) the masks within the sparsity budget (l0 or l1
    norm) and \(S_2\) those with values in [0, 1], by ADMM (Sunger et al., SSplain: Sparse and
    Smooth Explainer for Retinopathy of Prematurity Classification, WACV 2026, Algorithm 1).

    No hooks are used, so any differentiable model works, whatever its activations; its flags and
    weights come back as they were.

    Args:
        model: a module or function of `(N, C, H, W)`.
        budget: alpha as a share of the support, in (0, 1]; 1 switches sparsity off.
        norm: "l0" (hard budget) or "l1".
        tv_weight: lambda, the weight of total variation.
        rho: penalty of the ADMM.
        lr: learning rate of Adam.
        iterations: K.
        start: "intensity", "minmax", "ones", "random", or a tensor.
        support: "nonzero", "otsu", a threshold, a tensor, a function of the images, or None.
        dual_step: step of the dual update; None takes rho as printed in the paper, 1 is the
            textbook's.
        inner_steps: Adam steps per iteration.
        tolerance: stop an image when its residuals are at most this; None runs all iterations.
        constraints: further constraints, beside S1 and S2.
        terms: further objective terms.
        output: which part of the model's output holds the class values (index, key or function).
        output_kind: "logits", "probs" or "auto".
        channels: the channels that the model takes, if its first convolution does not tell.
        batch_size: images at a time; bounds the memory, does not change the result.
        seed: for start="random".

    >>> import ssplain
    >>> model = ssplain.models.load("lenet5-mnist")
    >>> images, labels = ssplain.data.bundled("mnist")
    >>> explainer = SSplain(model, **ssplain.preset("mnist"))
    >>> explainer.attribute(images[:2], target=labels[:2]).shape
    torch.Size([2, 1, 28, 28])
    >>> result = explainer.explain(images[:2])
    >>> bool((result.kept_share <= 0.25).all())
    True
    """

    def __init__(
        self,
        model: Callable[..., Any],
        *,
        budget: float = 0.25,
        norm: Literal["l0", "l1"] = "l0",
        tv_weight: float = 1e-3,
        rho: float = 0.01,
        lr: float = 0.1,
        iterations: int = 20,
        start: Start = "intensity",
        support: Support = "nonzero",
        dual_step: float | None = None,
        inner_steps: int = 1,
        tolerance: float | None = None,
        constraints: Sequence[Constraint] = (),
        terms: Sequence[Term] = (),
        output: OutputSelector = None,
        output_kind: OutputKind = "auto",
        channels: int | None = None,
        batch_size: int | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__(model)
        if norm not in ("l0", "l1"):
            raise SSplainError(f"norm={norm!r} is not known; use 'l0' or 'l1'.")
        _require("tv_weight", tv_weight, least=0)
        _require("rho", rho, least=0)
        _require("lr", lr, above=0)
        _require("iterations", iterations, least=1, whole=True)
        _require("inner_steps", inner_steps, least=1, whole=True)
        if dual_step is not None:
            _require("dual_step", dual_step, least=0)
        if tolerance is not None:
            _require("tolerance", tolerance, least=0)
        if batch_size is not None:
            _require("batch_size", batch_size, least=1, whole=True)
        pixel_budget(torch.ones(1, 1, 1, 1, dtype=torch.bool), budget)
        self.classifier = Classifier(model, output, output_kind, channels)
        self.budget, self.norm, self.tv_weight = budget, norm, tv_weight
        self.start, self.support, self.seed = start, support, seed
        self.constraints, self.terms = tuple(constraints), tuple(terms)
        self.batch_size = batch_size
        self.solver = ADMM(rho, lr, iterations, dual_step, inner_steps, tolerance)

    def attribute(
        self,
        inputs: Tensor,
        target: Target = None,
        *,
        over: ChannelRule = "max",
        progress: Progress | None = None,
    ) -> Tensor:
        """Return the scores `(N, 1, H, W)`; Captum's call.

        Args:
            inputs: `(H, W)`, `(C, H, W)` or `(N, C, H, W)`.
            target: the explained classes; see `explain`.
            over: as for the other explainers; here all channels share one mask, so it changes
                nothing.
            progress: as for `explain`.
        """
        return over_channels(self.explain(inputs, target, progress).scores, over)

    def explain(
        self, images: Tensor, target: Target = None, progress: Progress | None = None
    ) -> Explanation:
        """Explain a batch of images.

        Args:
            images: `(H, W)`, `(C, H, W)` or `(N, C, H, W)`.
            target: the explained classes: one for all images, one for each, None for the
                predicted ones, or "posterior" for the expected loss under the class posterior.
            progress: called with the iterations done and to do, summed over the images.
        """
        given = as_batch(images)
        batch = given.to(**home_of(self.classifier.model, given))
        support = find_support(batch, self.support)
        start = start_mask(batch, support, self.start, self.seed)
        size = self.batch_size or fitting_batch(*batch.shape[-2:])
        with frozen(self.classifier.model):
            classifier, probabilities = self.classifier.settle(batch, size)
            classes, weights = resolve_target(target, probabilities)
            loss = ClassLoss(classifier, batch, weights)

            def work(rows: slice) -> tuple[Tensor, Tensor, History]:
                report = _Count(rows, len(batch), self.solver.iterations, progress)
                return self._solve(loss, support, start, rows, report)

            parts = run_in_batches(work, len(batch), size)
        back = given.device
        return Explanation(
            images=given,
            support=support.to(back),
            scores=torch.cat([scores for scores, _, _ in parts]).to(back),
            mask=torch.cat([mask for _, mask, _ in parts]).to(back),
            target=classes.to(back),
            probabilities=probabilities.to(back),
            history=History.cat([history for _, _, history in parts]).to(back),
            settings=self.settings() | {"target": _describe_target(target)},
        )

    def _solve(
        self, loss: ClassLoss, support: Tensor, start: Tensor, rows: slice, report: "_Count"
    ) -> tuple[Tensor, Tensor, History]:
        """Solve one batch; return scores, mask and history."""
        index = torch.arange(rows.start, rows.stop, device=support.device)
        inside, images = support[rows], loss.images[rows]
        budget = pixel_budget(inside, self.budget)
        ball = (
            L0Ball(budget, inside, tie_order(images))
            if self.norm == "l0"
            else L1Ball(budget, inside)
        )
        solution = self.solver.solve(
            start[rows],
            [t.take(index) for t in (loss, TotalVariation(self.tv_weight), *self.terms)],
            [ball, Box(inside), *(c.take(index) for c in self.constraints)],
            free=None if self.support is None else inside,
            progress=report,
        )
        mask = ball.project_with_box(solution.masks)
        return _outside_last(solution.masks, inside), mask, solution.history

    def settings(self) -> dict[str, Any]:
        """Return all settings, ready for JSON."""
        solver = self.solver
        return {
            "explainer": f"ssplain-{self.norm[1]}",
            "budget": self.budget,
            "norm": self.norm,
            "tv_weight": self.tv_weight,
            "rho": solver.rho,
            "lr": solver.lr,
            "iterations": solver.iterations,
            "start": _describe(self.start),
            "support": _describe(self.support),
            "dual_step": solver.rho if solver.dual_step is None else solver.dual_step,
            "inner_steps": solver.inner_steps,
            "tolerance": solver.tolerance,
            "constraints": [c.name for c in self.constraints],
            "terms": [t.name for t in self.terms],
            "output": _describe(self.classifier.output),
            "output_kind": self.classifier.output_kind,
            "seed": self.seed,
            "model": fingerprint(self.classifier.model),
        }


class _Count:
    """Turns the iterations of one batch into iterations done over all images."""

    def __init__(
        self, rows: slice, images: int, iterations: int, progress: Progress | None
    ) -> None:
        self.before, self.images = rows.start * iterations, rows.stop - rows.start
        self.total, self.progress = images * iterations, progress

    def __call__(self, iteration: int) -> None:
        if self.progress is not None:
            self.progress(self.before + iteration * self.images, self.total)


def _outside_last(masks: Tensor, support: Tensor) -> Tensor:
    """Give what lies outside the support a value below all inside it; zero if that is enough."""
    lowest = masks.masked_fill(~support, torch.inf).amin((1, 2, 3), keepdim=True)
    below = torch.nextafter(lowest, torch.full_like(lowest, -torch.inf)).clamp(max=0.0)
    return torch.where(support, masks, below)


def _describe(setting: object) -> object:
    """Return a setting in a form that JSON can hold."""
    if isinstance(setting, Tensor):
        return f"tensor {tuple(setting.shape)}"
    if callable(setting):
        return f"function {getattr(setting, '__qualname__', type(setting).__qualname__)}"
    return setting


def _describe_target(target: Target) -> str:
    if target is None:
        return "predicted"
    return "posterior" if isinstance(target, str) else "given"
