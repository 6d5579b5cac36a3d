"""The sanity check: does a map change when the network forgets what it has learnt?

Reference: Adebayo et al., Sanity checks for saliency maps, NeurIPS 2018. A map that stays the same
cannot be about the network. The reverse does not hold: noise passes too (Binder et al., CVPR 2023),
so the check may reject an explainer but not rank several.

A mask that is optimised from a start M0 resembles it for reasons of its own, and so do two such
masks each other. If they have moved little, M is alike for that reason; if they have moved far, the
changes M - M0 are, as both hold -M0. So both are given, with the likeness of each mask to its
start, and the partial correlation that holds M0 fixed, which is about the network in either case.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Unpack

import torch
from torch import Tensor, nn

from ssplain.ask.adapter import home_of
from ssplain.ask.batching import as_batch
from ssplain.ask.door import ModelOptions
from ssplain.errors import SSplainError
from ssplain.metrics.agreement import hog_correlation, spearman, ssim
from ssplain.metrics.order import check_maps
from ssplain.metrics.randomise import Mode, stages
from ssplain.question.inputs import Support, find_support

Measure = Callable[[Tensor, Tensor, Tensor], Tensor]

MEASURES: dict[str, Measure] = {
    "spearman": spearman,
    "spearman-absolute": lambda a, b, inside: spearman(a, b, inside, absolute=True),
    "ssim": ssim,
    "hog": hog_correlation,
}


@dataclass(frozen=True, eq=False)
class Sanity:
    """The maps of a network that forgets, for T stages, R seeds and N images.

    Attributes:
        stages: the blocks that were randomised, in turn; the first stage is "trained".
        likeness: by measure, `(T, R, N)`: of each map to the trained network's.
        change_likeness: the same for M - M0; empty if no start was given.
        start_likeness: `(T, R, N)` rank correlation of each map with M0; None without a start.
        logit_variance: `(T, R)`; near zero means that a network no longer looks at its input.
        images: `(N, C, H, W)`.
        inside: `(N, 1, H, W)` boolean, the support.
        maps: `(T, N, 1, H, W)` of the first seed.
    """

    stages: tuple[str, ...]
    likeness: dict[str, Tensor]
    change_likeness: dict[str, Tensor]
    start_likeness: Tensor | None
    logit_variance: Tensor
    images: Tensor
    inside: Tensor
    maps: Tensor

    @property
    def partial(self) -> Tensor:
        r"""`(T, R, N)` rank correlation with the trained network's map, M0 held fixed.

        \(\frac{r_{ab} - r_{a0} r_{b0}}{\sqrt{(1 - r_{a0}^2)(1 - r_{b0}^2)}}\), Spearman's
        correlations of two maps and the start; 0 where a map has the order of its start.
        """
        if self.start_likeness is None or "spearman" not in self.likeness:
            raise SSplainError(
                "A partial correlation needs start= and the measure 'spearman'; give both."
            )
        both, own = self.likeness["spearman"], self.start_likeness
        trained = own[:1]
        rest = ((1 - own**2) * (1 - trained**2)).clamp(min=0).sqrt()
        return torch.where(rest > 1e-9, (both - own * trained) / rest.clamp(min=1e-9), 0.0)


def sanity_check(
    explain: Callable[[nn.Module, Tensor], Tensor],
    model: nn.Module,
    images: Tensor,
    *,
    start: Tensor | None = None,
    mode: Mode = "cascading",
    seeds: Sequence[int] = (0, 1, 2, 3, 4),
    measures: Sequence[str] = tuple(MEASURES),
    support: Support = "nonzero",
    **options: Unpack[ModelOptions],
) -> Sanity:
    """Compare the maps of a network with those of copies that lose their weights block by block.

    Args:
        explain: returns maps `(N, 1, H, W)` for a network and images; fix the target in it.
        model: the trained network; it stays as it is.
        images: `(N, C, H, W)`; twenty or more.
        start: M0 `(N, 1, H, W)`, where the explainer starts from, if it does.
        mode: "cascading" or "independent"; see `ssplain.metrics.randomise.stages`.
        seeds: of the random weights.
        measures: of likeness, some of "spearman", "spearman-absolute", "ssim" and "hog".
        support: maps are compared on it alone.
        options: how the model is called, as in `SSplain`; see `ssplain.models.ModelOptions`.

    >>> import ssplain
    >>> model = ssplain.models.load("lenet5-mnist")
    >>> images, labels = (part[:5] for part in ssplain.data.bundled("mnist"))
    >>> def explain(model, images):
    ...     return ssplain.SSplain(model, iterations=20).attribute(images, labels)
    >>> found = sanity_check(explain, model, images, seeds=[0], measures=["spearman"])
    >>> found.stages[:2], bool(found.likeness["spearman"][-1].mean() < 0.9)
    (('trained', 'full3'), True)
    """
    given = as_batch(images)
    batch = given.to(**home_of(model, given))
    unknown = [name for name in measures if name not in MEASURES]
    if unknown or not seeds:
        raise SSplainError(
            f"measures={list(measures)!r} and seeds={list(seeds)!r} do not work; give at least one "
            f"seed, and measures out of: {', '.join(MEASURES)}."
        )
    inside = find_support(batch, support)
    origin = None if start is None else check_maps(start, batch)
    runs = []
    for seed in seeds:
        walk = stages(model, batch, mode=mode, seed=seed, **options)
        runs.append(
            [(s.name, check_maps(explain(s.model, batch), batch), s.logit_variance) for s in walk]
        )
    names = tuple(name for name, _, _ in runs[0])
    maps = torch.stack([torch.stack([m for _, m, _ in run]) for run in runs], 1)
    changes = None if origin is None else maps - origin
    return Sanity(
        stages=names,
        likeness={name: _likeness(name, maps, maps[:1], inside) for name in measures},
        change_likeness=(
            {}
            if changes is None
            else {name: _likeness(name, changes, changes[:1], inside) for name in measures}
        ),
        start_likeness=None if origin is None else _likeness("spearman", maps, origin, inside),
        logit_variance=torch.tensor([[v for _, _, v in run] for run in runs]).T,
        images=given,
        inside=inside.to(given.device),
        maps=maps[:, 0].to(given.device),
    )


def _likeness(measure: str, maps: Tensor, others: Tensor, inside: Tensor) -> Tensor:
    """Compare maps `(T, R, N, 1, H, W)` with others that are spread over them; `(T, R, N)`."""
    pairs = zip(maps.flatten(0, 1), others.expand_as(maps).flatten(0, 1), strict=True)
    found = torch.stack([MEASURES[measure](own, other, inside) for own, other in pairs])
    return found.view(maps.shape[:3])
