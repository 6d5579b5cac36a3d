"""What an explanation says of how it was made: every setting of SSplain, ready for JSON."""

from typing import TYPE_CHECKING, Any

from ssplain.ask.widen import WIDENED, is_narrow
from ssplain.models.fingerprint import fingerprint
from ssplain.question.checks import describe
from ssplain.question.targets import Target

if TYPE_CHECKING:
    from ssplain.explain.ssplain import SSplain


def settings_of(explainer: "SSplain") -> dict[str, Any]:
    """Return all settings of an explainer.

    >>> import torch
    >>> from ssplain import SSplain
    >>> settings_of(SSplain(torch.nn.Flatten()))["explainer"]
    'ssplain-0'
    """
    solver, classifier = explainer.solver, explainer.classifier
    return {
        "explainer": explainer.name,
        "objective": explainer.objective,
        "budget": explainer.budget,
        "norm": explainer.norm,
        "tv_weight": explainer.tv_weight,
        "tv_over": explainer.tv_over,
        "rho": solver.rho,
        "lr": solver.lr,
        "iterations": solver.iterations,
        "start": describe(explainer.start),
        "support": describe(explainer.support),
        "dual_step": solver.rho if solver.dual_step is None else solver.dual_step,
        "inner_steps": solver.inner_steps,
        "tolerance": solver.tolerance,
        "pooling": solver.pooling,
        **_where_set(explainer, "spread"),
        "stable": explainer.stable,
        **(_of_ranking(explainer) if explainer.objective == "ranking" else {}),
        "segments": describe(explainer.segments),
        "constraints": [one.name for one in explainer.constraints],
        "terms": [one.name for one in explainer.terms],
        "output": describe(classifier.output),
        "output_kind": classifier.output_kind,
        "fill": describe(explainer.door.fill),
        "queries": explainer.queries,
        "seed": explainer.seed,
        "model": fingerprint(classifier.model),
        **({"arithmetic": WIDENED} if is_narrow(classifier.model) else {}),
    }


def describe_target(target: Target) -> str:
    """Say which classes are explained.

    >>> describe_target(None), describe_target("posterior"), describe_target(3)
    ('predicted', 'posterior', 'given')
    """
    if target is None:
        return "predicted"
    return "posterior" if isinstance(target, str) and target == "posterior" else "given"


def _of_ranking(explainer: "SSplain") -> dict[str, object]:
    shares = explainer.shares
    return {
        "shares": shares if isinstance(shares, str) else list(explainer.schedule),
        "softness": explainer.softness,
        **_where_set(explainer, "coarse"),
        **_where_set(explainer, "joining"),
    }


def _where_set(explainer: "SSplain", name: str) -> dict[str, object]:
    value = getattr(explainer, name)
    return {name: value} if value else {}
