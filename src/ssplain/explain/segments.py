"""Parts of an image that count as one: branches of the vessel tree, superpixels, or given ones."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Unpack

import numpy as np
import torch
from skimage.segmentation import slic
from torch import Tensor

from ssplain.ask.door import Door, ModelOptions
from ssplain.ask.named import told_classes
from ssplain.errors import SSplainError
from ssplain.question.inputs import Support, find_support, intensity
from ssplain.question.targets import Target, resolve_target
from ssplain.vessels import trace

Segments = Literal["vessels", "superpixels"] | Tensor | Callable[[Tensor], Tensor]
SUPERPIXELS = 40  # on the support of an image
COMPACTNESS = 0.1  # how much nearness counts beside brightness, for images in [0, 1]


def find_segments(images: Tensor, support: Tensor, segments: Segments) -> Tensor:
    """Return the part that each pixel belongs to, `(N, 1, H, W)`: 1, 2, ..., and 0 for none.

    Args:
        images: `(N, C, H, W)`.
        support: `(N, 1, H, W)` boolean; pixels outside belong to no part.
        segments: "vessels" (the branches of each image's vessel tree), "superpixels" (40 on the
            support of each image; Achanta et al., SLIC, 2012), whole numbers `(H, W)` for all
            images or `(N, 1, H, W)`, or a function of the images that returns such.

    >>> image = torch.zeros(1, 1, 8, 8)
    >>> image[..., 2:6, 2:6] = 1
    >>> find_segments(image, image > 0, torch.ones(8, 8, dtype=torch.long)).sum().item()
    16
    """
    n, _, height, width = images.shape
    if isinstance(segments, str):
        if segments not in ("vessels", "superpixels"):
            raise SSplainError(
                f"segments={segments!r} is not known; use 'vessels', 'superpixels', a tensor of "
                "whole numbers or a function that returns one."
            )
        cut = _branches if segments == "vessels" else _superpixels
        bright = intensity(images).cpu().numpy()
        inside = support.cpu().numpy()
        parts = [cut(b[0], s[0]) for b, s in zip(bright, inside, strict=True)]
        given = torch.from_numpy(np.stack(parts)[:, None].astype(np.int64))
    else:
        given = segments if isinstance(segments, Tensor) else segments(images)
        right = given.shape in ((height, width), (n, 1, height, width))
        if not right or given.is_floating_point() or int(given.min()) < 0:
            raise SSplainError(
                f"The segments are {given.dtype} of shape {tuple(given.shape)}; give whole numbers "
                f"from 0 on, ({height}, {width}) for all images or ({n}, 1, {height}, {width})."
            )
        given = given.long().reshape(-1, 1, height, width).expand(n, -1, -1, -1)
    return given.to(images.device) * support


def _branches(bright: np.ndarray[Any, Any], inside: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return trace(bright * inside).labels


def _superpixels(
    bright: np.ndarray[Any, Any], inside: np.ndarray[Any, Any]
) -> np.ndarray[Any, Any]:
    count = min(SUPERPIXELS, int(inside.sum()))
    labels: np.ndarray[Any, Any] = slic(
        bright.astype(np.float64),
        n_segments=count,
        compactness=COMPACTNESS,
        mask=inside,
        channel_axis=None,
        start_label=1,
    )
    return labels


@dataclass(frozen=True)
class Worth:
    """What one part of an image is worth.

    Attributes:
        image: which image.
        segment: its number.
        rank: its place by the map, from 1.
        pixels: how many it has.
        share: of the support.
        score: the mean of the map over it.
        alone: the probability of the target with this part alone.
        lost: what the probability loses without this part.
        together: the probability with this part and all that rank before it.
    """

    image: int
    segment: int
    rank: int
    pixels: int
    share: float
    score: float
    alone: float
    lost: float
    together: float


def worth(
    model: Callable[..., Any],
    images: Tensor,
    maps: Tensor,
    segments: Segments,
    target: Target = None,
    *,
    support: Support = "nonzero",
    **options: Unpack[ModelOptions],
) -> list[Worth]:
    """Return the parts of each image, the one that its map ranks highest first, with their worth.

    Args:
        model: as for `SSplain`.
        images: `(N, C, H, W)`.
        maps: `(N, 1, H, W)`.
        segments: as for `find_segments`.
        target: the explained classes; None for the predicted ones.
        support: as for `SSplain`.
        options: how the model is called.

    >>> import ssplain
    >>> model = ssplain.models.load("lenet5-mnist")
    >>> images, labels = (part[:1] for part in ssplain.data.bundled("mnist"))
    >>> maps = ssplain.explain.make("ssplain-ranking", model, "mnist").attribute(images, labels)
    >>> table = worth(model, images, maps, "superpixels", labels)
    >>> [row.rank for row in table[:3]], table[-1].together > 0.9
    ([1, 2, 3], True)
    """
    rows: list[Worth] = []
    with Door(model, **options).open(images) as opened:
        inside = find_support(opened.images, support)
        labels = find_segments(opened.images, inside, segments)
        names = told_classes(opened.classifier.model)
        chosen, weights = resolve_target(target, opened.probabilities, names)
        whole = (weights * opened.probabilities).sum(1)
        del chosen
        for at, image in enumerate(opened.images):
            ranked = _ranked(maps[at].to(image), labels[at])
            if not ranked:
                continue
            shown = torch.stack([labels[at] == number for number, _ in ranked])
            before = shown.cumsum(0) > 0
            seen = torch.cat([shown, ~shown, before]).to(image) * image
            owner = torch.full((len(seen),), at, device=image.device)
            classifier = opened.classifier.take(owner)
            p = torch.cat(
                opened.run(
                    lambda r, c=classifier, s=seen: c.take(  # type: ignore[misc]
                        torch.arange(r.start, r.stop, device=s.device)
                    ).probabilities(s[r]),
                    len(seen),
                )
            )
            alone, without, together = (p * weights[at]).sum(1).view(3, -1).tolist()
            pixels = shown.flatten(1).sum(1).tolist()
            size = int(inside[at].sum())
            rows += [
                Worth(
                    at, number, i + 1, pixels[i], pixels[i] / size, score, alone[i],
                    float(whole[at]) - without[i], together[i],
                )
                for i, (number, score) in enumerate(ranked)
            ]  # fmt: skip
    return rows


def _ranked(scores: Tensor, labels: Tensor) -> list[tuple[int, float]]:
    """Return the parts' numbers and mean scores, the highest first."""
    numbers, member = torch.unique(labels, return_inverse=True)
    sums = torch.zeros(len(numbers)).to(scores).index_add(0, member.flatten(), scores.flatten())
    means = (sums / member.flatten().bincount()).tolist()
    pairs = [(n, m) for n, m in zip(numbers.tolist(), means, strict=True) if n > 0]
    return sorted(pairs, key=lambda pair: -pair[1])
