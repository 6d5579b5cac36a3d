"""All measures of a set of maps at once, one number per image each, ready to average and compare.

A number per image is what intervals and paired comparisons need (`ssplain.metrics.interval` and
`compare`); the mean curves are for drawing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from ssplain.errors import SSplainError
from ssplain.explain.inputs import Support, as_batch, find_support
from ssplain.explain.targets import Target
from ssplain.metrics.areas import Comparison, Interval, area, compare, interval
from ssplain.metrics.components import connected
from ssplain.metrics.curves import Baseline, insertion_deletion
from ssplain.metrics.localisation import localise
from ssplain.metrics.order import FINE_POINTS, Axis
from ssplain.metrics.similarity import vessel_similarity
from ssplain.metrics.sparsity import gini, roughness
from ssplain.vessels import VesselTree

# every class counts the same in these, as in balanced accuracy
BALANCED = frozenset({"insertion", "deletion"})


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What was measured on the maps of one explainer.

    Attributes:
        values: by measure, `(N,)`: areas under curves and single numbers; NaN where an image has
            none, as a healthy one has no localisation.
        curves: by measure, `(S,)`: the mean over the images at each step.
        grid: `(S,)` the steps.
        labels: `(N,)`.
    """

    values: Mapping[str, Tensor]
    curves: Mapping[str, Tensor]
    grid: Tensor
    labels: Tensor

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all of it as arrays by name, as a file can hold it.

        >>> one = torch.ones(1)
        >>> found = Evaluation({"gini": one}, {"kappa": one}, one, one)
        >>> list(found.arrays())
        ['grid', 'labels', 'values/gini', 'curves/kappa']
        """
        named = {"grid": self.grid, "labels": self.labels}
        named |= {f"values/{name}": values for name, values in self.values.items()}
        named |= {f"curves/{name}": curve for name, curve in self.curves.items()}
        return {name: tensor.cpu().numpy() for name, tensor in named.items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "Evaluation":
        """Return what `arrays` was made of.

        >>> one = torch.ones(1)
        >>> found = Evaluation({"gini": one}, {"kappa": one}, one, one)
        >>> Evaluation.from_arrays(found.arrays()).values
        {'gini': tensor([1.])}
        """

        def below(kind: str) -> dict[str, Tensor]:
            own = (name for name in arrays if name.startswith(kind))
            return {name.removeprefix(kind): torch.from_numpy(arrays[name]) for name in own}

        grid, labels = torch.from_numpy(arrays["grid"]), torch.from_numpy(arrays["labels"])
        return cls(below("values/"), below("curves/"), grid, labels)

    def summary(self, measure: str, *, seed: int = 0) -> Interval:
        """The mean over the images that have the measure, with its bootstrap interval."""
        values = self.values[measure]
        known = ~values.isnan()
        if not bool(known.any()):
            return Interval(torch.nan, torch.nan, torch.nan)
        balanced = measure in BALANCED
        return interval(values[known], self.labels[known], balanced=balanced, seed=seed)

    def against(self, other: "Evaluation", measure: str, *, seed: int = 0) -> Comparison:
        """Compare with another explainer on the same images, in pairs."""
        first, second = self.values[measure], other.values[measure]
        if len(first) != len(second) or not torch.equal(self.labels, other.labels):
            raise SSplainError("The two evaluations are of different images; compare the same.")
        known = ~(first.isnan() | second.isnan())
        if not bool(known.any()):
            return Comparison(Interval(torch.nan, torch.nan, torch.nan), torch.nan)
        balanced = measure in BALANCED
        return compare(
            first[known], second[known], self.labels[known], balanced=balanced, seed=seed
        )


def evaluate(
    model: Callable[..., Any],
    images: Tensor,
    labels: Target,
    maps: Tensor,
    *,
    axis: Axis = "support",
    points: int = FINE_POINTS,
    baseline: Baseline = "black",
    support: Support = "nonzero",
    truth: Tensor | None = None,
    trees: Sequence[VesselTree] | None = None,
    seed: int = 0,
) -> Evaluation:
    """Measure the maps of one explainer.

    Args:
        model: any model that `SSplain` takes.
        images: `(N, C, H, W)`.
        labels: as in `insertion_deletion`.
        maps: `(N, 1, H, W)`.
        axis: of all curves.
        points: of all curves.
        baseline: of insertion and deletion.
        support: of the images.
        truth: `(N, 1, H, W)` diseased pixels, where they are known, for localisation.
        trees: the vessels of each image, for what only vessel images have.
        seed: of the order among equal scores.

    >>> import ssplain
    >>> model = ssplain.models.load("lenet5-mnist")
    >>> images, labels = (part[:10] for part in ssplain.data.bundled("mnist"))
    >>> found = evaluate(model, images, labels, images, points=11)
    >>> list(found.values)
    ['insertion', 'deletion', 'kappa', 'connected', 'gini', 'roughness', 'tie-share']
    """
    batch = as_batch(images)
    curves = insertion_deletion(
        model,
        batch,
        labels,
        maps,
        axis=axis,
        points=points,
        baseline=baseline,
        support=support,
        seed=seed,
    )
    grid, answers = curves.insertion.grid, curves.insertion.labels
    parts = connected(batch, maps, axis=axis, points=points, support=support, seed=seed).cpu()
    inside = find_support(batch, support).to(maps.device)
    values = {
        "insertion": curves.insertion.areas,
        "deletion": curves.deletion.areas,
        "kappa": area(curves.kappa, grid),
        "connected": area(parts, grid),
        "gini": gini(maps, inside).cpu(),
        "roughness": roughness(maps).cpu(),
        "tie-share": curves.tie_share.double(),
    }
    means = {
        "insertion": curves.insertion.balanced_accuracy,
        "deletion": curves.deletion.balanced_accuracy,
        "kappa": curves.kappa.mean(0),
        "connected": parts.mean(0),
    }
    if truth is not None:
        place = localise(batch, maps, truth, support=support, seed=seed)
        for name in ("precision", "recall", "pointing", "average_precision"):
            gain = getattr(place.observed, name) - getattr(place.random, name)
            values[f"{name.replace('_', '-')} above chance"] = gain
    if trees is not None:
        found = vessel_similarity(
            batch, maps, axis=axis, points=points, support=support, trees=trees, seed=seed
        )
        means |= {
            "curvature": found.curvature.observed.mean(0),
            "dilation": found.dilation.observed.mean(0),
        }
        values |= {
            "curvature": area(found.curvature.observed, grid),
            "dilation": area(found.dilation.observed, grid),
            "curvature, random 0 to ideal 1": found.curvature.normalised,
            "mean-diameter, random 0 to ideal 1": found.mean_diameter.normalised,
            "coverage": found.coverage.mean(1),
        }
    return Evaluation(values, means, grid, answers)
