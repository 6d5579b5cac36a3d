"""All explainers under their names, with the settings that the paper gives each per data set."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal

from ssplain.errors import SSplainError
from ssplain.explain.presets import PHOTOGRAPH, PRESETS, RANKING, preset_names
from ssplain.explain.ssplain import SSplain
from ssplain.question.protocol import Explainer
from ssplain.register import Register

Family = Literal["ssplain", "gradient", "perturbation", "control"]


@dataclass(frozen=True)
class Method:
    """What is known of an explainer before it is made.

    Attributes:
        name: as in `make` and on the command line.
        title: as in pictures and tables.
        family: "ssplain", "gradient", "perturbation" or "control".
        reference: where it comes from.
        build: makes the explainer from a model and settings; "module:name" is imported when it is
            asked for, as rooms below this one and packages outside are.
        needs_gradient: whether the model must be differentiable.
        deterministic: whether it draws nothing; the others take a `seed`.
        paper: settings for each of the paper's data sets, where it names any.
        default: settings without a data set, where they differ from the builder's own.
    """

    name: str
    title: str
    family: Family
    reference: str
    build: Callable[..., Explainer] | str
    needs_gradient: bool
    deterministic: bool = True
    paper: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    default: Mapping[str, Any] = field(default_factory=dict)

    def settings(self, dataset: str | None) -> Mapping[str, Any]:
        """Return the settings for a data set, or for "photograph".

        >>> method("saliency").settings("photograph"), method("saliency").settings("mnist")
        ({'fill': 'mean'}, {})
        """
        ground = {"fill": PHOTOGRAPH["fill"]} if dataset == "photograph" else {}
        return {**ground, **self.paper.get(dataset or "", {})}

    def builder(self) -> Callable[..., Explainer]:
        """Return what makes the explainer, imported if it is known by name only."""
        if not isinstance(self.build, str):
            return self.build
        module, name = self.build.split(":")
        found: Callable[..., Explainer] = getattr(import_module(module), name)
        return found


def _ssplain(norm: Literal["l0", "l1"]) -> Method:
    return Method(
        name=f"ssplain-{norm[1]}",
        title=f"SSplain-{norm[1]}",
        family="ssplain",
        reference="Sunger et al., WACV 2026",
        build=SSplain,
        needs_gradient=True,
        paper={
            name: {**settings, "norm": norm}
            for name, settings in {**PRESETS, "photograph": PHOTOGRAPH}.items()
        },
        default={"norm": norm},
    )


# the paper says "pixel-wise masks"; a spread of one pixel is our reading of it
_PIXELWISE = {"budget": 0.25, "iterations": 200, "smooth": 0.0001, "step": 1, "sigma": 1.0}

# pixel-wise masks on black, which is what the measures hide pixels with
_IGOS = {"size": 28, "baseline": "black"}


def _everywhere(**settings: object) -> dict[str, dict[str, object]]:
    """Give the same settings for each data set."""
    return dict.fromkeys(PRESETS, settings)


_METHODS = (
    _ssplain("l0"),
    _ssplain("l1"),
    Method(
        "ssplain-ranking",
        "SSplain-ranking",
        "ssplain",
        "this package",
        SSplain,
        needs_gradient=True,
        paper=RANKING,
        default=RANKING["mnist"],
    ),
    Method(
        "saliency",
        "Saliency",
        "gradient",
        "Simonyan et al., 2013",
        "ssplain.rivals.gradient:Saliency",
        needs_gradient=True,
    ),
    Method(
        "input-x-gradient",
        "Input x Gradient",
        "gradient",
        "Shrikumar et al., 2016",
        "ssplain.rivals.gradient:InputXGradient",
        needs_gradient=True,
    ),
    Method(
        "integrated-gradients",
        "Integrated Gradients",
        "gradient",
        "Sundararajan et al., ICML 2017",
        "ssplain.rivals.gradient:IntegratedGradients",
        needs_gradient=True,
    ),
    Method(
        "guided-grad-cam",
        "Guided Grad-CAM",
        "gradient",
        "Selvaraju et al., ICCV 2017",
        "ssplain.rivals.hooked:GuidedGradCam",
        needs_gradient=True,
        paper={"rop": {"layer": "inception5b"}},
    ),
    Method(
        "deep-shap",
        "DeepSHAP",
        "gradient",
        "Lundberg and Lee, NIPS 2017",
        "ssplain.rivals.hooked:DeepShap",
        needs_gradient=True,
    ),
    Method(
        "occlusion",
        "Occlusion",
        "perturbation",
        "Zeiler and Fergus, ECCV 2014",
        "ssplain.rivals.occlusion:Occlusion",
        needs_gradient=False,
        paper={
            "mnist": {"window": 1, "stride": 1},
            "fmnist": {"window": 1, "stride": 1},
            "rop": {"window": 16, "stride": 4},
        },
    ),
    Method(
        "lime",
        "LIME",
        "perturbation",
        "Ribeiro et al., KDD 2016",
        "ssplain.rivals.sampled:Lime",
        needs_gradient=False,
        deterministic=False,
        paper=_everywhere(samples=200),
    ),
    Method(
        "kernel-shap",
        "KernelSHAP",
        "perturbation",
        "Lundberg and Lee, NIPS 2017",
        "ssplain.rivals.sampled:KernelShap",
        needs_gradient=False,
        deterministic=False,
        paper=_everywhere(samples=200),
    ),
    Method(
        "extremal-perturbation",
        "Extremal Perturbation",
        "perturbation",
        "Fong et al., ICCV 2019",
        "ssplain.rivals.extremal:ExtremalPerturbation",
        needs_gradient=True,
        paper={
            "mnist": _PIXELWISE,
            "fmnist": _PIXELWISE,
            "rop": {"budget": 0.5, "iterations": 400, "smooth": 0.05, "step": 7, "sigma": 21.0},
        },
    ),
    Method(
        "integrated-gradients-complete",
        "Integrated Gradients, complete",
        "gradient",
        "Sundararajan et al., ICML 2017, with steps until scores add up within 2 %",
        "ssplain.rivals.gradient:CompleteIntegratedGradients",
        needs_gradient=True,
    ),
    Method(
        "igos",
        "iGOS++",
        "perturbation",
        "Khorram et al., CHIL 2021",
        "ssplain.rivals.igos:IntegratedMasks",
        needs_gradient=True,
        paper={"mnist": _IGOS, "fmnist": _IGOS, "rop": {"size": 28, "iterations": 20}},
    ),
    Method(
        "regions",
        "Greedy regions",
        "perturbation",
        "after Chen et al., ICLR 2024",
        "ssplain.rivals.regions:GreedyRegions",
        needs_gradient=False,
        paper={"rop": {"segments": "vessels"}},
    ),
    Method(
        "rise",
        "RISE",
        "perturbation",
        "Petsiuk et al., BMVC 2018",
        "ssplain.rivals.rise:Rise",
        needs_gradient=False,
        deterministic=False,
    ),
    Method(
        "intensity",
        "Intensity",
        "control",
        "the image",
        "ssplain.rivals.controls:Intensity",
        needs_gradient=False,
    ),
    Method(
        "random-in-support",
        "Random in support",
        "control",
        "uniform draws",
        "ssplain.rivals.controls:RandomInSupport",
        needs_gradient=False,
        deterministic=False,
    ),
    Method(
        "random",
        "Random",
        "control",
        "uniform draws",
        "ssplain.rivals.controls:RandomPixels",
        needs_gradient=False,
        deterministic=False,
    ),
)

METHODS: Register[Method] = Register("explainer", "ssplain.explainers", Method, _METHODS)


def names(family: Family | None = None) -> tuple[str, ...]:
    """Return the names of all explainers, or of one family.

    >>> names("ssplain")
    ('ssplain-0', 'ssplain-1', 'ssplain-ranking')
    """
    return tuple(m.name for m in METHODS.values() if family is None or m.family == family)


def method(name: str) -> Method:
    """Return what is known of an explainer.

    >>> method("occlusion").needs_gradient
    False
    """
    return METHODS.find(name)


def make(
    name: str,
    model: Callable[..., Any],
    dataset: str | None = None,
    **settings: Any,  # noqa: ANN401 - each explainer checks its own
) -> Explainer:
    """Make an explainer.

    Args:
        name: one of `names()`.
        model: a module or function of `(N, C, H, W)`.
        dataset: "mnist", "fmnist" or "rop" for the paper's settings, "photograph" for natural
            images; None for the defaults.
        settings: of the explainer; they go before those.

    >>> import ssplain
    >>> model = ssplain.models.load("lenet5-mnist")
    >>> images, labels = ssplain.data.bundled("mnist")
    >>> saliency = make("saliency", model, dataset="mnist")
    >>> saliency.attribute(images[:2], target=labels[:2]).shape
    torch.Size([2, 1, 28, 28])
    """
    chosen = method(name)
    if dataset is not None and dataset not in preset_names():
        raise SSplainError(
            f"There are no settings for {dataset!r}; choose one of: {', '.join(preset_names())}, "
            "or None."
        )
    try:
        return chosen.builder()(model, **{**chosen.default, **chosen.settings(dataset), **settings})
    except TypeError as error:
        raise SSplainError(f"{chosen.title} does not take these settings: {error}.") from error
