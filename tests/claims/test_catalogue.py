"""Each claim of the paper against data that make it hold, data that make it fail, and neither.

What each sentence means is written down here a second time, from the sentence and not from the
code: whose numbers, in which measure, must be higher or lower than whose.
"""

import re
from dataclasses import dataclass, replace
from typing import Literal

import pytest
import torch

from ssplain.claims import CLAIMS, Claim, judge
from ssplain.claims.claim import SIMULATED
from ssplain.metrics import Evaluation
from ssplain.study import STUDIES, Results, SanityStudy, StabilityStudy, TimesStudy

Way = Literal["higher", "lower"]
LABELS = torch.tensor([0] * 4 + [1] * 4)
SPREAD = torch.tensor([-0.03, -0.01, 0.01, 0.03] * 2).double()
GRADIENT = (
    "Saliency",
    "Input x Gradient",
    "Integrated Gradients",
    "Guided Grad-CAM",
    "DeepSHAP",
)
PERTURBATION = ("Occlusion", "LIME", "KernelSHAP", "Extremal Perturbation")
NINE = GRADIENT + PERTURBATION


@dataclass(frozen=True)
class Ahead:
    """One is better than each of some others."""

    ours: str
    others: tuple[str, ...]
    measure: str
    way: Way
    group: str = "all"


@dataclass(frozen=True)
class Level:
    """The mean lies on one side of a limit."""

    title: str
    measure: str
    group: str
    limit: float
    way: Way


Part = Ahead | Level


def but(*names: str) -> tuple[str, ...]:
    return tuple(name for name in NINE if name not in names)


def ssplain(measure: str, way: Way, others: tuple[str, ...] = NINE, group: str = "all") -> Ahead:
    return Ahead("SSplain-0", others, measure, way, group)


FREE, PRINTED = "SSplain-0 without support", "Extremal Perturbation, as printed"
STABLE = "SSplain-0, stable"
CONVERGED = "Extremal Perturbation, converged"
FULL, REST = "sparsity and smoothness", ("sparsity only", "smoothness only", "neither")
BRIGHT, ONES = "from the intensity", ("from ones",)
FEW = ("budget 25%", "budget 12.5%", "budget 10%")
SHOWN = (
    "Saliency",
    "Input x Gradient",
    "Guided Grad-CAM",
    "Occlusion",
    "Extremal Perturbation",
)
BRANCHES = "SSplain-ranking by branches"
LEADER, FORTY = "SSplain-ranking", "SSplain-ranking, 40 passes"
ALL = ("SSplain-0", *NINE, "Integrated Gradients, complete", "iGOS++", "Greedy regions", "RISE")
QUICKER = ("SSplain-0", *NINE, "Integrated Gradients, complete")
LEADS: tuple[tuple[str, str, Way], ...] = (
    ("its first pixels, inserted, give more", "insertion", "higher"),
    ("its first pixels, taken away, harm", "deletion", "lower"),
    ("its first pixels form larger", "connected", "higher"),
    ("its map finds planted disease better", "average-precision-above-chance", "higher"),
)
EIGHTY = tuple(
    f"{name}, 80 passes"
    for name in ("SSplain-0", "SSplain-1", "Extremal Perturbation", "Integrated Gradients")
)
IXG, EXTREMAL, OCCLUSION = "Input x Gradient", "Extremal Perturbation", "Occlusion"

