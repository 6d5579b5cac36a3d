"""What a study looks at: a model, images with their labels, and what is known about them."""

from dataclasses import dataclass, field
from functools import cached_property

from torch import Tensor, nn

from ssplain.data import CLASSES, bundled
from ssplain.data.rop_truth import bundled_truth
from ssplain.models import fold_batch_norm, load
from ssplain.models.adapter import Classifier, frozen
from ssplain.models.batching import fitting_batch
from ssplain.models.card import card
from ssplain.vessels import VesselTree, trace

MODELS = {"mnist": "lenet5-mnist", "fmnist": "lenet5-fmnist", "rop": "googlenet-rop"}


@dataclass(frozen=True, eq=False)
class Scene:
    """A model and images.

    Attributes:
        dataset: whose presets are used.
        network: the model as it was trained.
        images: `(N, C, H, W)`.
        labels: `(N,)`.
        classes: the name of each class.
        truth: `(N, 1, H, W)` diseased pixels, where they are known: then the images show vessels.
    """

    dataset: str
    network: nn.Module
    images: Tensor
    labels: Tensor
    classes: tuple[str, ...]
    truth: Tensor | None = None
    _trees: dict[int, VesselTree] = field(default_factory=dict, repr=False)

    @cached_property
    def model(self) -> nn.Module:
        """What is explained: the same function, folded so that it is faster."""
        return fold_batch_norm(self.network)

    @property
    def piece(self) -> int:
        """How many images to explain at a time: little is lost when a run is stopped."""
        return 50 if self.images[0, 0].numel() <= 64 * 64 else 2

    def tree(self, index: int) -> VesselTree:
        """Return the vessels of an image, traced once."""
        if index not in self._trees:
            self._trees[index] = trace(self.images[index])
        return self._trees[index]

    def predicted(self) -> Tensor:
        """Return the classes that the model gives to the images, `(N,)`."""
        size = fitting_batch(*self.images.shape[-2:])
        with frozen(self.model):
            _, probabilities = Classifier(self.model).settle(self.images, size)
        return probabilities.argmax(1).cpu()

    def examples(self, most: int) -> list[int]:
        """Return the first image of each class, `most` of them at most.

        >>> import torch
        >>> scene = Scene("", nn.Identity(), torch.zeros(4, 1, 2, 2), torch.tensor([1, 1, 0, 2]),
        ...               ("a", "b", "c"))
        >>> scene.examples(2)
        [2, 0]
        """
        labels = self.labels.tolist()
        return [labels.index(label) for label in sorted(set(labels))][:most]


def bundled_scene(dataset: str, count: int) -> Scene:
    """Return the first bundled images of a data set, `count` at most, with the bundled model.

    >>> bundled_scene("mnist", 3).labels.tolist()
    [7, 2, 1]
    """
    name = MODELS[dataset]
    images, labels = bundled(dataset)
    truth = bundled_truth(dataset).relevance[:count] if dataset == "rop" else None
    classes = CLASSES[dataset] if dataset in CLASSES else card(name).classes
    return Scene(dataset, load(name), images[:count], labels[:count], tuple(classes), truth)
