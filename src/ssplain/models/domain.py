"""The images that a model was trained on, in a few numbers; what lies outside is not answered for.

A network answers whatever it is shown: one trained on vessel trees is certain that a cat is a
healthy eye. A card may therefore hold what all its training images had in common, and an image that
has it not is refused unless the user insists.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields

import numpy as np
import torch
from torch import Tensor

from ssplain.errors import SSplainError

Range = tuple[float, float]
LIT = 0.02  # what is brighter than this is lit: five levels of 255, above most noise of JPEG
MARGIN = 0.5  # how far beyond the training images is still inside, in widths of their range
FEWEST = 20


@dataclass(frozen=True)
class Domain:
    """Ranges of what images have in common, each `(low, high)`.

    Attributes:
        lit: share of the pixels that are brighter than 0.02: how sparse an image is.
        brightness: mean value of those.
        soft: share of those that are grey, between 0.02 and 0.98: near 0 for binary images.
        levels: how many different values there are, of 256; fewer tell of a lower bit depth.

    >>> digits = torch.rand(50, 1, 8, 8) * (torch.rand(50, 1, 8, 8) < 0.3)
    >>> domain = Domain.of(digits)
    >>> domain.faults(digits[0])
    []
    >>> domain.faults(torch.ones(1, 8, 8))[0]
    '100 % of its pixels are lit; the model was trained on images with ... %'
    """

    lit: Range
    brightness: Range
    soft: Range
    levels: Range

    @classmethod
    def of(cls, images: Tensor) -> "Domain":
        """Return the domain of training images `(N, C, H, W)`, in [0, 1] or bytes.

        The range of nearly all images (all but one in a thousand at each end), and half of it more
        on both sides.
        """
        if len(images) < FEWEST:
            raise SSplainError(
                f"{len(images)} images are too few to say what all have in common; give {FEWEST}."
            )
        found = torch.tensor([_numbers(image) for image in images])
        low, high = found.quantile(torch.tensor([0.001, 0.999]).to(found), dim=0)
        room = MARGIN * (high - low)
        least = torch.tensor([0.0, 0.0, 0.0, 1.0]).to(found)
        most = torch.tensor([1.0, 1.0, 1.0, 256.0]).to(found)
        low, high = torch.maximum(low - room, least), torch.minimum(high + room, most)
        low[3], high[3] = (low[3] / 2).floor(), 256.0  # a finer scale never hurts
        return cls(
            *((round(a, 4), round(b, 4)) for a, b in zip(low.tolist(), high.tolist(), strict=True))
        )

    def faults(self, image: Tensor) -> list[str]:
        """Return what sets an image `(C, H, W)` apart from the training images, in sentences."""
        lit, brightness, soft, levels = _numbers(image)
        told: list[str] = []
        if not lit:
            return told  # nothing to explain, which is told elsewhere
        if not self.lit[0] <= lit <= self.lit[1]:
            told.append(f"{lit:.0%} of its pixels are lit; {_percent('with', self.lit)}")
        if not self.brightness[0] <= brightness <= self.brightness[1]:
            told.append(
                f"its lit pixels have a mean of {brightness:.2f}; the model was trained on images "
                f"with {self.brightness[0]:.2f} to {self.brightness[1]:.2f}"
            )
        if not self.soft[0] <= soft <= self.soft[1]:
            told.append(f"{soft:.0%} of its lit pixels are grey; {_percent('with', self.soft)}")
        if not self.levels[0] <= levels <= self.levels[1]:
            told.append(
                f"it has {levels:.0f} different values; the model was trained on images with "
                f"{self.levels[0]:.0f} to {self.levels[1]:.0f}"
            )
        return [fault.replace("%", " %") for fault in told]

    def require(self, image: Tensor, what: object, model: str, remark: str | None = None) -> None:
        """Complain about an image that lies outside."""
        faults = self.faults(image)
        if faults:
            faults += [remark] if remark else []
            raise SSplainError(
                f"{what} is not the kind of image that {model} knows: {'; '.join(faults)}. What it "
                "says would mean nothing; with --anyway it is explained nevertheless."
            )

    def numbers(self) -> dict[str, list[float]]:
        """Return the ranges for a card."""
        return {name: list(pair) for name, pair in asdict(self).items()}

    @classmethod
    def read(cls, numbers: Mapping[str, list[float]]) -> "Domain":
        """Return what `numbers` gave."""
        return cls(
            **{f.name: (float(numbers[f.name][0]), float(numbers[f.name][1])) for f in fields(cls)}
        )


def _numbers(image: Tensor) -> tuple[float, float, float, float]:
    """Return lit share, brightness, softness and levels of an image."""
    # in NumPy: on a digit, and a hundred thousand of them, PyTorch's calls cost more than the sums
    unit = image.detach().float().cpu().numpy() / (255 if image.dtype == torch.uint8 else 1)
    grey = (unit[0] if len(unit) == 1 else unit.mean(0)).ravel()
    lit = grey[grey > LIT]
    count = np.count_nonzero(np.bincount(np.rint(grey * 255).clip(0, 255).astype(np.int64)))
    if not len(lit):
        return 0.0, 0.0, 0.0, float(count)
    soft = np.count_nonzero(lit < 0.98) / len(lit)
    return len(lit) / len(grey), float(lit.sum() / len(lit)), soft, float(count)


def _percent(joint: str, pair: Range) -> str:
    return f"the model was trained on images {joint} {100 * pair[0]:.0f} to {pair[1]:.0%}"