MEANING: dict[str, list[Part]] = {
    r": taking SSplain-0's first pixels away harms accuracy more": [ssplain("deletion", "lower")],
    r": inserting SSplain-0's first pixels gives more accuracy": [ssplain("insertion", "higher")],
    r"inserts more of the image's brightness": [ssplain("kappa", "higher")],
    r"settles earlier in the insertion": [ssplain("settled", "lower")],
    r"of SSplain-0 form larger connected parts": [ssplain("connected", "higher")],
    r"SSplain-1, too, beats every competitor": [
        Ahead("SSplain-1", NINE, "deletion", "lower"),
        Ahead("SSplain-1", NINE, "insertion", "higher"),
        Ahead("SSplain-1", NINE, "connected", "higher"),
    ],
    r"does as well as SSplain-1 or better": [
        ssplain("deletion", "lower", ("SSplain-1",)),
        ssplain("insertion", "higher", ("SSplain-1",)),
        ssplain("connected", "higher", ("SSplain-1",)),
        ssplain("kappa", "higher", ("SSplain-1",)),
    ],
    r"is slightly better than SSplain-1": [
        ssplain("deletion", "lower", ("SSplain-1",)),
        ssplain("insertion", "higher", ("SSplain-1",)),
    ],
    r"Extremal Perturbation comes third": [
        Ahead(EXTREMAL, but(EXTREMAL), "insertion", "higher"),
        Ahead(EXTREMAL, but(EXTREMAL), "connected", "higher"),
        Ahead(EXTREMAL, but(EXTREMAL), "kappa", "higher"),
    ],
    r"ROP: competitors give importance to the background": [
        ssplain("background", "lower", but(IXG), "maps")
    ],
    r"only Input x Gradient keeps to the vessels": [
        Ahead(IXG, but(IXG), "background", "lower", "maps")
    ],
    r"same share of pixels s, .* tortuosity": [ssplain("curvature", "higher")],
    r"same brightness kappa_s, .* tortuosity": [
        ssplain("curvature", "higher", group="kappa"),
    ],
    r"same share of pixels s, .* dilation": [ssplain("dilation", "higher")],
    r"same brightness kappa_s, .* dilation": [ssplain("dilation", "higher", group="kappa")],
    r"more importance to tortuous and to wide vessels": [
        Level("SSplain-0", "curvature-gain", "support", 0.0, "higher"),
        Level("SSplain-0", "diameter-gain", "support", 0.0, "higher"),
    ],
    r"but its scores are less smooth": [ssplain("connected", "higher", (IXG,))],
    r"MNIST: SSplain keeps to the image's own pixels": [
        ssplain("background", "lower", SHOWN, "maps")
    ],
    r"Occlusion and Input x Gradient do better than SSplain-0 in deletion": [
        Ahead(OCCLUSION, ("SSplain-0",), "deletion", "lower"),
        Ahead(IXG, ("SSplain-0",), "deletion", "lower"),
    ],
    r"these two are clearly behind SSplain-0 in insertion": [
        ssplain("insertion", "higher", (OCCLUSION, IXG))
    ],
    r"no other competitor than Occlusion and Input x Gradient": [
        ssplain("deletion", "lower", but(OCCLUSION, IXG))
    ],
    r"FMNIST, predicted: Occlusion does better than SSplain-0 in deletion": [
        Ahead(OCCLUSION, ("SSplain-0",), "deletion", "lower")
    ],
    r"scores change when the network's weights are randomised": [
        Level("fc", "spearman", "stages", 0.9, "lower"),
        Level("conv1", "spearman", "stages", 0.9, "lower"),
    ],
    r"not about where the mask starts": [
        Level("fc", "spearman-start-fixed", "stages", 0.9, "lower"),
        Level("conv1", "spearman-start-fixed", "stages", 0.9, "lower"),
    ],
    r"Ablation: .* lower deletion": [Ahead(FULL, REST, "deletion", "lower")],
    r"Ablation: .* higher insertion": [Ahead(FULL, REST, "insertion", "higher")],
    r"Ablation: .* larger connected": [Ahead(FULL, REST, "connected", "higher")],
    r"deletion accuracy rises": [Ahead("budget 50%", FEW, "deletion", "lower")],
    r"insertion accuracy falls": [Ahead("budget 50%", FEW, "insertion", "higher")],
    r"connected parts shrink": [Ahead("budget 50%", FEW, "connected", "higher")],
    r"kappa_s falls": [Ahead("budget 50%", FEW, "kappa", "higher")],
    r"do not differ noticeably": [Level("SSplain-1", "agreement", "maps", 0.9, "higher")],
    r"without the support constraint": [Level(FREE, "background", "maps", 0.05, "lower")],
    r"Perturbation gives importance to the background": [
        Ahead(FREE, (PRINTED,), "background", "lower", "maps")
    ],
    r"much less sparse masks": [Ahead(FREE, (PRINTED,), "sparsity", "higher", "maps")],
    r"an area term that converges": [
        Ahead(FREE, (CONVERGED,), "background", "lower", "maps"),
        Ahead(FREE, (CONVERGED,), "sparsity", "higher", "maps"),
    ],
    r"beats starting from ones in deletion": [Ahead(BRIGHT, ONES, "deletion", "lower")],
    r"beats starting from ones in insertion": [Ahead(BRIGHT, ONES, "insertion", "higher")],
    r"beats starting from ones in connected": [
        Ahead(BRIGHT, ONES, "connected", "higher"),
        Ahead(BRIGHT, ONES, "kappa", "higher"),
    ],
    r"beats starting from ones in curvature": [
        Ahead(BRIGHT, ONES, measure, "higher", group)
        for measure in ("curvature", "dilation")
        for group in ("all", "kappa")
    ],
    r"less sparse and less smooth": [
        Ahead(BRIGHT, ONES, "sparsity", "higher", "maps"),
        Ahead(BRIGHT, ONES, "shown-roughness", "lower", "maps"),
    ],
    r"takes no longer than the slowest": [ssplain("seconds", "lower", (EXTREMAL,), "times on ?")],
    r"LIME, KernelSHAP and Occlusion are faster": [
        Ahead(name, ("SSplain-0",), "seconds", "lower", "times on ?")
        for name in ("LIME", "KernelSHAP", OCCLUSION)
    ],
    r"Occlusion takes longer than SSplain": [
        ssplain("seconds", "lower", (OCCLUSION,), "times on ?")
    ],
    r"a gradient method \(Saliency\) is faster": [
        Ahead("Saliency", ("SSplain-0", *PERTURBATION), "seconds", "lower", "times on ?")
    ],
    **{
        rf"SSplain-ranking: {does}.* than those of {than}": [
            Ahead(LEADER, others, measure, way, "support")
        ]
        for than, others in (
            ("SSplain-0, the paper's nine and four stronger rivals", ALL),
            ("SSplain-0, the paper's nine and complete IG", QUICKER),
            ("iGOS\\+\\+, greedy regions and RISE", ALL[-3:]),
        )
        for does, measure, way in LEADS
    },
    r"SSplain-ranking by branches: it finds planted disease better": [
        Ahead(BRANCHES, (LEADER, *QUICKER), "average-precision-above-chance", "higher", "support")
    ],
    r"40 passes of the model: .* inserted, give more accuracy": [
        Ahead(FORTY, EIGHTY, "insertion", "higher", "support")
    ],
    r"40 passes of the model: .* taken away, harm accuracy more": [
        Ahead(FORTY, EIGHTY, "deletion", "lower", "support")
    ],
    r"turns on rounding: noise of 1e-6": [
        Level("SSplain-0", "overlap-1e-6", "stability on ?", 0.95, "lower")
    ],
    r"keeps its map under noise of 1e-6 and of 1e-3": [
        Level(STABLE, "overlap-1e-6", "stability on ?", 0.95, "higher"),
        Level(STABLE, "ranks-1e-3", "stability on ?", 0.95, "higher"),
    ],
    r"stable maps insert as well as the paper's": [
        Ahead(STABLE, ("SSplain-0",), "insertion", "higher", "insertion on ?")
    ],
}
NAMES = {"ROP": "rop", "MNIST": "mnist", "FMNIST": "fmnist", "Fashion-MNIST": "fmnist"}


