r"""An order of pixels that keeps together what it shows.

The first pixels of a good ranking are scattered over the vessels, and so are the next ones,
though some places between them are worth hardly less. Here a pixel may come earlier by a share
\(\kappa\) of the order if a path through better ones leads to it from the largest part. With p
the ranks, 1 first,

\[ v(x) = \max\bigl(p(x),\ \kappa + R(x)\bigr), \qquad
   R(x) = \max_{\text{paths from } o \text{ to } x}\ \min_{z \text{ on the path}} p(z) \]

The very first pixels are there already: they stay as they are, and every path may use them. o is
the next one in the support's largest part. R is the morphological reconstruction of p from there
(Vincent, Morphological grayscale reconstruction in image analysis, IEEE Transactions on Image
Processing 2, 1993). Cut at any level t, the order holds all pixels above t and, of those above
\(t - \kappa\), the ones that are connected with o.
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import ndimage
from skimage.morphology import reconstruction
from torch import Tensor

from ssplain.explain.coarse import first_of
from ssplain.prox import ranked

_OUT, _IN = -1.0, 2.0  # below and above all ranks
# neighbours left, right, above and below, within a plane of a stack
_FOUR = np.zeros((3, 3, 3), dtype=bool)
_FOUR[1] = ndimage.generate_binary_structure(2, 1)


def joined(scores: Tensor, support: Tensor, pull: float) -> Tensor:
    r"""Return an order, ranks from 1 down to 0, in which what is connected comes together.

    Args:
        scores: `(N, 1, H, W)`.
        support: boolean like `scores`; zero outside.
        pull: \(\kappa\), by how much of the order a pixel may come earlier.

    >>> scores = torch.tensor([[[[9.0, 6.0, 2.0, 5.0, 7.0]]]])
    >>> everywhere = torch.ones(1, 1, 1, 5, dtype=torch.bool)
    >>> joined(scores, everywhere, pull=0.0).argsort(descending=True)
    tensor([[[[0, 4, 1, 3, 2]]]])
    >>> joined(scores, everywhere, pull=0.5).argsort(descending=True)
    tensor([[[[0, 1, 4, 3, 2]]]])
    """
    ranks = ranked(scores, support)
    first = first_of(ranks, support)
    reached = torch.from_numpy(_reached(_planes(ranks), _planes(first), _planes(support)))
    reached = reached.view_as(ranks).to(ranks)
    earlier = torch.where(reached >= 0, reached + pull, ranks)
    value = torch.maximum(ranks, earlier).masked_fill(first, _IN + pull)
    # by the value, and by the rank where it is equal
    by_rank = ranks.flatten(1).argsort(dim=1, stable=True)
    again = value.flatten(1).gather(1, by_rank).argsort(dim=1, stable=True)
    places = by_rank.gather(1, again).argsort(dim=1).view_as(ranks)
    return ranked(places.to(ranks.dtype), support)


def _planes(values: Tensor) -> NDArray[Any]:
    planes: NDArray[Any] = values.squeeze(1).detach().cpu().numpy()
    return planes


def _reached(
    ranks: NDArray[np.floating], first: NDArray[np.bool_], support: NDArray[np.bool_]
) -> NDArray[np.floating]:
    """Return R, `(N, H, W)`; below zero where no path leads."""
    height = np.where(support, np.where(first, _IN, ranks), _OUT)
    parts, _ = ndimage.label(support, structure=_FOUR)
    sizes = np.bincount(parts.ravel())
    sizes[0] = 0
    size = sizes[parts].reshape(len(parts), -1)
    largest = (size == size.max(axis=1, keepdims=True)).reshape(parts.shape)
    next_ones = np.where(largest & support & ~first, ranks, _OUT).reshape(len(parts), -1)
    begin = next_ones.argmax(axis=1)[:, None]
    seeds = np.full_like(next_ones, _OUT)
    np.put_along_axis(seeds, begin, np.take_along_axis(next_ones, begin, axis=1), axis=1)
    marked = seeds.reshape(parts.shape)
    reached: NDArray[np.floating] = reconstruction(marked, height, footprint=_FOUR)  # type: ignore[no-untyped-call]
    return reached
