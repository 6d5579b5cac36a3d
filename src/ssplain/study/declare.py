"""What the paper shows, each item as a short declaration that the engine can run.

Settings are the paper's: an explainer without settings of its own takes those that the registry has
for the data set. Nothing is tuned here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ssplain.errors import SSplainError
from ssplain.explain.registry import METHODS
from ssplain.metrics.order import FINE_POINTS, PAPER_POINTS, Axis

Targets = Literal["label", "predicted"]
Part = Literal["curves", "areas", "vessels", "localisation", "maps", "agreement"]
Kind = Literal["explainers", "sanity", "times"]


@dataclass(frozen=True)
class Variant:
    """An explainer in a study.

    Attributes:
        title: in figures and tables, and how the ledger finds it.
        method: its name in the registry.
        settings: what differs from the paper's preset of the data set.
    """

    title: str
    method: str
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def all_settings(self, dataset: str | None) -> dict[str, Any]:
        """Return the preset with what differs from it.

        >>> Variant("without smoothness", "ssplain-0", {"tv_weight": 0.0}).all_settings("rop")[
        ...     "tv_weight"]
        0.0
        """
        return {**METHODS[self.method].paper.get(dataset or "", {}), **self.settings}


@dataclass(frozen=True)
class Study:
    """An item of the paper.

    Attributes:
        name: on the command line.
        title: for readers.
        where: in the paper.
        dataset: "mnist", "fmnist" or "rop"; several with commas between, for times.
        variants: what is compared; the first is what the others are compared with.
        images: how many, unless the user says otherwise.
        kind: "explainers" (maps and measures), "sanity" (the sanity check) or "times".
        targets: which classes are explained: the true "label" or the "predicted" ones. Accuracy is
            against the true label in both cases.
        axes: of the curves, each with its number of points.
        parts: the figures and tables.
        drawn: titles of the explainers in grids of maps; all if empty.
        examples: whether example maps are kept for the page's slider.
        seeds: of random weights, for the sanity check.
    """

    name: str
    title: str
    where: str
    dataset: str
    variants: tuple[Variant, ...]
    images: int
    kind: Kind = "explainers"
    targets: Targets = "label"
    axes: tuple[tuple[Axis, int], ...] = ()
    parts: tuple[Part, ...] = ()
    drawn: tuple[str, ...] = ()
    examples: bool = False
    seeds: tuple[int, ...] = ()


def _method(name: str) -> Variant:
    return Variant(METHODS[name].title, name)


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
ALL = tuple(map(_method, ("ssplain-0", "ssplain-1", *GRADIENT, *PERTURBATION, *CONTROLS)))
TIMED = tuple(map(_method, ("ssplain-0", *PERTURBATION, *GRADIENT)))
SHOWN = (
    "SSplain-0",
    "Saliency",
    "Input x Gradient",
    "Guided Grad-CAM",
    "Occlusion",
    "Extremal Perturbation",
)
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
    vessels: tuple[Part, ...] = ("vessels", "localisation") if dataset == "rop" else ()
    return Study(
        name=dataset,
        title=f"Comparison of explainers on {NAMES[dataset]}",
        where=where,
        dataset=dataset,
        variants=ALL,
        images=IMAGES[dataset],
        axes=AXES[dataset],
        parts=("curves", "areas", *vessels),
    )


def _maps(dataset: str, where: str) -> Study:
    return Study(
        name=f"maps-{dataset}",
        title=f"Maps of explainers on {NAMES[dataset]}",
        where=where,
        dataset=dataset,
        variants=tuple(v for v in ALL if METHODS[v.method].family != "control"),
        images=IMAGES[dataset],
        parts=("maps", "agreement"),
        drawn=SHOWN,
        examples=True,
    )


def _predicted(dataset: str, where: str) -> Study:
    return Study(
        name=f"predicted-{dataset}",
        title=f"Explanations of the predicted class on {NAMES[dataset]}",
        where=where,
        dataset=dataset,
        variants=ALL,
        images=IMAGES[dataset],
        targets="predicted",
        axes=AXES[dataset][:2],
        parts=("curves", "areas"),
    )


_OURS, _L1 = _method("ssplain-0"), _method("ssplain-1")
# Extremal Perturbation needs to be told what SSplain's missing support means: all pixels count
_FREE = {"budget": 0.05, "iterations": 400, "support": None}
_PIXELWISE = {
    **_FREE,
    "variant": "preserve",
    "perturbation": "fade",
    "step": 1,
    "sigma": 1.0,
    "smooth": 0.0001,
}

_STUDIES = (
    _comparison("rop", "Figure 2, section 4.5"),
    _maps("rop", "Figures 3 and 8, section 4.6 and appendix F.1"),
    Study(
        name="sanity",
        title="Maps of a network that forgets, on ROP",
        where="Figure 4, section 4.6",
        dataset="rop",
        variants=(_OURS,),
        images=100,
        kind="sanity",
        seeds=(0, 1),
    ),
    _comparison("mnist", "Figure 5a, section 4.7"),
    _comparison("fmnist", "Figure 5b, section 4.7"),
    _maps("mnist", "Figure 9a, appendix F.2"),
    _maps("fmnist", "Figure 9b, appendix F.2"),
    Study(
        name="ablation",
        title="With and without sparsity and smoothness, on ROP",
        where="Figure 6, appendix B",
        dataset="rop",
        variants=(
            Variant("sparsity and smoothness", "ssplain-0"),
            Variant("sparsity only", "ssplain-0", {"tv_weight": 0.0}),
            Variant("smoothness only", "ssplain-0", {"budget": 1.0}),
            Variant("neither", "ssplain-0", {"budget": 1.0, "tv_weight": 0.0}),
        ),
        images=100,
        axes=SHORT,
        parts=("curves", "areas", "agreement"),
    ),
    Study(
        name="budgets",
        title="Sparsity budgets, on ROP",
        where="Figure 7, appendix C",
        dataset="rop",
        variants=tuple(
            Variant(f"budget {budget:.1%}".replace(".0%", "%"), "ssplain-0", {"budget": budget})
            for budget in (0.5, 0.75, 0.25, 0.125, 0.1)
        ),
        images=100,
        axes=SHORT,
        parts=("curves", "areas", "agreement"),
    ),
    Study(
        name="norms",
        title="Maps under the l0 and the l1 budget, on ROP",
        where="Figure 10, appendix G.1",
        dataset="rop",
        variants=(_OURS, _L1),
        images=100,
        parts=("maps", "agreement"),
    ),
    Study(
        name="extremal",
        title="SSplain without support against pixel-wise Extremal Perturbation, on ROP",
        where="Figure 11, appendix G.2",
        dataset="rop",
        variants=(
            Variant(
                "SSplain-0 without support",
                "ssplain-0",
                {**_FREE, "tv_weight": 1e-4, "start": "ones"},
            ),
            Variant("Extremal Perturbation, as printed", "extremal-perturbation", _PIXELWISE),
            Variant(
                "Extremal Perturbation, converged",
                "extremal-perturbation",
                {**_PIXELWISE, "area_reduction": "sum"},
            ),
        ),
        images=100,
        parts=("maps", "agreement"),
    ),
    Study(
        name="start",
        title="Starting from the intensity or from ones, on ROP",
        where="Figures 12 and 13, appendix I",
        dataset="rop",
        variants=(
            Variant("from the intensity", "ssplain-0"),
            Variant("from ones", "ssplain-0", {"start": "ones", "iterations": 400}),
        ),
        images=100,
        axes=AXES["rop"],
        parts=("curves", "areas", "vessels", "maps", "agreement"),
    ),
    _predicted("rop", "Figure 14, appendix J.1.1"),
    _predicted("mnist", "Figure 15, appendix J.1.2"),
    _predicted("fmnist", "Figure 16, appendix J.1.3"),
    Study(
        name="times",
        title="Execution times",
        where="Table 1, appendix H",
        dataset="rop, mnist, fmnist",
        variants=TIMED,
        images=sum(IMAGES.values()),
        kind="times",
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