def meaning(claim: Claim) -> list[Part]:
    """Look a sentence up; exactly one entry must speak of it."""
    found = [parts for said, parts in MEANING.items() if re.search(said, claim.text)]
    assert len(found) == 1, claim.text
    dataset = NAMES.get(re.split(r"[:,]", claim.text)[0], "")
    return [replace(part, group=part.group.replace("?", dataset)) for part in found[0]]


def results(study: str, changed: dict[tuple[str, str, str], torch.Tensor]) -> Results:
    """Return a study's numbers, all 0.5 with some spread but for what is changed.

    Only the measures of what is changed are there: a claim that looks at others is "not measured".
    """
    declared, measures = STUDIES[study], {measure for _, _, measure in changed}
    titles = [variant.title for variant in declared.variants]
    groups = ["all", "support", "kappa", "maps"]
    if isinstance(declared, SanityStudy):
        groups, titles = ["stages"], ["trained", "fc", "conv1"]
    if isinstance(declared, TimesStudy):
        groups = [f"times on {name}" for name in declared.datasets]
    if isinstance(declared, StabilityStudy):
        groups = [
            f"{kind} on {n}" for kind in ("stability", "insertion") for n in declared.datasets
        ]
    found = {
        group: {
            title: Evaluation.of_values(
                {m: changed.get((group, title, m), 0.5 + SPREAD) for m in measures}, LABELS
            )
            for title in titles
        }
        for group in groups
    }
    return Results(study, len(LABELS), found)


