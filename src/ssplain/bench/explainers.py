"""`ssplain bench explainers`: what each explainer takes per image, and against SSplain.

Every explainer runs at the paper's settings, with its own best batching.
"""

import warnings
from collections.abc import Iterator
from functools import partial
from statistics import mean, median, stdev
from time import perf_counter
from typing import Any

import captum.attr
import torch

from ssplain.ask.batching import fitting_batch
from ssplain.bench.timing import in_turn, ratio, seconds
from ssplain.data import bundled
from ssplain.explain.registry import make, method, names
from ssplain.models import load, quick
from ssplain.models.card import BUNDLED

Case = dict[str, Any]

# data set -> model and number of images
SETS = {
    "mnist": ("lenet5-mnist", 100),
    "fmnist": ("lenet5-fmnist", 100),
    "rop": ("googlenet-rop", 8),
}
PATIENCE = 10.0  # seconds after which an explainer and SSplain beside it are not measured again
CALLS = 2  # the fewest that have a standard deviation


def cases(images: int | None = None) -> Iterator[Case]:
    """Yield the cases: batching first, then the paper's table of times for each data set.

    Args:
        images: at most so many of each data set in the table; None for 100, and 8 of ROP.
    """
    yield from _against_captum()
    yield _extremal_in_batch()
    for dataset, (model, count) in SETS.items():
        if model in BUNDLED:
            yield from times(dataset, model, min(count, images or count))


def times(dataset: str, model: str, count: int, repeats: int = 5) -> Iterator[Case]:
    """Yield mean and standard deviation of the time per image of each explainer.

    One call takes as many images as the explainers work on at a time, and is followed by the same
    call of SSplain; the ratio is the median over these pairs. So the deviation is that of whole
    calls, and tells how far images differ and the machine was to be trusted.

    Args:
        dataset: "mnist", "fmnist" or "rop".
        model: a bundled model.
        count: images.
        repeats: passes over the images, 2 or more; fewer for an explainer that takes long.

    >>> next(times("mnist", "lenet5-mnist", 2, repeats=2))["explainer"]
    'SSplain-0'
    """
    network = quick(load(model))
    images, labels = (part[:count] for part in bundled(dataset))
    # half of what fits: ROP images then make two calls, and so a deviation, of one pass
    together = max(1, fitting_batch(*images.shape[-2:]) // CALLS)
    parts = list(zip(*(torch.split(given, together) for given in (images, labels)), strict=True))
    ours = make("ssplain-0", network, dataset)
    ours.attribute(*parts[0])
    for name in names():
        if method(name).family == "control":
            continue
        theirs, pairs = make(name, network, dataset), list[tuple[float, float]]()
        theirs.attribute(images[:1], labels[:1])
        started = perf_counter()
        for some in parts * repeats:
            pairs.append(
                (
                    seconds(partial(theirs.attribute, *some)) / len(some[0]),
                    seconds(partial(ours.attribute, *some)) / len(some[0]),
                )
            )
            enough = len(pairs) >= max(CALLS, len(parts))
            if enough and perf_counter() - started > PATIENCE:
                break
        spent = [1e3 * a for a, _ in pairs]
        yield {
            "case": f"time per image, {dataset}",
            "explainer": method(name).title,
            "family": method(name).family,
            "images": count,
            "calls": len(pairs),
            "ms_mean": round(mean(spent), 3),
            "ms_sd": round(stdev(spent), 3),
            "times_ssplain": round(median(a / b for a, b in pairs), 2),
        }


def _against_captum() -> Iterator[Case]:
    """Time LIME and KernelSHAP against Captum's loop over images, at the same settings."""
    model, few, many = load("lenet5-mnist"), 3, 50
    images, labels = bundled("mnist")
    for name, theirs in (("lime", captum.attr.Lime), ("kernel-shap", captum.attr.KernelShap)):
        explainer = make(name, model, "mnist")

        def ours(explainer: Any = explainer) -> None:  # noqa: ANN401
            explainer.attribute(images[:many], labels[:many])

        def loop(theirs: Any = theirs) -> None:  # noqa: ANN401
            with warnings.catch_warnings(), torch.no_grad():
                warnings.simplefilter("ignore")  # it advises against what is measured here
                for i in range(few):
                    theirs(model).attribute(images[i : i + 1], target=int(labels[i]), n_samples=200)

        fast, slow = in_turn(ours, loop, repeats=1)
        yield {
            "case": f"{method(name).title} over Captum's loop, per image, 200 samples, lenet5",
            "images": many,
            "loop_images": few,
            "ms_per_image": round(1e3 * median(fast) / many, 3),
            "loop_ms_per_image": round(1e3 * median(slow) / few, 3),
            "times_faster": round(many / few * ratio(slow, fast), 1),
        }


def _extremal_in_batch() -> Case:
    """Time Extremal Perturbation on 16 images at once against one by one."""
    explainer = make("extremal-perturbation", load("lenet5-mnist"), "mnist", iterations=50)
    images, labels = bundled("mnist")
    together, few = 16, 4

    def one_by_one() -> None:
        for i in range(few):
            explainer.attribute(images[i : i + 1], labels[i : i + 1])

    fast, slow = in_turn(
        lambda: explainer.attribute(images[:together], labels[:together]), one_by_one, repeats=3
    )
    return {
        "case": "Extremal Perturbation in a batch over one by one, 50 iterations, lenet5",
        "images": together,
        "loop_images": few,
        "ms_per_image": round(1e3 * median(fast) / together, 3),
        "loop_ms_per_image": round(1e3 * median(slow) / few, 3),
        "times_faster": round(together / few * ratio(slow, fast), 1),
    }
