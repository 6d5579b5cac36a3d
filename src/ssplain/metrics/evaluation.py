"""All measures of a set of maps at once, image by image; everything else is derived from these."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import torch
from numpy.typing import NDArray
from torch import Tensor

from ssplain.ask.door import ModelOptions
from ssplain.errors import SSplainError
from ssplain.metrics.curves import Baseline
from ssplain.metrics.intervals import Comparison, Interval, area, balanced_mean, interval, paired
from ssplain.metrics.measure import Material
from ssplain.metrics.measures import MEASURES
from ssplain.metrics.order import FINE_POINTS, Axis
from ssplain.question.inputs import Support
from ssplain.question.targets import Target
from ssplain.vessels import VesselTree

_UNKNOWN = Interval(torch.nan, torch.nan, torch.nan)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What was measured on the maps of one explainer, image by image.

    Attributes:
        values: by measure, `(N,)`: areas under curves and single numbers; NaN where an image has
            none, as a healthy one has no localisation.
        curves: by measure, `(N, S)`: the value of each image at each step.
        grid: `(S,)` the steps.
        labels: `(N,)`.
        seconds: what measuring took.
    """

    values: Mapping[str, Tensor]
    curves: Mapping[str, Tensor]
    grid: Tensor
    labels: Tensor
    seconds: float = 0.0

    @classmethod
    def of_values(cls, values: Mapping[str, Tensor], labels: Tensor) -> "Evaluation":
        """Return an evaluation without curves.

        >>> one = Evaluation.of_values({"seconds": torch.ones(2)}, torch.zeros(2))
        >>> one.summary("seconds").value
        1.0
        """
        return cls(values, {}, torch.zeros(0), labels)

    @staticmethod
    def join(parts: Sequence["Evaluation"]) -> "Evaluation":
        """Put the images of several evaluations one after the other."""
        first = parts[0]
        return Evaluation(
            {name: torch.cat([part.values[name] for part in parts]) for name in first.values},
            {name: torch.cat([part.curves[name] for part in parts]) for name in first.curves},
            first.grid,
            torch.cat([part.labels for part in parts]),
            sum(part.seconds for part in parts),
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all of it as arrays by name, as a file holds it.

        >>> one = torch.ones(1)
        >>> list(Evaluation({"gini": one}, {"kappa": one[None]}, one, one).arrays())
        ['grid', 'labels', 'seconds', 'values/gini', 'curves/kappa']
        """
        named = {"grid": self.grid, "labels": self.labels}
        named["seconds"] = torch.tensor(self.seconds, dtype=torch.float64)
        named |= {f"values/{name}": values for name, values in self.values.items()}
        named |= {f"curves/{name}": curve for name, curve in self.curves.items()}
        return {name: tensor.cpu().numpy() for name, tensor in named.items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "Evaluation":
        """Return what `arrays` was made of."""

        def below(kind: str) -> dict[str, Tensor]:
            own = (name for name in arrays if name.startswith(kind))
            return {name.removeprefix(kind): torch.from_numpy(arrays[name]) for name in own}

        grid, labels = torch.from_numpy(arrays["grid"]), torch.from_numpy(arrays["labels"])
        return cls(below("values/"), below("curves/"), grid, labels, float(arrays["seconds"]))

    def mean_curve(self, measure: str) -> Tensor:
        """Return the mean over the images at each step, `(S,)`, as the measure is averaged."""
        curve = self.curves[measure].double()
        if MEASURES.find(measure).balanced:
            return balanced_mean(curve, self.labels)
        return curve.mean(0)

    def summary(self, measure: str, *, seed: int = 0) -> Interval:
        """Return the mean over the images that have the measure, with its bootstrap interval."""
        values, record = self.values[measure], MEASURES.find(measure)
        known = ~values.isnan()
        if not bool(known.any()):
            return _UNKNOWN
        return interval(values[known], self.labels[known], balanced=record.balanced, seed=seed)

    def against(self, other: "Evaluation", measure: str, *, seed: int = 0) -> Comparison:
        """Compare with another explainer on the same images, in pairs: this one less the other."""
        first, second = self.values[measure], other.values[measure]
        if len(first) != len(second) or not torch.equal(self.labels, other.labels):
            raise SSplainError(
                "The two evaluations are of different images; evaluate both on the same ones."
            )
        known = ~(first.isnan() | second.isnan())
        if not bool(known.any()):
            return Comparison(_UNKNOWN, torch.nan)
        balanced = MEASURES.find(measure).balanced
        return paired(first[known], second[known], self.labels[known], balanced=balanced, seed=seed)

    def gain(self, other: "Evaluation", measure: str, *, seed: int = 0) -> Interval:
        """Return by how much this one is better than another, in the measure's good direction."""
        first, second = (self, other) if MEASURES.find(measure).sign > 0 else (other, self)
        return first.against(second, measure, seed=seed).difference


def evaluate(
    model: Callable[..., Any],
    images: Tensor,
    labels: Target,
    maps: Tensor,
    *,
    measures: Sequence[str] | None = None,
    axis: Axis = "support",
    points: int = FINE_POINTS,
    baseline: Baseline = "black",
    support: Support = "nonzero",
    truth: Tensor | None = None,
    trees: Sequence[VesselTree] | None = None,
    reference: Tensor | None = None,
    seed: int = 0,
    **options: Unpack[ModelOptions],
) -> Evaluation:
    """Measure the maps of one explainer.

    Args:
        model: any model that `SSplain` takes.
        images: `(N, C, H, W)`.
        labels: as in `insertion_deletion`.
        maps: `(N, 1, H, W)`, or `(N, C, H, W)` with a score for each channel; then every measure
            joins the channels as the paper does.
        measures: names from `MEASURES`; None for all that can be taken from what is given.
        axis: of all curves.
        points: of all curves.
        baseline: of insertion and deletion.
        support: of the images.
        truth: `(N, 1, H, W)` diseased pixels, where they are known, for localisation.
        trees: the vessels of each image, for what only vessel images have.
        reference: `(N, 1, H, W)` other maps that agreement is measured with.
        seed: of the order among equal scores.
        options: how the model is called, as in `SSplain`; see `ssplain.models.ModelOptions`.

    >>> import ssplain
    >>> model = ssplain.models.load("lenet5-mnist")
    >>> images, labels = (part[:10] for part in ssplain.data.bundled("mnist"))
    >>> found = evaluate(model, images, labels, images, points=11)
    >>> list(found.values)[:4], found.curves["kappa"].shape
    (['insertion', 'deletion', 'kappa', 'connected'], torch.Size([10, 11]))
    """
    started = time.perf_counter()
    material = Material(
        model,
        images,
        labels,
        maps,
        axis,
        points,
        baseline,
        support,
        truth,
        trees,
        reference,
        seed,
        options,
    )
    grid = torch.linspace(0, 1, points, dtype=torch.float64)
    values: dict[str, Tensor] = {}
    curves: dict[str, Tensor] = {}
    for name in measurable(material) if measures is None else measures:
        measure = MEASURES.find(name)
        lacking = [need for need in measure.needs if not material.gives(need)]
        if lacking:
            raise SSplainError(f"The measure {name!r} needs {' and '.join(lacking)}; give it too.")
        found = measure.compute(material).cpu().double()
        if measure.stepwise:
            curves[name], found = found, area(found, grid)
        values[name] = found
    answers = material.answers
    return Evaluation(values, curves, grid, answers, time.perf_counter() - started)


def measurable(material: Material) -> list[str]:
    """Return the measures that can be taken from what there is."""
    return [name for name, one in MEASURES.items() if all(map(material.gives, one.needs))]
