"""What a measure is: one record that everything else reads, and the material that it works on."""

from abc import ABC
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal

from torch import Tensor

from ssplain.ask.batching import as_batch
from ssplain.ask.door import ModelOptions
from ssplain.errors import SSplainError
from ssplain.metrics.curves import Baseline, Curves, insertion_deletion
from ssplain.metrics.localisation import Localisation, localise
from ssplain.metrics.order import Axis
from ssplain.metrics.similarity import VesselSimilarity, vessel_similarity
from ssplain.question.inputs import Support, find_support
from ssplain.question.protocol import ChannelRule, over_channels
from ssplain.question.targets import Target
from ssplain.vessels import VesselTree

Better = Literal["high", "low"]
Need = Literal["truth", "trees", "reference", "elsewhere"]
Kind = Literal[
    "faithfulness", "sparsity", "connectedness", "anatomy", "localisation", "appearance", "trust"
]


@dataclass(frozen=True, eq=False)
class Material:
    """Maps of one explainer with all that measures may ask for; shared work is done once.

    Attributes:
        model: any model that `SSplain` takes.
        images: `(N, C, H, W)`.
        labels: the classes that count as right, as in `insertion_deletion`.
        maps: `(N, 1, H, W)`, or `(N, C, H, W)` where channels have scores of their own.
        axis: of the steps.
        points: how many steps.
        baseline: what a missing pixel is.
        support: of the images.
        truth: `(N, 1, H, W)` diseased pixels, where they are known.
        trees: the vessels of each image, where it has any.
        reference: `(N, 1, H, W)` maps to compare with.
        seed: of the order among equal scores.
        options: how the model is called.
    """

    model: Callable[..., Any]
    images: Tensor
    labels: Target
    maps: Tensor
    axis: Axis
    points: int
    baseline: Baseline = "black"
    support: Support = "nonzero"
    truth: Tensor | None = None
    trees: Sequence[VesselTree] | None = None
    reference: Tensor | None = None
    seed: int = 0
    options: ModelOptions = field(default_factory=ModelOptions)

    def joined(self, rule: ChannelRule) -> Tensor:
        """Return the maps with their channels joined, `(N, 1, H, W)`."""
        single = self.maps.dim() != 4 or self.maps.shape[1] == 1
        return self.maps if single else over_channels(self.maps, rule)

    @property
    def steps(self) -> dict[str, Any]:
        """Return how pixels are put in order and counted, as the functions of this room take it."""
        return {
            "axis": self.axis,
            "points": self.points,
            "support": self.support,
            "seed": self.seed,
        }

    @cached_property
    def batch(self) -> Tensor:
        """The images as `(N, C, H, W)`."""
        return as_batch(self.images)

    @cached_property
    def answers(self) -> Tensor:
        """The labels `(N,)`: as given, one for each image, or as the model settles them."""
        given = self.labels
        if isinstance(given, Tensor) and given.shape == (len(self.batch),):
            return given.cpu().long()
        return self.curves.insertion.labels

    @cached_property
    def inside(self) -> Tensor:
        """The support, `(N, 1, H, W)` boolean, where the maps are."""
        return find_support(self.batch, self.support).to(self.maps.device)

    @cached_property
    def curves(self) -> Curves:
        """Insertion and deletion, which also settle the labels."""
        return insertion_deletion(
            self.model,
            self.batch,
            self.labels,
            self.joined("max"),
            baseline=self.baseline,
            **self.steps,
            **self.options,
        )

    @cached_property
    def localisation(self) -> Localisation:
        """How well the maps point at the truth."""
        if self.truth is None:
            raise SSplainError("Localisation needs truth=, the diseased pixels of each image.")
        maps = self.joined("max")
        return localise(self.batch, maps, self.truth, support=self.support, seed=self.seed)

    @cached_property
    def vessels(self) -> VesselSimilarity:
        """What the inserted vessels are like; by the mean of the channels, as in the paper."""
        return vessel_similarity(self.batch, self.joined("mean"), trees=self.trees, **self.steps)

    def gives(self, need: Need) -> bool:
        """Whether something that not every set of images has is there."""
        return need != "elsewhere" and getattr(self, need) is not None


class Measure(ABC):
    """A measure of maps: what it is called, which way is better, how it is computed and averaged.

    Tables, figures, verdicts, the command line and the documentation take all that they say about a
    measure from here. One of your own is a class like those in `ssplain.metrics.measures`, given to
    `ssplain.metrics.MEASURES.add`.

    Attributes:
        name: on the command line and in tables.
        words: what the number is, in sentences and below figures.
        heading: what the curve is, above figures; the name if not given.
        unit: of the value at one step.
        better: "high" or "low"; None where neither is a merit by itself.
        kind: what kind of question it answers.
        reference: where it is defined.
        needs: what it takes beside model, images, labels and maps: "truth", "trees", a "reference"
            map, or what is measured "elsewhere" than on finished maps.
        stepwise: it has a value at every step; the number of an image is the area below.
        balanced: means give every class the same weight, as in balanced accuracy.
        headline: it belongs in a short table.

    >>> class Brightest(Measure):
    ...     name, words, unit, better = "brightest", "brightness of the top pixel", "", "high"
    ...     def compute(self, material):
    ...         place = material.joined("max").flatten(1).argmax(1, keepdim=True)
    ...         return material.batch.amax(1).flatten(1).gather(1, place).squeeze(1)
    >>> Brightest().is_better(0.9, 0.1)
    True
    """

    name: str
    words: ClassVar[str]
    heading: ClassVar[str] = ""
    unit: ClassVar[str] = ""
    better: ClassVar[Better | None] = None
    kind: ClassVar[Kind] = "faithfulness"
    reference: ClassVar[str] = ""
    needs: ClassVar[frozenset[Need]] = frozenset()
    stepwise: ClassVar[bool] = False
    balanced: ClassVar[bool] = False
    headline: ClassVar[bool] = False

    def compute(self, material: Material) -> Tensor:  # noqa: ARG002 - for those who override it
        """Return one value per image `(N,)`, or per image and step `(N, S)` if stepwise."""
        raise SSplainError(
            f"The measure {self.name!r} is not taken from finished maps ({self.reference}); leave "
            "it out here."
        )

    @property
    def sign(self) -> int:
        """1 if high is good, -1 if low is good; complains where neither is."""
        if self.better is None:
            raise SSplainError(f"Of {self.name!r} neither high nor low is good; rank by another.")
        return 1 if self.better == "high" else -1

    def is_better(self, first: float, second: float) -> bool:
        """Whether the first value is the better one."""
        return self.sign * (first - second) > 0

    def says(self, text: str) -> str:
        """Return a text with which way is better.

        >>> from ssplain.metrics import MEASURES
        >>> MEASURES["deletion"].says("area")
        'area, low is good'
        """
        return f"{text}, {self.better} is good" if self.better else text
