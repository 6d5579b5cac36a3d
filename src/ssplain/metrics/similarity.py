r"""Do the first pixels of a map lie on tortuous and dilated vessels?

Curvature similarity is \(\cos(X_s, C)\) with the curvature C of every pixel; dilation similarity is
\(\cos(D_s, D)\) with the average segment diameter of every branch, where branches and lengths are
those of X and only the pixels counted change with s (Sunger et al., section 4.3).

Both have a trap. \(\cos(X_s, C)\) rises with the number of vessel pixels whatever they are: random
ones reach about \(\sqrt f \cos(X, C)\) at a share f. And \(\cos(D_s, D)\) is 1 as soon as every
branch is covered alike, so random vessel pixels are near the best possible. Therefore each curve
comes with that of a random and of an ideal order of as many vessel pixels, and with measures that a
random order cannot reach: the mean diameter and curvature of the pixels that are in, and the rank
correlation of a branch's coverage with its diameter.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ssplain.ask.batching import as_batch
from ssplain.errors import SSplainError
from ssplain.explain.stability import Numbers, rank_correlation
from ssplain.metrics.order import FINE_POINTS, Axis, at_counts, steps
from ssplain.question.inputs import Support, intensity
from ssplain.vessels import VesselTree, trace

Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Against:
    """A curve between that of a random order and that of an ideal one, `(N, S)` each."""

    observed: Tensor
    random: Tensor
    oracle: Tensor

    @property
    def normalised(self) -> Tensor:
        """`(N,)` gain over the random order as a share of the ideal order's gain.

        0 is random, 1 is ideal, below 0 is worse than random; NaN where no order is better than a
        random one, as in an image without vessels.
        """
        possible = (self.oracle - self.random).mean(1)
        gained = (self.observed - self.random).mean(1)
        return torch.where(possible > 1e-9, gained / possible, torch.nan)


@dataclass(frozen=True, eq=False)
class VesselSimilarity:
    """What the inserted vessel pixels are like, for N images at S steps.

    Attributes:
        inserted: `(N, S)` the share of the vessel pixels that is in.
        curvature: the paper's curvature similarity, cos(X_s, C).
        dilation: the paper's dilation similarity, cos(D_s, D).
        mean_curvature: of the inserted pixels, in 1/px.
        mean_diameter: of the branches that the inserted pixels belong to, in px.
        coverage: `(N, S)` rank correlation of the share of a branch that is in with its diameter;
            0 where all branches are covered alike.
    """

    inserted: Tensor
    curvature: Against
    dilation: Against
    mean_curvature: Against
    mean_diameter: Against
    coverage: Tensor


def vessel_similarity(
    images: Tensor,
    maps: Tensor,
    *,
    axis: Axis = "all",
    points: int = FINE_POINTS,
    support: Support = "nonzero",
    trees: Sequence[VesselTree] | None = None,
    draws: int = 10,
    seed: int = 0,
) -> VesselSimilarity:
    """Return how well maps find tortuous and dilated vessels.

    Args:
        images: `(N, C, H, W)`, black but for the vessels.
        maps: `(N, 1, H, W)`.
        axis: of the steps: "all" pixels, the "support" only, or "kappa".
        points: how many steps.
        support: for axis="support".
        trees: what `ssplain.vessels.trace` has found in each image, if it is known already.
        draws: how many random orders the random curves are the mean of.
        seed: of these, and of the order among equal scores.

    >>> image = torch.zeros(1, 1, 40, 60)
    >>> image[..., 8:11, 5:55] = 1.0
    >>> image[..., 26:33, 5:55] = 1.0
    >>> wide_first = torch.arange(40.0)[:, None].expand(1, 1, 40, 60)
    >>> found = vessel_similarity(image, wide_first, axis="support", points=5)
    >>> found.coverage[0, 2].item(), round(found.mean_diameter.normalised.item(), 1)
    (1.0, 1.0)
    """
    batch = as_batch(images)
    order, counts = steps(batch, maps, axis, points, support=support, seed=seed)
    bright = intensity(batch)
    vessel = (bright > 0).flatten(1)
    reached = at_counts(vessel.gather(1, order.pixels).cumsum(1), counts)
    planes = bright[:, 0].cpu().double().numpy()
    if trees is None:
        trees = [trace(plane) for plane in planes]
    if len(trees) != len(batch):
        raise SSplainError(
            f"There are {len(trees)} trees for {len(batch)} images; give one for each."
        )
    rows = []
    for plane, tree, pixels, count in zip(planes, trees, order.pixels, reached, strict=True):
        path = pixels.cpu().numpy()
        rows.append(_Image.of(plane, tree, count.cpu().numpy()).measure(path, draws, seed))

    def against(name: str) -> Against:
        return Against(*(_stack([curves[name][i] for _, curves in rows]) for i in range(3)))

    return VesselSimilarity(
        inserted=reached.double() / vessel.sum(1, keepdim=True).clamp(min=1),
        curvature=against("curvature"),
        dilation=against("dilation"),
        mean_curvature=against("mean_curvature"),
        mean_diameter=against("mean_diameter"),
        coverage=_stack([coverage for coverage, _ in rows]),
    )


def _stack(curves: Sequence[Numbers]) -> Tensor:
    return torch.from_numpy(np.stack(curves))


@dataclass(frozen=True, eq=False)
class _Image:
    """One image, flat: brightness, curvature, and branch of each pixel; the counts `(S,)`."""

    bright: Numbers
    curvature: Numbers
    measured: NDArray[np.bool_]
    labels: NDArray[np.int32]
    lengths: Numbers
    counts: Indices

    @classmethod
    def of(cls, plane: Numbers, tree: VesselTree, counts: Indices) -> "_Image":
        counted = tree.counted
        # too short branches are no part of D: their pixels belong to none
        number = np.concatenate([[0], np.cumsum(counted) * counted]).astype(np.int32)
        return cls(
            plane.ravel(),
            tree.curvature.values.ravel(),
            tree.curvature.measured.ravel(),
            number[tree.labels].ravel(),
            np.array([branch.length for branch in tree.branches])[counted],
            counts,
        )

    def measure(
        self, pixels: Indices, draws: int, seed: int
    ) -> tuple[Numbers, dict[str, tuple[Numbers, Numbers, Numbers]]]:
        """Return the coverage curve, and observed, random and ideal curve of each measure."""
        path = pixels[self.bright[pixels] > 0]
        rng = np.random.default_rng(seed)
        # sorted first, so that the draws do not depend on the map
        chance = [rng.permutation(np.sort(path)) for _ in range(draws)]
        taken = self.taken(path)
        diameter = self.diameter
        spread = np.concatenate([[0.0], diameter])[self.labels]
        owned = self.labels > 0
        curves = {
            "curvature": (
                self.cosine(path),
                np.mean([self.cosine(p) for p in chance], axis=0),
                self.cosine(_falling(path, self.curvature)),
            ),
            "dilation": (
                self.proportion(taken),
                np.mean([self.proportion(self.taken(p)) for p in chance], axis=0),
                # the same share of every branch is possible, up to whole pixels
                ((self.counts > 0) & bool(diameter.any())).astype(np.float64),
            ),
            "mean_curvature": self.means(path, self.curvature, self.measured),
            "mean_diameter": self.means(path, spread, owned),
        }
        size = np.bincount(self.labels, minlength=len(self.lengths) + 1)[1:]
        share = taken / np.maximum(size, 1)
        if len(size) < 2:
            return np.zeros(len(self.counts)), curves
        return rank_correlation(share, np.broadcast_to(diameter, share.shape)), curves

    @property
    def diameter(self) -> Numbers:
        """D, the average segment diameter of every branch."""
        size = np.bincount(self.labels, minlength=len(self.lengths) + 1)[1:]
        diameter: Numbers = size / self.lengths
        return diameter

    def cosine(self, path: Indices) -> Numbers:
        """cos(X_s, C) from running sums along the path; 0 where nothing is in."""
        x, c = self.bright[path], self.curvature[path]
        norm = np.sqrt(self.read(np.cumsum(x * x)) * np.sum(self.curvature**2))
        return _divided(self.read(np.cumsum(x * c)), norm)

    def taken(self, path: Indices) -> Numbers:
        """How many pixels of every branch are in at each step, `(S, branches)`."""
        count = len(self.lengths) + 1
        step = np.searchsorted(self.counts, np.arange(len(path)), side="right")
        cells = step * count + self.labels[path]
        entered = np.bincount(cells, minlength=(len(self.counts) + 1) * count)
        running = entered.reshape(-1, count)[: len(self.counts), 1:].cumsum(axis=0)
        return running.astype(np.float64)

    def proportion(self, taken: Numbers) -> Numbers:
        """cos(D_s, D); 0 where nothing is in."""
        inserted = taken / self.lengths
        norms = np.linalg.norm(inserted, axis=1) * np.linalg.norm(self.diameter)
        return _divided(inserted @ self.diameter, norms)

    def means(
        self, path: Indices, values: Numbers, known: NDArray[np.bool_]
    ) -> tuple[Numbers, Numbers, Numbers]:
        """Mean of the known values along the path, of all (a random order), along an ideal path."""
        everywhere = float(values[known].mean()) if known.any() else 0.0
        chance = np.full(len(self.counts), everywhere)
        found = []
        for way in (path, _falling(path, np.where(known, values, -np.inf))):
            total = self.read(np.cumsum(np.where(known, values, 0.0)[way]))
            count = self.read(np.cumsum(known[way], dtype=np.float64))
            # before the first known pixel nothing is preferred
            found.append(np.divide(total, count, out=chance.copy(), where=count > 0))
        return found[0], chance, found[1]

    def read(self, running: Numbers) -> Numbers:
        read: Numbers = np.concatenate([[0.0], running])[self.counts]
        return read


def _falling(path: Indices, values: Numbers) -> Indices:
    return path[np.argsort(-values[path], kind="stable")]


def _divided(top: Numbers, bottom: Numbers) -> Numbers:
    return np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0)
