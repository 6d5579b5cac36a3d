"""Tests of the questions asked of a grading network, with networks whose answers are known."""

import os
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from ssplain.bench.rop import amounts, drawings, fresh, pairs, shortcut, stacked
from ssplain.models import load, quick
from ssplain.models.calibrated import on_scale
from ssplain.sheets.shot import winding
from ssplain.simulate.eye import simulate

HAS_DATA = (Path(os.environ.get("SSPLAIN_DATA", "/none")) / "hvdropdb").is_dir()

EYES = [simulate(33, i) for i in range(9)]


class _Windings(nn.Module):
    """Grades by measured curvature, as a network should."""

    def forward(self, images: Tensor) -> Tensor:
        bends = torch.tensor([winding(image.numpy()) for image in images[:, 0]])
        steps = torch.stack([bends * 0, (bends - 0.032) * 400, (bends - 0.041) * 900], dim=1)
        return steps.cumsum(1)


class _Blind(nn.Module):
    """Says the same to every eye."""

    def forward(self, images: Tensor) -> Tensor:
        return torch.tensor([0.0, 1.0, 0.0]).expand(len(images), 3)


def test_brightness_is_asked_on_eyes_it_was_not_fitted_to() -> None:
    case = shortcut(EYES)
    assert case["images"] == 9
    assert 0 <= case["balanced_accuracy"] <= 1


def test_a_blind_network_is_found_out() -> None:
    images, labels = stacked(EYES), torch.tensor([eye.label for eye in EYES])
    case = fresh(_Blind(), images, labels)
    assert case["balanced_accuracy"] == 0.333
    assert case["recalls"] == [0, 1, 0]
    assert pairs(_Blind(), 2)["fell"] == 0


def test_measured_windings_follow_the_planted_ones() -> None:
    assert amounts(_Windings(), stacked(EYES), [eye.amount for eye in EYES])["spearman"] > 0.6
    assert pairs(_Windings(), 3)["fell"] == 1


@pytest.mark.slow
@pytest.mark.skipif(not HAS_DATA, reason="needs HVDROPDB")
def test_drawings_are_graded_better_on_their_scale_and_simulated_eyes_worse() -> None:
    network = quick(load("googlenet-rop"))
    plain, scaled = drawings(network, on_scale(network, "googlenet-rop", "segmented"), 30)
    assert plain["case"] == "bent drawings, graded as they are"
    assert plain["balanced_accuracy"] < scaled["balanced_accuracy"]
    assert plain["simulated"] >= scaled["simulated"]
    assert plain["not_bent"][0] < scaled["not_bent"][0]
