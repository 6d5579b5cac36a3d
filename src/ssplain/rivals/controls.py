"""Controls: maps that know nothing of the model, which every explainer has to beat."""

import torch
from torch import Tensor

from ssplain.question.inputs import find_support, intensity
from ssplain.question.protocol import Attributor, Question


class Intensity(Attributor):
    """The image itself: bright pixels first.

    >>> Intensity(lambda x: x.flatten(1)).attribute(torch.tensor([[0.0, 2.0]]))
    tensor([[[[0., 2.]]]])
    """

    def maps(self, question: Question) -> Tensor:
        """Return the brightness of each pixel."""
        return intensity(question.images)


class RandomPixels(Attributor):
    """Pixels in random order, the same order for each image.

    >>> maps = RandomPixels(lambda x: x.flatten(1), seed=3).attribute(torch.zeros(2, 1, 4, 4))
    >>> bool((maps[0] == maps[1]).all()), bool((maps > 0).all())
    (True, True)
    """

    def maps(self, question: Question) -> Tensor:
        """Return a random score above zero for each pixel."""
        images = question.images
        # drawn on the CPU and in double, so that every device and number type gets the same field
        generator = torch.Generator().manual_seed(self.seed)
        height, width = images.shape[-2:]
        field = 1 - torch.rand(height, width, generator=generator, dtype=torch.float64)
        return field.to(images).expand(len(images), 1, -1, -1)


class RandomInSupport(RandomPixels):
    """The support's pixels in random order, everything else after them with zero.

    >>> explainer = RandomInSupport(lambda x: x.flatten(1))
    >>> (explainer.attribute(torch.tensor([[0.0, 2.0]])) > 0).flatten().tolist()
    [False, True]
    """

    def maps(self, question: Question) -> Tensor:
        """Return a random score above zero for each pixel of the support."""
        return super().maps(question) * find_support(question.images, "nonzero")
