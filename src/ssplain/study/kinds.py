"""The kinds of study, and the explainers in them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ssplain.explain.registry import METHODS
from ssplain.metrics.order import Axis

Targets = Literal["label", "predicted"]
Exhibits = Literal["curves", "areas", "vessels", "localisation", "maps", "agreement", "passes"]


@dataclass(frozen=True)
class Variant:
    """An explainer in a study; claims point at it.

    Attributes:
        title: in figures and tables, and where its numbers are found.
        method: its name in the registry.
        settings: what differs from the paper's preset of the data set.
    """

    title: str
    method: str
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @classmethod
    def of(cls, method: str) -> "Variant":
        """Return an explainer with the paper's settings, under its own title.

        >>> Variant.of("lime").title
        'LIME'
        """
        return cls(METHODS.find(method).title, method)

    def all_settings(self, dataset: str | None) -> dict[str, Any]:
        """Return the preset with what differs from it.

        >>> Variant("without smoothness", "ssplain-0", {"tv_weight": 0.0}).all_settings("rop")[
        ...     "tv_weight"]
        0.0
        """
        return {**METHODS.find(self.method).settings(dataset), **self.settings}


@dataclass(frozen=True)
class Study:
    """An item of the paper.

    Attributes:
        name: on the command line.
        title: for readers.
        where: in the paper.
        datasets: whose images and model are used.
        variants: what is compared; the first is what the others are compared with.
        images: how many, unless the user says otherwise.
    """

    name: str
    title: str
    where: str
    datasets: tuple[str, ...]
    variants: tuple[Variant, ...]
    images: int

    @property
    def dataset(self) -> str:
        """The data sets in words."""
        return ", ".join(self.datasets)


@dataclass(frozen=True)
class MapStudy(Study):
    """Maps of explainers, measured and shown.

    Attributes:
        targets: which classes are explained: the true "label" or the "predicted" ones. Accuracy is
            against the true label in both cases.
        axes: of the curves, each with its number of points.
        exhibits: the figures and tables.
        drawn: the explainers in grids of maps; all if empty.
        examples: whether example maps are kept for the page's slider.
    """

    targets: Targets = "label"
    axes: tuple[tuple[Axis, int], ...] = ()
    exhibits: tuple[Exhibits, ...] = ()
    drawn: tuple[Variant, ...] = ()
    examples: bool = False


@dataclass(frozen=True)
class SanityStudy(Study):
    """Maps of a network that loses its weights block by block.

    Attributes:
        seeds: of the random weights.
    """

    seeds: tuple[int, ...] = (0,)


@dataclass(frozen=True)
class TimesStudy(Study):
    """Execution times, one image at a time."""


@dataclass(frozen=True)
class StabilityStudy(Study):
    """Maps under noise that nobody sees.

    Attributes:
        noisy: how many images of each data set are explained under noise.
        draws: how often, for each size of the noise.
    """

    noisy: int = 60
    draws: int = 2
