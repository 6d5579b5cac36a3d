"""What there is to measure: of each measure its kind, which way is better, and where it is from."""

from dataclasses import dataclass
from typing import Literal

from ssplain.errors import SSplainError

Category = Literal["faithfulness", "sparsity", "connectedness", "anatomy", "localisation", "trust"]


@dataclass(frozen=True)
class Metric:
    """A measure of maps.

    Attributes:
        name: on the command line and in tables.
        category: what kind of question it answers.
        higher_is_better: None where neither direction is a merit by itself.
        call: the function that computes it, and the part of its result.
        reference: where it is defined.
    """

    name: str
    category: Category
    higher_is_better: bool | None
    call: str
    reference: str


_PAPER = "Sunger et al., SSplain, WACV 2026"

METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            "insertion",
            "faithfulness",
            higher_is_better=True,
            call="insertion_deletion(...).insertion.area",
            reference=f"Petsiuk et al., RISE, BMVC 2018; balanced accuracy as in {_PAPER}",
        ),
        Metric(
            "deletion",
            "faithfulness",
            higher_is_better=False,
            call="insertion_deletion(...).deletion.area",
            reference=f"Petsiuk et al., RISE, BMVC 2018; balanced accuracy as in {_PAPER}",
        ),
        Metric(
            "kappa",
            "sparsity",
            higher_is_better=True,
            call="kappa(...)",
            reference=f"{_PAPER}, section 4.2",
        ),
        Metric(
            "gini",
            "sparsity",
            higher_is_better=True,
            call="gini(...)",
            reference="Hurley and Rickard, IEEE Trans. Information Theory 55, 2009",
        ),
        Metric(
            "roughness",
            "connectedness",
            higher_is_better=False,
            call="roughness(...)",
            reference=f"total variation of {_PAPER}, section 3.1, scaled to a range of 1",
        ),
        Metric(
            "connected",
            "connectedness",
            higher_is_better=True,
            call='connected(..., rule="foreground")',
            reference="largest 4-connected component of the inserted pixels",
        ),
        Metric(
            "connected-printed",
            "connectedness",
            higher_is_better=None,
            call='connected(..., rule="printed")',
            reference=f"{_PAPER}, appendix: links between neighbours whose values differ",
        ),
        Metric(
            "curvature",
            "anatomy",
            higher_is_better=True,
            call="vessel_similarity(...).curvature",
            reference=f"{_PAPER}, section 4.3",
        ),
        Metric(
            "dilation",
            "anatomy",
            higher_is_better=True,
            call="vessel_similarity(...).dilation",
            reference=f"{_PAPER}, section 4.3",
        ),
        Metric(
            "mean-curvature",
            "anatomy",
            higher_is_better=True,
            call="vessel_similarity(...).mean_curvature",
            reference="mean curvature of the inserted pixels between random and ideal order",
        ),
        Metric(
            "mean-diameter",
            "anatomy",
            higher_is_better=True,
            call="vessel_similarity(...).mean_diameter",
            reference="mean segment diameter of the inserted pixels between random and ideal order",
        ),
        Metric(
            "coverage",
            "anatomy",
            higher_is_better=True,
            call="vessel_similarity(...).coverage",
            reference="Spearman correlation of a branch's coverage with its segment diameter",
        ),
        Metric(
            "precision",
            "localisation",
            higher_is_better=True,
            call="localise(...).observed.precision",
            reference="share of the top pixels that is diseased",
        ),
        Metric(
            "recall",
            "localisation",
            higher_is_better=True,
            call="localise(...).observed.recall",
            reference="share of the diseased pixels among the top ones",
        ),
        Metric(
            "pointing",
            "localisation",
            higher_is_better=True,
            call="localise(...).observed.pointing",
            reference="Zhang et al., Top-down neural attention by excitation backprop, IJCV 2018",
        ),
        Metric(
            "average-precision",
            "localisation",
            higher_is_better=True,
            call="localise(...).observed.average_precision",
            reference="mean precision at the diseased pixels, ranked within the support",
        ),
        Metric(
            "max-sensitivity",
            "trust",
            higher_is_better=False,
            call="max_sensitivity(...)",
            reference="Yeh et al., (In)fidelity and sensitivity of explanations, NeurIPS 2019",
        ),
        Metric(
            "seed-agreement",
            "trust",
            higher_is_better=True,
            call="seed_agreement(...)",
            reference="mean Spearman correlation of every two seeds on the support",
        ),
        Metric(
            "sanity",
            "trust",
            higher_is_better=None,
            call="sanity_check(...)",
            reference="Adebayo et al., Sanity checks for saliency maps, NeurIPS 2018",
        ),
    )
}


def describe(name: str) -> Metric:
    """Return what is known about a measure.

    >>> describe("deletion").higher_is_better
    False
    """
    if name not in METRICS:
        raise SSplainError(f"There is no measure {name!r}; choose one of: {', '.join(METRICS)}.")
    return METRICS[name]
