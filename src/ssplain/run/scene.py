"""What is explained and measured: a model, images with their labels, and what is known of them."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from torch import Tensor, nn

from ssplain.ask.door import Door, ModelOptions
from ssplain.data import DATASETS
from ssplain.explain.presets import PRESETS
from ssplain.metrics import MEASURES
from ssplain.models import load, quick
from ssplain.models.card import card
from ssplain.models.fingerprint import fingerprint
from ssplain.run.revision import revision
from ssplain.vessels import VesselTree, trace


@dataclass(frozen=True, eq=False)
class Scene:
    """A model and images.

    Attributes:
        dataset: whose presets are used; None for the explainers' defaults.
        network: the model as it was trained.
        images: `(N, C, H, W)`.
        labels: `(N,)`, what counts as right.
        classes: the name of each class.
        truth: `(N, 1, H, W)` diseased pixels, where they are known.
        vessels: whether the images show vessels, which can be traced.
        options: how the model is called.
    """

    dataset: str | None
    network: Callable[..., Any]
    images: Tensor
    labels: Tensor
    classes: tuple[str, ...]
    truth: Tensor | None = None
    vessels: bool = False
    options: ModelOptions = field(default_factory=ModelOptions)
    _trees: dict[int, VesselTree] = field(default_factory=dict, repr=False)

    @cached_property
    def model(self) -> Callable[..., Any]:
        """What is explained: the same function, made quick."""
        network = self.network
        return quick(network) if isinstance(network, nn.Module) else network

    @cached_property
    def origin(self) -> dict[str, object] | None:
        """What tells the model, and how it is called, from others; None if nothing does.

        A function, or a module without weights, may do anything: its results are not kept.
        """
        model = self.model
        if not isinstance(model, nn.Module) or not model.state_dict():
            return None
        layers = f"{model!r}{getattr(model, 'code', '')}"
        return {
            **fingerprint(model),
            "layers": hashlib.sha256(layers.encode()).hexdigest(),
            "code": revision(type(model).__module__),
            "options": dict(self.options),
        }

    @property
    def piece(self) -> int:
        """How many images to explain at a time: little is lost when a run is stopped."""
        return 50 if self.images[0, 0].numel() <= 64 * 64 else 2

    def take(self, rows: Sequence[int]) -> "Scene":
        """Return the scene with some of its images.

        >>> bundled_scene("mnist", 3).take([2, 0]).labels.tolist()
        [1, 7]
        """
        some = list(rows)
        truth = None if self.truth is None else self.truth[some]
        return replace(
            self, images=self.images[some], labels=self.labels[some], truth=truth, _trees={}
        )

    def trees(self, rows: range) -> list[VesselTree] | None:
        """Return the vessels of some of the images, each traced once; None if they have none."""
        if not self.vessels:
            return None
        for row in rows:
            if row not in self._trees:
                self._trees[row] = trace(self.images[row])
        return [self._trees[row] for row in rows]

    def measures(self, *, with_reference: bool) -> list[str]:
        """Return the measures that can be taken here, with or without a map to compare with."""
        given = {
            "truth": self.truth is not None,
            "trees": self.vessels,
            "reference": with_reference,
        }
        return [n for n, one in MEASURES.items() if all(given.get(need) for need in one.needs)]

    def predicted(self) -> Tensor:
        """Return the classes that the model gives to the images, `(N,)`."""
        with Door(self.model, **self.options).open(self.images) as opened:
            return opened.probabilities.argmax(1).cpu()

    def examples(self, most: int) -> list[int]:
        """Return the first image of each class, `most` of them at most.

        >>> import torch
        >>> scene = Scene(None, nn.Identity(), torch.zeros(4, 1, 2, 2), torch.tensor([1, 1, 0, 2]),
        ...               ("a", "b", "c"))
        >>> scene.examples(2)
        [2, 0]
        """
        labels = self.labels.tolist()
        return [labels.index(label) for label in sorted(set(labels))][:most]


def bundled_scene(name: str, count: int, network: nn.Module | None = None) -> Scene:
    """Return the first images of a registered data set, `count` at most, with a model.

    Args:
        name: of the data set.
        count: how many images.
        network: the model; the data set's own if None.

    >>> bundled_scene("mnist", 3).labels.tolist()
    [7, 2, 1]
    """
    dataset = DATASETS.find(name)
    images, labels = dataset.load()
    return Scene(
        name if name in PRESETS else None,
        load(dataset.model) if network is None else network,
        images[:count],
        labels[:count],
        dataset.classes or card(dataset.model).classes,
        None if dataset.truth is None else dataset.truth()[:count],
        dataset.vessels,
    )
