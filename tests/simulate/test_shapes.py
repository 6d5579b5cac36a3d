"""Photographs with planted shapes, and that the preset for photographs finds them."""

from pathlib import Path

import pytest
import torch
from sklearn.metrics import average_precision_score
from torch import Tensor

import ssplain
from ssplain import SSplain, preset
from ssplain.simulate.shapes import KINDS, planted_shapes

EXAMPLES = Path(__file__).parents[2] / "examples"


def precision(maps: Tensor, truth: Tensor) -> float:
    found = [
        float(average_precision_score(one.flatten().numpy(), scores.flatten().numpy()))
        for scores, one in zip(maps, truth, strict=True)
    ]
    return sum(found) / len(found)


def test_shapes_are_whole_and_lie_anywhere() -> None:
    drawn = planted_shapes(300, size=32, seed=12)
    truth = drawn.truth[:, 0]
    border = torch.cat([truth[:, 0], truth[:, -1], truth[:, :, 0], truth[:, :, -1]], 1)
    assert not border.any()
    assert set(drawn.labels.tolist()) == set(range(len(KINDS)))
    # a map that knows nothing but the middle must not do well
    away = torch.arange(32) - 15.5
    middle = -(away[:, None].square() + away.square()).expand(300, 1, -1, -1)
    assert precision(middle, drawn.truth) < 0.45


def test_the_preset_finds_them_and_the_default_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(EXAMPLES)
    net = ssplain.models.load(EXAMPLES / "data" / "shapes.safetensors", "shapenet:build")
    model = ssplain.models.Normalised(net, mean=0.5, std=0.25)
    drawn = planted_shapes(24, size=32, seed=12)
    found = SSplain(model, **preset("photograph")).attribute(drawn.images, drawn.labels)
    plain = SSplain(model).attribute(drawn.images, drawn.labels)
    assert precision(found, drawn.truth) > precision(plain, drawn.truth) + 0.2