def shifted(part: Part, by: float) -> dict[tuple[str, str, str], torch.Tensor]:
    """Return the values of a part that lies on its good side by so much; 0 decides nothing."""
    sign = 1 if part.way == "higher" else -1
    # turned round, so that where the means are equal the differences spread about zero
    spread = SPREAD if by else SPREAD.flip(0)
    if isinstance(part, Ahead):
        return {(part.group, part.ours, part.measure): 0.5 + sign * by + spread}
    return {(part.group, part.title, part.measure): part.limit + sign * by + spread}


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.text[:60])
def test_every_claim_holds_fails_and_stays_open_where_it_should(claim: Claim) -> None:
    parts = meaning(claim)

    def verdict(*sides: float) -> str:
        changed: dict[tuple[str, str, str], torch.Tensor] = {}
        for part, by in zip(parts, sides, strict=True):
            changed |= shifted(part, by)
        (judgement,) = judge([claim], {claim.study: results(claim.study, changed)})
        return judgement.verdict

    good, rest = [0.2] * len(parts), [0.2] * (len(parts) - 1)
    assert verdict(*good) == "holds"
    assert verdict(*rest, -0.2) == "does not hold"
    assert verdict(-0.2, *rest) == "does not hold"
    assert verdict(*rest, 0.0) == "undecided"


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.text[:60])
def test_a_claim_is_about_the_explainers_of_its_study(claim: Claim) -> None:
    study = STUDIES[claim.study]
    assert set(claim.test.variants) <= set(study.variants)
    others = {name for p in meaning(claim) if isinstance(p, Ahead) for name in (p.ours, *p.others)}
    levels = {p.title for p in meaning(claim) if isinstance(p, Level) and p.group != "stages"}
    assert {variant.title for variant in claim.test.variants} == others | levels


def test_one_other_that_is_better_fails_a_claim_about_all() -> None:
    claim = next(c for c in CLAIMS if c.text.startswith("MNIST: inserting"))
    changed = {("all", "SSplain-0", "insertion"): 0.7 + SPREAD}
    changed |= {("all", "LIME", "insertion"): 0.8 + SPREAD}
    (judgement,) = judge([claim], {"mnist": results("mnist", changed)})
    assert judgement.verdict == "does not hold"
    assert "behind LIME by 0.100 [0.100, 0.100]" in judgement.measured


def test_whoever_reads_of_eyes_is_told_that_they_are_simulated() -> None:
    for claim in CLAIMS:
        if claim.study != "times":  # which says nothing about what maps show
            simulated = "rop" in STUDIES[claim.study].datasets
            assert (SIMULATED in claim.why) == simulated, claim.text
