"""How connected the first pixels of a map are: the largest connected component.

Two rules. The paper's appendix links neighbours (up, down, left, right) whose values *differ*;
under it a flat bar of 539 pixels has a largest component of 3, and at half the pixels scattered
ones score higher than contiguous ones. The foreground rule links neighbours that are both there,
and is what one means by connected; it is the default.

Reference: Sunger et al., WACV 2026, section 4.3 and appendix.
"""

from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import ndimage
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from torch import Tensor

from ssplain.ask.batching import as_batch
from ssplain.errors import SSplainError
from ssplain.metrics.order import FINE_POINTS, Axis, steps
from ssplain.question.inputs import Support

Rule = Literal["foreground", "printed"]
Mask = NDArray[np.bool_]
Part = tuple[Any, ...]

# neighbours within a plane of a stack, none between planes
_FOUR = np.zeros((3, 3, 3), dtype=bool)
_FOUR[1] = ndimage.generate_binary_structure(2, 1)
# pixels, and their neighbours to the right or below
_ACROSS: tuple[Part, Part] = (np.s_[..., :-1], np.s_[..., 1:])
_DOWN: tuple[Part, Part] = (np.s_[..., :-1, :], np.s_[..., 1:, :])


def largest_component(images: Tensor, rule: Rule = "foreground") -> Tensor:
    """Return how many pixels the largest connected component of each image has, `(N,)`.

    Args:
        images: `(N, C, H, W)`; a pixel is there if any channel differs from zero, and two differ
            if any channel does.
        rule: "foreground" or "printed".

    >>> bar = torch.tensor([[[[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]]])
    >>> largest_component(bar).item(), largest_component(bar, "printed").item()
    (3, 3)
    """
    planes = images.detach().cpu().numpy()
    return torch.from_numpy(_largest((planes != 0).any(axis=1), planes, rule))


def connected(
    images: Tensor,
    maps: Tensor,
    *,
    rule: Rule = "foreground",
    axis: Axis = "all",
    points: int = FINE_POINTS,
    support: Support = "nonzero",
    seed: int = 0,
) -> Tensor:
    """Return the largest component of X_s as a share of the largest of X, `(N, points)`.

    An image that has no component, such as a flat one under the printed rule, has zeros.

    >>> X = torch.tensor([[[[1.0, 1.0, 1.0, 1.0]]]])
    >>> M = torch.tensor([[[[4.0, 1.0, 2.0, 3.0]]]])
    >>> connected(X, M, points=5)
    tensor([[0.0000, 0.2500, 0.2500, 0.5000, 1.0000]], dtype=torch.float64)
    """
    batch = as_batch(images)
    order, counts = steps(batch, maps, axis, points, support=support, seed=seed)
    whole = largest_component(batch, rule).double()
    planes, numbers = batch.detach().cpu().numpy(), counts[..., None, None].cpu().numpy()
    ranks = order.rank.view(-1, *batch.shape[-2:]).cpu().numpy()
    there = (planes != 0).any(axis=1)
    # one image at a time: all steps of all images at once would not fit into memory
    found = [
        _largest(there[i] & (ranks[i] < numbers[i]), planes[i : i + 1], rule)
        for i in range(len(planes))
    ]
    return torch.from_numpy(np.stack(found)) / whole.clamp(min=1)[:, None]


def _largest(there: Mask, images: NDArray[Any], rule: Rule) -> NDArray[np.int64]:
    """Count the pixels in the largest component of each plane, of all planes at once.

    Args:
        there: `(N, H, W)` the pixels that are in; the others are zero.
        images: `(N, C, H, W)`, or `(1, C, H, W)` for all planes, the values of those pixels.
        rule: which neighbours are linked.
    """
    if rule == "foreground":
        return _largest_label(there)
    if rule == "printed":
        return _largest_graph(*(_links(there, images, *way) for way in (_ACROSS, _DOWN)))
    raise SSplainError(f"rule={rule!r} is not known; use 'foreground' or 'printed'.")


def _largest_label(there: Mask) -> NDArray[np.int64]:
    labels, found = ndimage.label(there, structure=_FOUR)
    sizes = np.bincount(labels[there], minlength=found + 1)
    # labels rise from plane to plane, so the last of a plane tells which are its own
    last = np.maximum.accumulate(labels.reshape(len(labels), -1).max(axis=1))
    largest = np.zeros(len(there), dtype=np.int64)
    np.maximum.at(largest, np.searchsorted(last, np.arange(1, found + 1)), sizes[1:])
    return largest


def _links(there: Mask, images: NDArray[Any], here: Part, beyond: Part) -> Mask:
    """Say of each pixel whether it differs from its neighbour, if it has one."""
    differ = (images[here] != images[beyond]).any(axis=1)
    links = np.zeros_like(there)
    # what is in differs from what is not
    links[here] = (there[here] ^ there[beyond]) | (there[here] & differ)
    return links


def _largest_graph(across: Mask, down: Mask) -> NDArray[np.int64]:
    """Count the pixels in the largest component that links make of each plane.

    Linked pixels of a row form a run; runs that links join downwards form a component. There are
    fewer runs than pixels, which keeps the graph small.

    Args:
        across: `(N, H, W)` whether a pixel is linked with the one to its right.
        down: `(N, H, W)` whether it is linked with the one below.
    """
    pixels = across | down  # a pixel without a link is not in the graph
    for links, (here, beyond) in ((across, _ACROSS), (down, _DOWN)):
        pixels[beyond] |= links[here]
    at = np.flatnonzero(pixels)
    starts = np.ones(len(at), dtype=bool)
    starts[1:] = ~across.ravel()[at[:-1]]
    run = np.cumsum(starts, dtype=np.int32) - 1
    run_at = np.empty(pixels.size, dtype=np.int32)
    run_at[at] = run
    joined = down.ravel()[at]
    above, below = run[joined], run_at[at[joined] + pixels.shape[-1]]
    # two runs that touch along many pixels need one link
    new = (np.diff(above, prepend=-1) != 0) | (np.diff(below, prepend=-1) != 0)
    above, below = above[new], below[new]
    lengths = np.bincount(run)
    first_link = np.searchsorted(above, np.arange(len(lengths) + 1, dtype=np.int32))
    graph = csr_array((np.ones(len(below)), below, first_link), shape=(len(lengths),) * 2)
    component = connected_components(graph, directed=False)[1]
    sizes = np.bincount(component, weights=lengths).astype(np.int64)
    largest = np.zeros(len(pixels), dtype=np.int64)
    np.maximum.at(largest, at[starts] // pixels[0].size, sizes[component])
    return largest
