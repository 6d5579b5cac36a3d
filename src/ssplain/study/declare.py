"""What the paper shows, and what we claim, each as a short declaration that an engine can run.

Settings are the paper's: an explainer without settings of its own takes those that the registry has
for the data set. Nothing is tuned here.
"""

from collections.abc import Mapping

from ssplain.errors import SSplainError
from ssplain.explain.registry import METHODS
from ssplain.metrics.order import FINE_POINTS, PAPER_POINTS, Axis
from ssplain.study.kinds import (
    Exhibits,
    MapStudy,
    SanityStudy,
    StabilityStudy,
    Study,
    TimesStudy,
    Variant,
)

# the paper's two explainers and nine competitors; the controls are ours
GRADIENT = (
    "saliency",
    "input-x-gradient",
    "integrated-gradients",
    "guided-grad-cam",
    "deep-shap",
)
PERTURBATION = ("occlusion", "lime", "kernel-shap", "extremal-perturbation")
CONTROLS = ("intensity", "random-in-support", "random")
ALL = tuple(map(Variant.of, ("ssplain-0", "ssplain-1", *GRADIENT, *PERTURBATION, *CONTROLS)))
TIMED = tuple(map(Variant.of, ("ssplain-0", *PERTURBATION, *GRADIENT)))
OURS, L1 = Variant.of("ssplain-0"), Variant.of("ssplain-1")
NINE = tuple(map(Variant.of, (*GRADIENT, *PERTURBATION)))
IXG, OCCLUSION = Variant.of("input-x-gradient"), Variant.of("occlusion")
EXTREMAL = Variant.of("extremal-perturbation")
# our ranking, and rivals that the paper did not have; in none of its studies
RANKING = Variant.of("ssplain-ranking")
BRANCHES = Variant("SSplain-ranking by branches", "ssplain-ranking", {"segments": "vessels"})
COMPLETE = Variant.of("integrated-gradients-complete")
SLOW = tuple(map(Variant.of, ("igos", "regions", "rise")))  # up to five minutes for a large image
RIVALS = (COMPLETE, *SLOW)
INTENSITY = Variant.of("intensity")
EVERYBODY = (OURS, *NINE, *RIVALS, INTENSITY)
STABLE = Variant("SSplain-0, stable", "ssplain-0", {"stable": True})
SHOWN = (OURS, Variant.of("saliency"), IXG, Variant.of("guided-grad-cam"), OCCLUSION, EXTREMAL)
# the variants of SSplain's own studies, the paper's form first
FULL = Variant("sparsity and smoothness", "ssplain-0")
PARTS = (
    Variant("sparsity only", "ssplain-0", {"tv_weight": 0.0}),
    Variant("smoothness only", "ssplain-0", {"budget": 1.0}),
    Variant("neither", "ssplain-0", {"budget": 1.0, "tv_weight": 0.0}),
)
HALF, LARGE, *SMALL = (
    Variant(f"budget {budget:.1%}".replace(".0%", "%"), "ssplain-0", {"budget": budget})
    for budget in (0.5, 0.75, 0.25, 0.125, 0.1)
)
# Extremal Perturbation needs to be told what SSplain's missing support means: all pixels count
_FREE = {"budget": 0.05, "iterations": 400, "support": None}
_PIXELWISE = {
    **_FREE,
    "objective": "preserve",
    "perturbation": "fade",
    "step": 1,
    "sigma": 1.0,
    "smooth": 0.0001,
}
FREE = Variant(
    "SSplain-0 without support", "ssplain-0", {**_FREE, "tv_weight": 1e-4, "start": "ones"}
)
PRINTED = Variant("Extremal Perturbation, as printed", "extremal-perturbation", _PIXELWISE)
CONVERGED = Variant(
    "Extremal Perturbation, converged",
    "extremal-perturbation",
    {**_PIXELWISE, "area_reduction": "sum"},
)
BRIGHT = Variant("from the intensity", "ssplain-0")
ONES = Variant("from ones", "ssplain-0", {"start": "ones", "iterations": 400})
NAMES = {"rop": "ROP", "mnist": "MNIST", "fmnist": "Fashion-MNIST"}
# the paper's number of images
IMAGES = {"rop": 100, "mnist": 500, "fmnist": 500}
# on large images 26 points: each is a pass through the model for every image
AXES: dict[str, tuple[tuple[Axis, int], ...]] = {
    "rop": (("all", PAPER_POINTS), ("support", PAPER_POINTS), ("kappa", PAPER_POINTS)),
    "mnist": (("all", PAPER_POINTS), ("support", FINE_POINTS)),
    "fmnist": (("all", PAPER_POINTS), ("support", FINE_POINTS)),
}
SHORT: tuple[tuple[Axis, int], ...] = AXES["rop"][:2]


def _comparison(dataset: str, where: str) -> Study:
    vessels: tuple[Exhibits, ...] = ("vessels", "localisation") if dataset == "rop" else ()
    return MapStudy(
        name=dataset,
        title=f"Comparison of explainers on {NAMES[dataset]}",
        where=where,
        datasets=(dataset,),
        variants=ALL,
        images=IMAGES[dataset],
        axes=AXES[dataset],
        exhibits=("curves", "areas", *vessels),
    )


def _maps(dataset: str, where: str) -> Study:
    return MapStudy(
        name=f"maps-{dataset}",
        title=f"Maps of explainers on {NAMES[dataset]}",
        where=where,
        datasets=(dataset,),
        variants=tuple(v for v in ALL if METHODS[v.method].family != "control"),
        images=IMAGES[dataset],
        exhibits=("maps", "agreement"),
        drawn=SHOWN,
        examples=True,
    )


