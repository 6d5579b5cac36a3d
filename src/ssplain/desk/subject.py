"""What stands on the page: an image as it is shown, and as the model takes it.

Of a digit both are the same. Of a photograph the model takes the vessels, cut out and made smaller;
its maps are laid back on the photograph, and what is painted there is taken out of the vessels.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ssplain.errors import SSplainError
from ssplain.fundus.frame import Frame
from ssplain.metrics import rank_pixels
from ssplain.models.calibrated import Kind


@dataclass(frozen=True, eq=False)
class Subject:
    """One image on the page.

    Attributes:
        shown: `(C, H, W)` in [0, 1].
        taken: `(C, h, w)`, as the model takes it.
        inside: `(H, W)` boolean: the pixels that maps are about, which are the drawn ones; of a
            photograph the vessels.
        vessels: `(H, W)` of an eye that was read; None otherwise.
        frame: where the model's picture lies on what is shown; None where it is all of it.
        reading: the numbers of an eye that was read, as JSON holds them.

    >>> one = Subject.plain(torch.tensor([[[0.0, 0.5, 1.0]]]))
    >>> one.inside.tolist(), one.part(torch.tensor([[True, True, False]])).tolist()
    ([[False, True, True]], [[[0.0, 0.5, 0.0]]])
    """

    shown: Tensor
    taken: Tensor
    inside: Tensor
    vessels: Tensor | None = None
    frame: Frame | None = None
    reading: Mapping[str, Any] | None = None

    @classmethod
    def plain(cls, image: Tensor) -> "Subject":
        """Return an image that is shown as the model takes it."""
        return cls(image, image, (image > 0).any(0))

    @classmethod
    def of_eye(cls, arrays: Mapping[str, NDArray[Any]], reading: Mapping[str, Any]) -> "Subject":
        """Return an eye that was read, from the arrays of `ssplain.pages.reading.arrays`."""
        picture = torch.from_numpy(arrays["picture"].astype(np.float32) / 255)
        vessels = torch.from_numpy(arrays["vessels"].astype(np.float32) / 255)
        height, width = vessels.shape
        top, left, side, size = (int(value) for value in arrays["frame"])
        return cls(
            shown=picture.permute(2, 0, 1).contiguous() if picture.ndim == 3 else picture[None],
            taken=torch.from_numpy(arrays["network_picture"])[None],
            inside=vessels > 0,
            vessels=vessels,
            frame=Frame((height, width), top, left, side, size),
            reading=reading,
        )

    @property
    def eye(self) -> Kind | None:
        """What kind of eye was read; None of any other image."""
        if self.vessels is None:
            return None
        return "photograph" if len(self.shown) == 3 else "segmented"

    @property
    def photograph(self) -> bool:
        """Whether it is a photograph that was read."""
        return self.eye == "photograph"

    def part(self, region: Tensor) -> Tensor:
        """Return what the model takes when nothing but a region `(H, W)` of the image is there."""
        if self.frame is None or self.vessels is None:
            return self.taken * region.to(self.taken.dtype)
        return self.frame.to_network((self.vessels * region).numpy())

    def lay(self, plane: Tensor, support: Tensor) -> Tensor:
        """Lay values `(1, h, w)` of the model's pixels on the image, `(1, H, W)`.

        Between the model's pixels they are interpolated, without what is not in the support.
        """
        if self.frame is None:
            return plane
        return self.frame.lay(plane[0], support[0])[None]


def layer(subject: Subject, scores: Tensor, kept: Tensor) -> bytes:
    """Return a map as the page reads it.

    For each pixel of the image its rank (32 bits), its score from the lowest to the highest of the
    support (16 bits), and whether it is kept (8 bits).

    Args:
        subject: the image.
        scores: `(1, h, w)`, of the model's pixels.
        kept: `(1, h, w)` boolean.

    >>> one = Subject.plain(torch.tensor([[[0.0, 0.5, 1.0]]]))
    >>> planes = layer(one, torch.tensor([[[0.0, 3.0, 9.0]]]), one.shown > 0.5)
    >>> np.frombuffer(planes, "<u4", 3).tolist(), len(planes)
    ([2, 1, 0], 21)
    """
    support = (subject.taken > 0).any(0, keepdim=True)
    inside = subject.inside[None]
    laid = subject.lay(scores.detach().cpu().double(), support).double()
    marked = kept.cpu() if subject.frame is None else subject.lay(kept.float().cpu(), support) > 0.5
    rank = rank_pixels(laid[None], inside[None]).rank.reshape(laid.shape)
    low, high = (float(edge) for edge in laid[inside].aminmax())
    level = (laid - low) / (high - low) if high > low else torch.full_like(laid, 0.5)
    level = (level.clamp(0, 1) * inside * 65535).round()
    planes = (
        rank.numpy().astype("<u4"),
        level.numpy().astype("<u2"),
        (marked & inside).numpy().astype("u1"),
    )
    return b"".join(plane.tobytes() for plane in planes)


def load_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of an .npz file; nothing in it is unpickled."""
    try:
        with np.load(BytesIO(path.read_bytes()), allow_pickle=False) as stored:
            return {name: stored[name] for name in stored.files}
    except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
        raise SSplainError(
            "The result of this image is missing or damaged; run its job again."
        ) from error
