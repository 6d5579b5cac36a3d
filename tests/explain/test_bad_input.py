"""Complaints: one sentence that names the value and the fix."""

import math

import pytest
import torch
from torch import Tensor

from ssplain import SSplain, SSplainError
from tests.explain.small import sparse_images, tiny


class TestBadInput:
    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"budget": 0}, "budget=0 "),
            ({"budget": 1.2}, "budget=1.2"),
            ({"budget": math.nan}, "budget=nan"),
            ({"norm": "l2"}, "norm='l2'.*'l0' or 'l1'"),
            ({"lr": 0}, "lr=0.*above 0"),
            ({"lr": math.nan}, "lr=nan"),
            ({"rho": -1}, "rho=-1"),
            ({"tv_weight": -0.1}, "tv_weight=-0.1"),
            ({"iterations": 0}, "iterations=0.*whole number"),
            ({"iterations": 2.5}, "iterations=2.5.*whole number"),
            ({"inner_steps": 0}, "inner_steps=0"),
            ({"batch_size": 0}, "batch_size=0"),
            ({"tolerance": -1.0}, "tolerance=-1"),
            ({"dual_step": -1.0}, "dual_step=-1"),
            ({"output_kind": "odds"}, "output_kind is 'odds'"),
        ],
    )
    def test_settings(self, settings: dict[str, object], message: str) -> None:
        with pytest.raises(SSplainError, match=message):
            SSplain(tiny(), **settings)  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"start": "zeros"}, "start='zeros'.*intensity, minmax, ones, random"),
            ({"start": torch.zeros(3, 3)}, r"start has shape \(3, 3\).*\(9, 7\)"),
            ({"start": torch.full((9, 7), math.nan)}, "start holds NaN"),
            ({"support": "brightest"}, "support='brightest'"),
            ({"support": 2.0}, "Image 0 has an empty support"),
            ({"support": torch.ones(7, 9)}, r"support has shape \(7, 9\)"),
        ],
    )
    def test_settings_that_need_the_images(self, settings: dict[str, object], message: str) -> None:
        with pytest.raises(SSplainError, match=message):
            SSplain(tiny(), **settings).explain(sparse_images())  # type: ignore[arg-type]

    def test_empty_support_names_the_image(self) -> None:
        images = sparse_images()
        images[2] = 0
        with pytest.raises(SSplainError, match="Image 2 has an empty support"):
            SSplain(tiny()).explain(images)

    @pytest.mark.parametrize("bad", [math.nan, math.inf])
    def test_non_finite_pixels(self, bad: float) -> None:
        images = sparse_images()
        images[1, 0, 3, 3] = bad
        with pytest.raises(SSplainError, match="Image 1 holds NaN or infinite pixels"):
            SSplain(tiny()).explain(images)

    @pytest.mark.parametrize(
        ("images", "message"),
        [
            (torch.zeros(2, 2, 1, 9, 7), "shape"),
            (torch.zeros(0, 1, 9, 7), "shape"),
            (torch.zeros(9), "shape"),
            (torch.ones(1, 9, 7, dtype=torch.uint8), "uint8.*divide by 255"),
            ([[1.0]], "list"),
        ],
    )
    def test_images(self, images: Tensor, message: str) -> None:
        with pytest.raises(SSplainError, match=message):
            SSplain(tiny()).explain(images)

    @pytest.mark.parametrize(
        ("target", "message"),
        [
            (3, "Target 3 is out of range: the model has 3 classes, 0 to 2"),
            (-1, "Target -1 is out of range"),
            ([0, 1], "2 targets for 4 images"),
            ([0.5] * 4, "float32"),
            ("plus", "no class 'plus'; give a number from 0 on, or 'posterior'"),
            (["a"] * 4, "not a whole number"),
        ],
    )
    def test_targets(self, target: object, message: str) -> None:
        with pytest.raises(SSplainError, match=message):
            SSplain(tiny()).explain(sparse_images(), target)  # type: ignore[arg-type]

    def test_model_without_gradient(self) -> None:
        model = tiny()
        with pytest.raises(SSplainError, match="no gradient"):
            SSplain(lambda x: model(x).detach()).explain(sparse_images())

    def test_model_that_turns_non_finite_on_masked_images(self) -> None:
        whole = sparse_images()

        def model(x: Tensor) -> Tensor:
            logits = x.flatten(1)[:, :3] + x.sum((1, 2, 3))[:, None]
            return logits / (1.0 if torch.equal(x.detach(), whole) else 0.0)

        with pytest.raises(SSplainError, match="'loss' is not finite for image 0 in iteration 1"):
            SSplain(model).explain(whole)