def _predicted(dataset: str, where: str) -> Study:
    return MapStudy(
        name=f"predicted-{dataset}",
        title=f"Explanations of the predicted class on {NAMES[dataset]}",
        where=where,
        datasets=(dataset,),
        variants=ALL,
        images=IMAGES[dataset],
        targets="predicted",
        axes=AXES[dataset][:2],
        exhibits=("curves", "areas"),
    )


def _ranking(dataset: str, against: str, variants: tuple[Variant, ...], part: str = "") -> Study:
    """Return a study of our own claims: one axis, on which the background gives nothing."""
    return MapStudy(
        name=f"ranking-{dataset}{part}",
        title=f"SSplain-ranking against {against} on {NAMES[dataset]}",
        where="this package",
        datasets=(dataset,),
        variants=(RANKING, *variants),
        images=IMAGES[dataset],
        axes=(AXES[dataset][1],),
        exhibits=("curves", "areas", "localisation") if dataset == "rop" else ("curves", "areas"),
    )


def budgeted(passes: int) -> tuple[Variant, ...]:
    """Return the iterative explainers with so many passes, a forward with its gradient being one.

    SSplain-ranking's start is a pass, too; Extremal Perturbation takes two in each iteration, for
    what is kept and what is removed.
    """
    settings = {
        "ssplain-ranking": {"iterations": passes - 1},
        "ssplain-0": {"iterations": passes},
        "ssplain-1": {"iterations": passes},
        "extremal-perturbation": {"iterations": passes // 2},
        "integrated-gradients": {"steps": passes},
    }
    return tuple(
        Variant(f"{METHODS.find(name).title}, {passes} passes", name, own)
        for name, own in settings.items()
    )


_STUDIES = (
    _comparison("rop", "Figure 2, section 4.5"),
    _maps("rop", "Figures 3 and 8, section 4.6 and appendix F.1"),
    SanityStudy(
        name="sanity",
        title="Maps of a network that forgets, on ROP",
        where="Figure 4, section 4.6",
        datasets=("rop",),
        variants=(OURS,),
        images=100,
        seeds=(0, 1),
    ),
    _comparison("mnist", "Figure 5a, section 4.7"),
    _comparison("fmnist", "Figure 5b, section 4.7"),
    _maps("mnist", "Figure 9a, appendix F.2"),
    _maps("fmnist", "Figure 9b, appendix F.2"),
    MapStudy(
        name="ablation",
        title="With and without sparsity and smoothness, on ROP",
        where="Figure 6, appendix B",
        datasets=("rop",),
        variants=(FULL, *PARTS),
        images=100,
        axes=SHORT,
        exhibits=("curves", "areas", "agreement"),
    ),
    MapStudy(
        name="budgets",
        title="Sparsity budgets, on ROP",
        where="Figure 7, appendix C",
        datasets=("rop",),
        variants=(HALF, LARGE, *SMALL),
        images=100,
        axes=SHORT,
        exhibits=("curves", "areas", "agreement"),
    ),
    MapStudy(
        name="norms",
        title="Maps under the l0 and the l1 budget, on ROP",
        where="Figure 10, appendix G.1",
        datasets=("rop",),
        variants=(OURS, L1),
        images=100,
        exhibits=("maps", "agreement"),
    ),
    MapStudy(
        name="extremal",
        title="SSplain without support against pixel-wise Extremal Perturbation, on ROP",
        where="Figure 11, appendix G.2",
        datasets=("rop",),
        variants=(FREE, PRINTED, CONVERGED),
        images=100,
        exhibits=("maps", "agreement"),
    ),
    MapStudy(
        name="start",
        title="Starting from the intensity or from ones, on ROP",
        where="Figures 12 and 13, appendix I",
        datasets=("rop",),
        variants=(BRIGHT, ONES),
        images=100,
        axes=AXES["rop"],
        exhibits=("curves", "areas", "vessels", "maps", "agreement"),
    ),
    _predicted("rop", "Figure 14, appendix J.1.1"),
    _predicted("mnist", "Figure 15, appendix J.1.2"),
    _predicted("fmnist", "Figure 16, appendix J.1.3"),
    TimesStudy(
        name="times",
        title="Execution times",
        where="Table 1, appendix H",
        datasets=tuple(IMAGES),
        variants=TIMED,
        images=sum(IMAGES.values()),
    ),
    _ranking("mnist", "all explainers", EVERYBODY),
    _ranking("fmnist", "all explainers", EVERYBODY),
    # those that take minutes an eye have a study of their own, so that all others can be had soon
    _ranking("rop", "the quicker explainers", (BRANCHES, OURS, *NINE, COMPLETE, INTENSITY)),
    _ranking("rop", "the slow explainers", SLOW, part="-slow"),
    MapStudy(
        name="passes",
        title="Quality against passes of the model on MNIST",
        where="this package",
        datasets=("mnist",),
        variants=tuple(v for passes in (40, 10, 20, 80) for v in budgeted(passes)),
        images=IMAGES["mnist"],
        axes=(("support", PAPER_POINTS),),
        exhibits=("passes",),
    ),
    StabilityStudy(
        name="stability",
        title="Maps under noise that nobody sees",
        where="this package",
        datasets=("mnist", "fmnist"),
        variants=(STABLE, OURS, L1, RANKING, *NINE, *RIVALS),
        images=IMAGES["mnist"] + IMAGES["fmnist"],
    ),
)

STUDIES: Mapping[str, Study] = {study.name: study for study in _STUDIES}


def declared(name: str) -> Study:
    """Return a study by its name.

    >>> declared("budgets").dataset
    'rop'
    """
    if name not in STUDIES:
        raise SSplainError(
            f"There is no study {name!r}; choose one of: {', '.join(STUDIES)}, or 'all'."
        )
    return STUDIES[name]
