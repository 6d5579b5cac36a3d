"""What should not go unsaid is said, and nothing else."""

import warnings
from typing import Any

import pytest
import torch
from torch import Tensor

import ssplain
from ssplain import SSplain, SSplainError
from ssplain.explain import make
from ssplain.models import Normalised

IMAGES, LABELS = (part[:2] for part in ssplain.data.bundled("mnist"))
MODEL = ssplain.models.load("lenet5-mnist")


@pytest.mark.parametrize(
    ("images", "told"),
    [
        (IMAGES * 255, r"go up to 255, and \[0, 1\] is .* divide by 255"),
        ((IMAGES * 255).round() / 3 + 0.1 * (IMAGES > 0), "go up to 85"),
        ((IMAGES - 0.1307) / 0.3081, r"go down to -0.424 .*Normalised\(model, mean, std\)"),
    ],
    ids=["bytes", "wide", "normalised"],
)
@pytest.mark.parametrize("way", ["explain", "attribute"])
def test_another_scale_is_noticed(images: Tensor, told: str, way: str) -> None:
    explainer = SSplain(MODEL, iterations=1)
    with pytest.warns(UserWarning, match=told):
        getattr(explainer, way)(images, LABELS)


@pytest.mark.parametrize(
    "images",
    [IMAGES, IMAGES * 0.1, IMAGES * 1.4, (IMAGES > 0).float(), IMAGES - 0.1 * (IMAGES > 0.5)],
)
def test_usual_scales_are_no_matter(images: Tensor) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SSplain(MODEL, iterations=1).attribute(images, LABELS)


def test_where_zero_is_not_taken_for_black_nothing_is_said() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        normalised = (IMAGES - 0.1307) / 0.3081
        SSplain(MODEL, iterations=1, support=None).attribute(normalised, LABELS)
        # and this is the way that the warning names
        SSplain(Normalised(MODEL, 0.1307, 0.3081), iterations=1).attribute(IMAGES, LABELS)


@pytest.mark.parametrize("name", ["lime", "saliency", "kernel-shap", "occlusion"])
def test_a_map_that_says_nothing_is_noticed(name: str) -> None:
    def certain(x: Tensor) -> Tensor:
        return x.flatten(1).sum(1, keepdim=True) * 0 + torch.tensor([[5.0, 0.0]])

    settings: dict[str, Any] = {"samples": 8} if name in ("lime", "kernel-shap") else {}
    with pytest.warns(UserWarning, match=r"says nothing about 2 of 2 images \(from 0: 0, 1\)"):
        make(name, certain, **settings).attribute(IMAGES)


@pytest.mark.parametrize("name", ["ssplain-ranking", "igos", "saliency", "extremal-perturbation"])
def test_a_model_without_a_gradient_is_told(name: str) -> None:
    def model(images: torch.Tensor) -> torch.Tensor:
        return images.detach().flatten(1)[:, :3]

    with pytest.raises(SSplainError, match="answers but has no gradient"):
        make(name, model).attribute(torch.rand(1, 1, 8, 8))
