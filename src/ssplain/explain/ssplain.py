"""SSplain, the sparse and smooth explainer."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Literal, TypeVar, Unpack

import torch
from torch import Tensor

from ssplain.ask.batching import as_batch
from ssplain.ask.context import Images
from ssplain.errors import SSplainError
from ssplain.explain.coarse import coarse_map, fine_then_coarse
from ssplain.explain.joined import joined
from ssplain.explain.objectives import (
    OBJECTIVES,
    ClassLoss,
    Objective,
    RankingLoss,
    RemovalLoss,
    Shares,
    share_schedule,
)
from ssplain.explain.result import Explanation
from ssplain.explain.segments import Segments, find_segments
from ssplain.explain.settings import describe_target, settings_of
from ssplain.explain.solved import Count, Solved
from ssplain.explain.spread import Spread
from ssplain.explain.starts import MODEL_STARTS, asks_model
from ssplain.models.onnx import is_query_only
from ssplain.progress import Progress
from ssplain.question.checks import require as _require
from ssplain.question.inputs import (
    Start,
    Support,
    find_support,
    pixel_budget,
    start_mask,
    tie_order,
)
from ssplain.question.protocol import Attributor, ExplainerOptions, Question
from ssplain.question.targets import Target
from ssplain.solve import (
    ADMM,
    CONSTRAINTS,
    TERMS,
    Box,
    ByQueries,
    ConstantOn,
    Constraint,
    History,
    L0Ball,
    L1Ball,
    Term,
    TotalVariation,
)

T = TypeVar("T")
# stable=True; settled on digits and garments that no table reports, at no loss of insertion area
WIDTH, SMOOTH = 0.01, 0.2
QUERIES = 50  # measured on 60 digits: maps as good as with the exact gradient


class SSplain(Attributor):
    r"""Finds the few, connected pixels that a classifier's decision rests on.

    For each image X with target y it looks for a mask M on the support of X that minimises

    \[ l(f(X \odot M), y) + \lambda \nu(M) \quad \text{s.t.} \quad M \in S_1,\ M \in S_2 \]

    where \(\nu\) is total variation, \(S_1\) the masks within the sparsity budget (l0 or l1
    norm) and \(S_2\) those with values in [0, 1], by ADMM (Sunger et al., SSplain: Sparse and
    Smooth Explainer for Retinopathy of Prematurity Classification, WACV 2026, Algorithm 1).

    Other objectives than the paper's first term are in `ssplain.explain.objectives`.

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
        start: "intensity", "minmax", "ones", "random", "gradient" (the intensity tilted by one
            gradient of the model), "sensitivity" (the size of that gradient, blurred), or a tensor;
            a model without gradient starts at the intensity instead of the last two.
        support: "nonzero", "otsu", a threshold, a tensor, a function of the images, or None.
        dual_step: step of the dual update; None takes rho as printed in the paper, 1 is the
            textbook's.
        inner_steps: Adam steps per iteration.
        tolerance: stop an image when its residuals are at most this; None runs all iterations.
        objective: "preserve" (the paper's), "delete", "dual" or "ranking".
        tv_over: "grid" takes total variation over all neighbours, "support" over those that both
            lie in the support.
        shares: for "ranking", at which shares of the support the ranking is looked at: "spread",
            "random" (by the `seed`), or a list.
        softness: for "ranking", how softly the mask is cut at a share.
        spread: over how many pixels of the support gradients are averaged (see
            `ssplain.explain.spread`); 0 is not at all, as with segments, which are averaged anyway.
        coarse: for "ranking", passes of the model for a coarse map that helps to order the pixels
            after the first (see `ssplain.explain.coarse`). 0 is without, and so are
            segments and models that have no gradient.
        joining: for "ranking", by how much of the order a pixel may come earlier for being
            connected with what comes before it (see `ssplain.explain.joined`); 0 is not at all, as
            with segments.
        pooling: 0 is Adam; up to 1 lets pixels with weak gradients move less (see `ADMM`).
        stable: whether equal pixels share the budget and total variation is smooth, so that
            rounding does not turn the maps; the paper's algorithm is without.
        segments: one score for each part of the image instead of one for each pixel: "vessels" (the
            branches of the vessel tree), "superpixels", whole numbers, or a function that returns
            such (see `ssplain.explain.segments`); None for pixels.
        constraints: further constraints, beside S1 and S2, or their names in `CONSTRAINTS`.
        terms: further objective terms, or their names in `TERMS`.
        queries: pairs of answers from which each gradient is estimated, for models that have none;
            None takes 50 for such a model (ONNX, `QueryOnly`) and the exact gradient for others.
            An image then costs iterations * inner_steps * (2 * queries + 1) answers.
        options: as for every explainer (`Attributor`): `output`, `output_kind`, `channels`,
            `batch_size`, `image_convolution`, `fill`, and `seed` for start="random".

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

    per_channel: ClassVar[bool] = False  # all channels share one mask
    follows_bits: ClassVar[bool] = True  # Adam follows the sign of the smallest gradient

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
        objective: Objective = "preserve",
        tv_over: Literal["grid", "support"] = "grid",
        shares: Shares = "spread",
        softness: float = 0.1,
        spread: float = 0.0,
        coarse: int = 0,
        joining: float = 0.0,
        pooling: float = 0.0,
        stable: bool = False,
        segments: Segments | None = None,
        constraints: Sequence[Constraint | str] = (),
        terms: Sequence[Term | str] = (),
        queries: int | None = None,
        **options: Unpack[ExplainerOptions],
    ) -> None:
        super().__init__(model, **options)
        if norm not in ("l0", "l1"):
            raise SSplainError(f"norm={norm!r} is not known; use 'l0' or 'l1'.")
        if objective not in OBJECTIVES:
            raise SSplainError(
                f"objective={objective!r} is not known; use one of: {', '.join(OBJECTIVES)}."
            )
        if tv_over not in ("grid", "support"):
            raise SSplainError(f"tv_over={tv_over!r} is not known; use 'grid' or 'support'.")
        _require("softness", softness, above=0)
        if not 0 <= pooling <= 1:
            raise SSplainError(f"pooling={pooling!r} does not work; give a number from 0 to 1.")
        if queries is None and is_query_only(model):
            queries = QUERIES
        if queries is not None:
            _require("queries", queries, least=1, whole=True)
            start = "intensity" if asks_model(start) else start
        self.queries = queries
        _require("tv_weight", tv_weight, least=0)
        _require("rho", rho, least=0)
        _require("lr", lr, above=0)
        _require("iterations", iterations, least=1, whole=True)
        _require("inner_steps", inner_steps, least=1, whole=True)
        _require("coarse", coarse, least=0, whole=True)
        _require("spread", spread, least=0)
        _require("joining", joining, least=0)
        if dual_step is not None:
            _require("dual_step", dual_step, least=0)
        if tolerance is not None:
            _require("tolerance", tolerance, least=0)
        pixel_budget(torch.ones(1, 1, 1, 1, dtype=torch.bool), budget)
        self.budget, self.norm, self.tv_weight = budget, norm, tv_weight
        self.start, self.support = start, support
        self.constraints = tuple(
            CONSTRAINTS.find(c) if isinstance(c, str) else c for c in constraints
        )
        self.terms = tuple(TERMS.find(t) if isinstance(t, str) else t for t in terms)
        self.objective, self.tv_over = objective, tv_over
        self.shares, self.softness, self.segments = shares, softness, segments
        self.stable = stable
        whole = objective != "ranking" or segments is not None or queries is not None
        self.coarse, self.spread = 0 if whole else coarse, 0.0 if segments is not None else spread
        self.joining = 0.0 if objective != "ranking" or segments is not None else joining
        self.solver = ADMM(rho, lr, iterations, dual_step, inner_steps, tolerance, pooling)
        self.schedule = share_schedule(shares, iterations, self.seed)

    @property
    def name(self) -> str:
        """What this is called in the registry: "ssplain-0", "ssplain-1" or "ssplain-ranking"."""
        return "ssplain-ranking" if self.objective == "ranking" else f"ssplain-{self.norm[1]}"

    def maps(self, question: Question) -> Tensor:
        """Return the scores `(N, 1, H, W)`: all channels share one mask."""
        support = find_support(question.images, self.support)
        return torch.cat(self._solve(question, support, Solved.scores))

    def masks(self, question: Question) -> Tensor:
        """Return the feasible masks `(N, 1, H, W)`."""
        support = find_support(question.images, self.support)
        return torch.cat(self._solve(question, support, Solved.mask))

    def explain(
        self, images: Images, target: Target = None, progress: Progress | None = None
    ) -> Explanation:
        """Explain a batch of images.

        Args:
            images: `(H, W)`, `(C, H, W)` or `(N, C, H, W)`.
            target: the explained classes: one for all images, one for each, one by the name that
                the model tells, None for the predicted ones, or "posterior" for the expected loss
                under the class posterior.
            progress: called with the iterations done and to do, summed over the images.
        """
        given = as_batch(images)
        with self.ask(given, target, progress) as question:
            support = find_support(question.images, self.support)
            parts = self._solve(question, support, Solved.everything)
        scores, masks, histories = zip(*parts, strict=True)
        back = given.device
        return Explanation(
            images=given,
            support=support.to(back),
            scores=torch.cat(scores).to(back),
            mask=torch.cat(masks).to(back),
            target=question.target.to(back),
            probabilities=question.probabilities.to(back),
            history=History.cat(histories).to(back),
            settings=self.settings()
            | {"target": describe_target(target), "batching": question.batching},
            # noise must not change the question: the class is that of the image without it
            again=partial(
                self.attribute,
                target=target if isinstance(target, str) else question.target.to(back),
            ),
        )

    def _solve(
        self, question: Question, support: Tensor, finish: Callable[["Solved"], T]
    ) -> list[T]:
        """Solve the images a batch at a time, and keep of each batch what `finish` makes of it."""
        images = question.images
        if asks_model(self.start):
            start = MODEL_STARTS[self.start](question, support)
        else:
            start = start_mask(images, support, self.start, self.seed)
        terms = self._terms(question, support)
        rest = coarse_map(question, support, self.coarse) if self.coarse else None
        parts = None
        if self.segments is not None:
            parts = ConstantOn(find_segments(images, support, self.segments))

        def work(rows: slice) -> T:
            index = torch.arange(rows.start, rows.stop, device=support.device)
            inside = support[rows]
            budget = pixel_budget(inside, self.budget)
            ball = (
                L0Ball(budget, inside, tie_order(images[rows]), WIDTH if self.stable else 0.0)
                if self.norm == "l0"
                else L1Ball(budget, inside)
            )
            solution = self.solver.solve(
                start[rows],
                [term.take(index) for term in terms],
                [ball, Box(inside), *(c.take(index) for c in self.constraints)],
                free=None if self.support is None else inside,
                within=None if parts is None else parts.take(index),
                progress=Count(rows, len(images), self.solver.iterations, question.progress),
            )
            order = solution.masks
            if rest is not None:
                order = fine_then_coarse(order, rest[rows], inside)
            if self.joining:
                order = joined(order, inside, self.joining)
            return finish(Solved(replace(solution, masks=order), inside, ball))

        return question.quiet().run(work, len(images))

    def _terms(self, question: Question, support: Tensor) -> list[Term]:
        """Return the objective's terms, smoothness, and the user's own."""
        about = (question.classifier, question.images, question.weights)
        terms: list[Term] = []
        if self.objective in ("preserve", "dual"):
            terms.append(ClassLoss(*about))
        if self.objective in ("delete", "dual"):
            terms.append(RemovalLoss(*about))
        if self.objective == "ranking":
            terms.append(RankingLoss(*about, support, self.schedule, self.softness))
        if self.queries is not None:
            terms = [ByQueries(term, self.queries, seed=self.seed) for term in terms]
        if self.spread:
            terms = [Spread(one, support.to(question.images.dtype), self.spread) for one in terms]
        inside = support if self.tv_over == "support" else None
        return [
            *terms,
            TotalVariation(self.tv_weight, inside, SMOOTH if self.stable else 0.0),
            *self.terms,
        ]

    def settings(self) -> dict[str, Any]:
        """Return all settings, ready for JSON."""
        return settings_of(self)
