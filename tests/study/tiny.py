"""Small scenes and studies that run in a moment."""

from dataclasses import replace

from torch.nn.functional import avg_pool2d, max_pool2d

from ssplain.data import bundled
from ssplain.data.rop_truth import bundled_truth
from ssplain.run.scene import Scene, bundled_scene
from ssplain.study import MapStudy, Variant, declared
from tests.explain.small import small

FAST = (
    Variant("SSplain-0", "ssplain-0", {"iterations": 3}),
    Variant("Saliency", "saliency"),
    Variant("Intensity", "intensity"),
)


def digits(count: int = 6) -> Scene:
    return bundled_scene("mnist", count)


def vessels(count: int = 3) -> Scene:
    """Return fundus images at a quarter of their size, with a network that has learnt nothing."""
    images, labels = (part[:count] for part in bundled("rop"))
    truth = max_pool2d(bundled_truth("rop").relevance[:count], 4)
    names = ("Normal", "Pre-plus", "Plus")
    return Scene(
        "rop", small(channels=3), avg_pool2d(images, 4), labels, names, truth, vessels=True
    )


def quick(name: str) -> MapStudy:
    """Return a declared study with fast explainers and few points."""
    study = declared(name)
    assert isinstance(study, MapStudy)
    return replace(study, variants=FAST, axes=tuple((axis, 5) for axis, _ in study.axes))
