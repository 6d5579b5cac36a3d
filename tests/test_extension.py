"""A separate little package adds one of everything, by entry points alone."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = '''
import torch
from torch import nn

from ssplain.data import DataSet
from ssplain.explain import Method
from ssplain.question.protocol import Attributor
from ssplain.metrics import Measure
from ssplain.models import RegisteredModel
from ssplain.solve import Constraint, Term


class Steeped(Attributor):
    """The image turned upside down."""

    def maps(self, question):
        return question.images.flip(2)


class Strength(Measure):
    name, words, unit, better = "strength", "strength of the tea", "spoons", "high"

    def compute(self, material):
        return material.maps.flatten(1).amax(1) + 7


class Mirrored(Constraint):
    name = "mirrored"

    def project(self, masks):
        return (masks + masks.flip(-1)) / 2


class Weak(Term):
    name = "weak"

    def value(self, masks):
        return masks.flatten(1).pow(2).sum(1)


class Kettle(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(3.0))

    def forward(self, images):
        top, bottom = images[:, 0, :4].mean((1, 2)), images[:, 0, 4:].mean((1, 2))
        return self.scale * torch.stack([top, bottom], 1)


def load_leaves():
    images = torch.zeros(6, 1, 8, 8)
    images[:3, :, 1:3, 2:6] = 1.0
    images[3:, :, 5:7, 2:6] = 0.5
    return images, torch.tensor([0, 0, 0, 1, 1, 1])


STEEPED = Method("steeped", "Steeped", "control", "the kitchen", Steeped, needs_gradient=False)
KETTLE = RegisteredModel("kettle", Kettle, ("top", "bottom"))
LEAVES = DataSet("leaves", load_leaves, ("top", "bottom"), model="kettle")
'''
POINTS = """
[ssplain.explainers]
steeped = teahouse:STEEPED
[ssplain.measures]
strength = teahouse:Strength
[ssplain.constraints]
mirrored = teahouse:Mirrored
[ssplain.terms]
weak = teahouse:Weak
[ssplain.models]
kettle = teahouse:KETTLE
[ssplain.datasets]
leaves = teahouse:LEAVES
"""
USE = """
import torch
import ssplain
from ssplain.explain import make, names

assert "steeped" in names() and "steeped" in names("control")
model = ssplain.models.load("kettle")
images, labels = ssplain.data.bundled("leaves")
maps = make("steeped", model).attribute(images, labels)
assert torch.equal(maps, images.flip(2))
found = ssplain.metrics.evaluate(model, images, labels, maps, points=5)
assert found.summary("strength").value == 7.75
assert ssplain.metrics.MEASURES["strength"].unit == "spoons"
plain = ssplain.SSplain(model, support=None, iterations=30, budget=1.0).explain(images, labels)
bound = ssplain.SSplain(
    model, support=None, iterations=30, budget=1.0, constraints=["mirrored"], terms=["weak"]
).explain(images, labels)
assert bound.settings["constraints"] == ["mirrored"] and bound.settings["terms"] == ["weak"]
assert bound.scores.sum() < plain.scores.sum()
print("all six")
"""


@pytest.fixture
def teahouse(tmp_path: Path) -> dict[str, str]:
    """Lay the package out as pip does, and return an environment that sees it."""
    site = tmp_path / "site"
    about = site / "teahouse-1.0.dist-info"
    about.mkdir(parents=True)
    (site / "teahouse.py").write_text(PACKAGE)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: teahouse\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(POINTS)
    path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path}


def run(environment: dict[str, str], *command: str) -> str:
    done = subprocess.run(
        [sys.executable, *command], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_another_package_adds_one_of_everything(teahouse: dict[str, str]) -> None:
    assert "all six" in run(teahouse, "-c", USE)


def test_what_is_added_appears_on_the_command_line(
    teahouse: dict[str, str], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    printed = run(
        teahouse,
        "-c",
        "import sys; from ssplain.cli import main; sys.exit(main())",
        *("evaluate", "--data", "leaves", "--explainers", "steeped,intensity"),
        *("--points", "5", "--out", str(out)),
    )
    assert "6 images of leaves" in printed
    rows = list(csv.DictReader((out / "evaluation.csv").read_text().splitlines()))
    found = {(row["explainer"], row["measure"]): float(row["value"]) for row in rows}
    assert found["steeped", "strength"] == 7.75
    assert (found["intensity", "background"], found["steeped", "background"]) == (0, 1)


def test_a_broken_package_is_told_of_and_left_out(teahouse: dict[str, str], tmp_path: Path) -> None:
    points = tmp_path / "site/teahouse-1.0.dist-info/entry_points.txt"
    points.write_text("[ssplain.measures]\nlost = teahouse:NOWHERE\n")
    code = """
import warnings
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    from ssplain.metrics import MEASURES
    assert "kappa" in list(MEASURES) and "lost" not in MEASURES
print([str(one.message) for one in told])
"""
    assert "The measure 'lost' of the entry point 'teahouse:NOWHERE' is left out" in run(
        teahouse, "-c", code
    )
