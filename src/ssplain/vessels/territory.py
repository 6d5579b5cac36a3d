"""Which branch a vessel pixel belongs to: the one nearest to it on a way inside the vessels."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from ssplain.vessels.pose import Plane

# where a pixel is, where its neighbour is, and how far that is; each pair of neighbours once
_STEPS = (
    (np.s_[:, :-1], np.s_[:, 1:], 1.0),
    (np.s_[:-1], np.s_[1:], 1.0),
    (np.s_[:-1, :-1], np.s_[1:, 1:], math.sqrt(2)),
    (np.s_[:-1, 1:], np.s_[1:, :-1], math.sqrt(2)),
)


def territories(vessel: NDArray[np.bool_], curves: Sequence[Plane]) -> NDArray[np.int32]:
    """Divide the vessel pixels among curves.

    The way is counted inside the vessels, 1 px per straight step and sqrt(2) px per diagonal one,
    so that the rim of a wide vessel is not given to a thin one that runs beside it.

    Args:
        vessel: (H, W) pixels to divide.
        curves: (n, 2) points (row, column) of each curve.

    Returns:
        (H, W) number of the curve from 1; 0 off the vessels and where no curve can be reached.

    Example:
        >>> vessel = np.array([[1, 1, 1, 1], [0, 0, 0, 1], [1, 1, 1, 1]], dtype=bool)
        >>> territories(vessel, [np.array([[0.0, 0.0]]), np.array([[2.0, 3.0]])])
        array([[1, 1, 1, 2],
               [0, 0, 0, 2],
               [2, 2, 2, 2]], dtype=int32)
    """
    owner = np.zeros(vessel.shape, dtype=np.int32)
    for label, points in enumerate(curves, start=1):
        owner[tuple(np.rint(points).astype(np.intp).T)] = label
    ground = vessel | (owner > 0)  # a curve may bridge a pinhole
    if not curves:
        return owner
    index = np.cumsum(ground).reshape(ground.shape) - 1
    ways = []
    for here, there, step in _STEPS:
        both = ground[here] & ground[there]
        ways.append((index[here][both], index[there][both], np.full(both.sum(), step)))
    a, b, lengths = (np.concatenate(part) for part in zip(*ways, strict=True))
    count = int(ground.sum())
    _, _, nearest = dijkstra(
        coo_array((lengths, (a, b)), shape=(count, count)).tocsr(),
        directed=False,
        indices=np.flatnonzero(owner[ground]),
        min_only=True,
        return_predecessors=True,
    )
    reached = nearest >= 0
    owner[ground] = np.where(reached, owner[ground][np.where(reached, nearest, 0)], 0)
    return np.where(vessel, owner, 0)
