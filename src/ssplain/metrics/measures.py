"""All measures, each a record with the way it is computed; the order is that of the tables."""

from typing import Literal

from torch import Tensor

from ssplain.metrics.agreement import spearman
from ssplain.metrics.components import connected
from ssplain.metrics.elsewhere import ELSEWHERE
from ssplain.metrics.measure import Material, Measure
from ssplain.metrics.order import rank_pixels
from ssplain.metrics.sparsity import gini, roughness
from ssplain.register import Register

_PAPER = "Sunger et al., SSplain, WACV 2026"
_RISE = f"Petsiuk et al., RISE, BMVC 2018; balanced accuracy as in {_PAPER}"
TOP = 0.05  # the share of all pixels that the paper shows


class _Accuracy(Measure):
    unit, kind, reference = "balanced accuracy", "faithfulness", _RISE
    stepwise = balanced = headline = True


class Insertion(_Accuracy):
    """Whether the model is right with the first pixels alone."""

    name, words, heading, better = "insertion", "insertion area", "Insertion", "high"

    def compute(self, material: Material) -> Tensor:
        """Return whether each image is right at each step."""
        return material.curves.insertion.correct


class Deletion(_Accuracy):
    """Whether the model is still right without the first pixels."""

    name, words, heading, better = "deletion", "deletion area", "Deletion", "low"

    def compute(self, material: Material) -> Tensor:
        """Return whether each image is right at each step."""
        return material.curves.deletion.correct


class Kappa(Measure):
    """The share of the image's brightness that is in."""

    name, words, heading = "kappa", "area under kappa_s", "Brightness inserted"
    unit, better, kind = r"normalised sparsity $\kappa_s$", "high", "sparsity"
    reference = f"{_PAPER}, section 4.2"
    stepwise = headline = True

    def compute(self, material: Material) -> Tensor:
        """Return the share at each step."""
        return material.curves.kappa


class Connected(Measure):
    """The largest connected part of what is in."""

    name, words, heading = "connected", "connected area", "Largest connected part"
    unit, better, kind = "share of the image's largest", "high", "connectedness"
    reference = f"largest 4-connected component of the inserted pixels; {_PAPER}, section 4.3"
    stepwise = headline = True

    def compute(self, material: Material) -> Tensor:
        """Return the size at each step; by the mean of the channels, as in the paper."""
        return connected(material.batch, material.joined("mean"), **material.steps)


class Gini(Measure):
    """How concentrated the scores are on the support."""

    name, words, better, kind = "gini", "Gini index within the support", "high", "sparsity"
    reference = "Hurley and Rickard, IEEE Trans. Information Theory 55, 2009"

    def compute(self, material: Material) -> Tensor:
        """Return the index of each map."""
        return gini(material.joined("max"), material.inside)


class Roughness(Measure):
    """How much neighbours differ, in the map as it is."""

    name, words, better = "roughness", "total variation per pixel of the whole map", "low"
    kind, reference = (
        "connectedness",
        f"total variation of {_PAPER}, section 3.1, range scaled to 1",
    )

    def compute(self, material: Material) -> Tensor:
        """Return the variation of each map."""
        return roughness(material.joined("max"))


class TieShare(Measure):
    """How much of the order was decided by lot."""

    name, words, kind = "tie-share", "share of pixels ranked by lot", "trust"
    reference = "pixels whose score another one has too"

    def compute(self, material: Material) -> Tensor:
        """Return the share of each map."""
        return material.curves.tie_share


Score = Literal["precision", "recall", "pointing", "average_precision"]


class _AboveChance(Measure):
    """A score of localisation less that of a random order within the support."""

    better, kind = "high", "localisation"
    needs = frozenset({"truth"})
    score: Score

    def compute(self, material: Material) -> Tensor:
        """Return the gain of each image; NaN without a diseased pixel."""
        found = material.localisation
        gain: Tensor = getattr(found.observed, self.score) - getattr(found.random, self.score)
        return gain


class Precision(_AboveChance):
    """Diseased pixels among the top ones."""

    name, score = "precision-above-chance", "precision"
    words, reference = (
        "diseased share of the top 10 %, above chance",
        "precision within the support",
    )


class Recall(_AboveChance):
    """Top pixels among the diseased ones."""

    name, score = "recall-above-chance", "recall"
    words = "share of the disease in the top 10 %, above chance"
    reference = "recall within the support"


class Pointing(_AboveChance):
    """The pointing game."""

    name, score = "pointing-above-chance", "pointing"
    words = "top pixels on disease, above chance"
    reference = "Zhang et al., Top-down neural attention by excitation backprop, IJCV 2018"


class AveragePrecision(_AboveChance):
    """Mean precision at the diseased pixels."""

    name, score = "average-precision-above-chance", "average_precision"
    words = "average precision on diseased pixels, above chance"
    reference, headline = "mean precision at the diseased pixels, ranked within the support", True


class _Anatomy(Measure):
    better, kind, reference = "high", "anatomy", f"{_PAPER}, section 4.3"
    needs = frozenset({"trees"})


