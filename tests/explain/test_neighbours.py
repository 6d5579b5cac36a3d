"""Our explainers in Quantus, and Captum's in our registry, against the real libraries."""

from collections.abc import Iterator

import captum.attr
import numpy as np
import pytest
import torch
from quantus.metrics.complexity.sparseness import Sparseness
from quantus.metrics.faithfulness.pixel_flipping import PixelFlipping

import ssplain
from ssplain.explain import METHODS, Method, captum_method, for_quantus, make
from tests.explain.small import Pair, pictures, small

MODEL = ssplain.models.load("lenet5-mnist")
IMAGES, LABELS = (values[:3] for values in ssplain.data.bundled("mnist"))


def test_quantus_takes_ssplain_in_one_line() -> None:
    """Sparseness takes magnitudes: the scores' negative ground spoils it, the mask does not."""
    found = {}
    for kind in ("scores", "mask"):
        measure = Sparseness(disable_warnings=True, display_progressbar=False)
        found[kind] = np.mean(
            measure(
                model=MODEL,
                x_batch=IMAGES.numpy(),
                y_batch=LABELS.numpy(),
                explain_func=for_quantus("ssplain-0", dataset="mnist", kind=kind),
            )
        )
    assert found["mask"] > 0.9
    assert found["mask"] > found["scores"] + 0.3


def test_quantus_takes_maps_that_are_there_already() -> None:
    maps = make("ssplain-0", MODEL, dataset="mnist").attribute(IMAGES, LABELS)
    measure = PixelFlipping(features_in_step=28, disable_warnings=True, display_progressbar=False)
    curves = measure(MODEL, IMAGES.numpy(), LABELS.numpy(), a_batch=maps.numpy())
    assert np.asarray(curves).shape == (3, 28)


@pytest.fixture
def ablation() -> Iterator[Method]:
    yield METHODS.add(
        captum_method("ablation", captum.attr.FeatureAblation, perturbations_per_eval=7)
    )
    METHODS.remove("ablation")


def test_an_explainer_of_captums_in_our_registry(ablation: Method) -> None:
    del ablation
    images, net = pictures(3, 3), small(channels=3)
    ours = make("ablation", net).attribute(images, [0, 1, 2], over="each")
    theirs = captum.attr.FeatureAblation(net).attribute(images, target=[0, 1, 2])
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-4)
    # and what ours all do: other outputs, a fill
    pair = make("ablation", small(Pair), output=1).attribute(pictures(2), 1)
    torch.testing.assert_close(pair, make("ablation", small()).attribute(pictures(2), 1))


def test_random_ones_follow_the_seed() -> None:
    shap = captum_method(
        "gs",
        captum.attr.GradientShap,
        family="gradient",
        deterministic=False,
        baselines=torch.zeros(2, 1, 12, 10),
    ).builder()
    images = pictures(2)
    first, again, other = (shap(small(), seed=s).attribute(images, 1) for s in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
