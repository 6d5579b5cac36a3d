"""`ssplain bench outside`: explainers scored by measures that we did not write, those of Quantus.

One line per explainer with the mean of each measure over the images, and a last line with ranks:
no explainer need lead all measures, so the mean rank is given with its spread.
"""

import importlib
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from scipy.stats import rankdata

from ssplain.data import bundled
from ssplain.errors import SSplainError
from ssplain.explain.neighbours import for_quantus
from ssplain.explain.registry import method, names
from ssplain.models import load

Case = dict[str, Any]

# measure -> (its class in Quantus, its settings, whether high is good)
MEASURES: Mapping[str, tuple[str, dict[str, Any], bool]] = {
    "pixel-flipping": ("PixelFlipping", {"features_in_step": 28}, False),
    "region-perturbation": (
        "RegionPerturbation",
        {"patch_size": 4, "regions_evaluation": 20},
        True,
    ),
    "sparseness": ("Sparseness", {}, True),
    "max-sensitivity": ("MaxSensitivity", {"nr_samples": 5, "lower_bound": 0.02}, False),
    "random-logit": ("RandomLogit", {"num_classes": 10}, False),
}


def cases(images: int = 20) -> Iterator[Case]:
    """Yield a case per explainer and one with the ranks, for digits and then for garments."""
    for dataset in ("mnist", "fmnist"):
        chosen = [name for name in names() if method(name).family != "control"]
        yield from scored(dataset, chosen, images)


def scored(dataset: str, explainers: list[str], count: int) -> Iterator[Case]:
    """Yield what Quantus says of each explainer, and the ranks of all."""
    found: dict[str, dict[str, float]] = {}
    for name in explainers:
        found[name] = dict(_scores(dataset, name, count))
        yield {"dataset": dataset, "images": count, "explainer": method(name).title, **found[name]}
    places = ranks(found)
    yield {
        "dataset": dataset,
        "images": count,
        "ranks": {
            method(name).title: {"mean": float(own.mean()), "sd": float(own.std())}
            for name, own in places.items()
        },
    }


def ranks(found: Mapping[str, Mapping[str, float]]) -> dict[str, np.ndarray[Any, Any]]:
    """Return each explainer's place in each measure, 1 being the best.

    >>> best = {"pixel-flipping": 0.1, "sparseness": 0.9}
    >>> worst = {"pixel-flipping": 0.3, "sparseness": 0.2}
    >>> ranks({"a": worst, "b": best})["b"].tolist()
    [1.0, 1.0]
    """
    table = np.array(
        [
            [own[name] * (-1.0 if MEASURES[name][2] else 1.0) for name in own]
            for own in found.values()
        ]
    )
    places = rankdata(table, axis=0)
    return dict(zip(found, places, strict=True))


def _scores(dataset: str, name: str, count: int) -> Iterator[tuple[str, float]]:
    try:
        quantus: Any = importlib.import_module("quantus")
    except ImportError as error:
        raise SSplainError(
            "This benchmark needs Quantus; install it with: pip install quantus."
        ) from error
    model = load(f"lenet5-{dataset}")
    images, labels = (part[:count].numpy() for part in bundled(dataset))
    explain = for_quantus(name, dataset)
    with warnings.catch_warnings():
        # Quantus warns that flipping a black pixel changes nothing, and of its own defaults
        warnings.simplefilter("ignore")
        maps = explain(model, images, labels)
        for measure, (kind, settings, _) in MEASURES.items():
            score = getattr(quantus, kind)(
                **settings, disable_warnings=True, display_progressbar=False
            )
            # sparseness takes magnitudes: only what speaks for the class is counted
            given = maps.clip(min=0) if measure == "sparseness" else maps
            values = score(
                model=model,
                x_batch=images,
                y_batch=labels,
                a_batch=given,
                explain_func=explain,
                softmax=True,
            )
            yield measure, float(np.nanmean(np.asarray(values, dtype=np.float64)))