class Curvature(_Anatomy):
    """Whether what is in is tortuous."""

    name, words = "curvature", "area under curvature similarity"
    heading, unit = "Curvature similarity", r"$\cos(X_s, C)$"
    stepwise = headline = True

    def compute(self, material: Material) -> Tensor:
        """Return the similarity at each step."""
        return material.vessels.curvature.observed


class Dilation(_Anatomy):
    """Whether what is in is wide."""

    name, words = "dilation", "area under dilation similarity"
    heading, unit = "Dilation similarity", r"$\cos(D_s, D)$"
    stepwise = headline = True

    def compute(self, material: Material) -> Tensor:
        """Return the similarity at each step."""
        return material.vessels.dilation.observed


class CurvatureGain(_Anatomy):
    """Curvature similarity between a random and an ideal order."""

    name, words = "curvature-gain", "curvature, random 0 to ideal 1"

    def compute(self, material: Material) -> Tensor:
        """Return the gain of each map."""
        return material.vessels.curvature.normalised


class DiameterGain(_Anatomy):
    """Mean segment diameter between a random and an ideal order."""

    name, words = "diameter-gain", "mean diameter, random 0 to ideal 1"

    def compute(self, material: Material) -> Tensor:
        """Return the gain of each map."""
        return material.vessels.mean_diameter.normalised


class Coverage(_Anatomy):
    """Whether wide branches are covered first."""

    name, words = "coverage", "rank correlation of a branch's coverage with its diameter"

    def compute(self, material: Material) -> Tensor:
        """Return the mean over the steps, of each map."""
        return material.vessels.coverage.mean(1)


class Settled(Measure):
    """From which step on the model says what it says of the whole image."""

    name, words = "settled", "share of pixels until the verdict stays"
    better, kind, reference = "low", "faithfulness", f"measures what {_PAPER} says of Figure 2"

    def compute(self, material: Material) -> Tensor:
        """Return the step of each image."""
        curve = material.curves.insertion
        return settled(curve.correct, curve.grid)


class Background(Measure):
    """Whether the top of a map lies off the support."""

    name, words, better = "background", "share of the top pixels off the support", "low"
    kind, reference = "appearance", f"the top 5 % that {_PAPER} shows, at most the support's size"

    def compute(self, material: Material) -> Tensor:
        """Return the share of each map."""
        inside, pixels = material.inside.flatten(1), material.batch[0, 0].numel()
        count = inside.sum(1).clamp(max=max(1, round(TOP * pixels)))
        first = rank_pixels(material.joined("max")).rank < count[:, None]
        return (first & ~inside).sum(1).double() / count


class Sparsity(Measure):
    """How concentrated a map looks."""

    name, words, better, kind = "sparsity", "Gini index over all pixels", "high", "appearance"
    reference = "the Gini index of what speaks for the class, as maps are shown"

    def compute(self, material: Material) -> Tensor:
        """Return the index of each map."""
        return gini(_shown(material))


class ShownRoughness(Measure):
    """How rough a map looks."""

    name, words, better = "shown-roughness", "total variation per pixel", "low"
    kind, reference = "appearance", "of what speaks for the class, as maps are shown"

    def compute(self, material: Material) -> Tensor:
        """Return the variation of each map."""
        return roughness(_shown(material))


class Agreement(Measure):
    """How alike two explainers' maps are."""

    name, words, kind = "agreement", "rank correlation with the first", "appearance"
    reference, needs = "Spearman's correlation on the support", frozenset({"reference"})

    def compute(self, material: Material) -> Tensor:
        """Return the correlation of each map with its reference."""
        assert material.reference is not None  # noqa: S101 - asked for by `needs`
        return spearman(material.joined("max"), material.reference, material.inside)


MEASURES: Register[Measure] = Register(
    "measure",
    "ssplain.measures",
    Measure,
    (
        Insertion(),
        Deletion(),
        Kappa(),
        Connected(),
        Gini(),
        Roughness(),
        TieShare(),
        Precision(),
        Recall(),
        Pointing(),
        AveragePrecision(),
        Curvature(),
        Dilation(),
        CurvatureGain(),
        DiameterGain(),
        Coverage(),
        Settled(),
        Background(),
        Sparsity(),
        ShownRoughness(),
        Agreement(),
        *ELSEWHERE,
    ),
)


def settled(right: Tensor, grid: Tensor) -> Tensor:
    """Return, `(N,)`, the step from which on each image is right or wrong as the whole image is.

    Args:
        right: `(N, S)` boolean, whether the image is right at each step.
        grid: `(S,)`.

    >>> import torch
    >>> settled(torch.tensor([[0, 1, 0, 1], [1, 1, 1, 1]]) > 0, torch.arange(4.0))
    tensor([3., 0.])
    """
    same = right == right[:, -1:]
    lasting = same.flip(1).long().cumprod(1).sum(1)
    return grid[len(grid) - lasting]


def _shown(material: Material) -> Tensor:
    # below zero SSplain's background has a value of no meaning
    return material.joined("max").clamp(min=0)
