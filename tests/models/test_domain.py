"""A model says which images it knows, and others are refused."""

import json
from pathlib import Path

import pytest
import torch
from PIL import Image

import ssplain
from ssplain import SSplainError
from ssplain.models import card
from ssplain.models.domain import Domain
from ssplain.report import grey, write_png
from tests.cli.command import run


def vessels() -> torch.Tensor:
    return ssplain.data.bundled("rop")[0]


@pytest.mark.parametrize("name", ["mnist", "fmnist", "rop"])
def test_bundled_images_are_inside(name: str) -> None:
    model = {"rop": "googlenet-rop"}.get(name, f"lenet5-{name}")
    images, _ = ssplain.data.bundled(name)
    assert not [i for i, image in enumerate(images) if card(model).faults(image)]


@pytest.mark.parametrize("kind", ["white", "photograph", "negative", "noise"])
def test_what_googlenet_does_not_know(kind: str) -> None:
    generator = torch.Generator().manual_seed(0)
    one = vessels()[0]
    image = {
        "white": torch.ones_like(one),
        "photograph": torch.linspace(0.2, 0.8, 224).expand(1, 224, 224),
        "negative": 1 - one,
        "noise": torch.rand(one.shape, generator=generator),
    }[kind]
    with pytest.raises(SSplainError, match=r"not the kind of image.*--anyway"):
        card("googlenet-rop").require_inside(image, "cat.png")


def test_binary_masks_are_known_to_googlenet() -> None:
    assert not card("googlenet-rop").faults((vessels()[0] > 0.3).float())


def test_ranges_come_from_the_images() -> None:
    images = vessels()[:40]
    domain = Domain.of(images)
    assert not any(domain.faults(image) for image in images)
    assert Domain.read(domain.numbers()) == domain
    with pytest.raises(SSplainError, match="too few"):
        Domain.of(images[:3])


def test_commands_refuse_unless_told(tmp_path: Path) -> None:
    digit = tmp_path / "digit.png"
    write_png(grey(1 - ssplain.data.bundled("mnist")[0][0]), digit)  # black on white
    call = ("explain", digit, "--model", "lenet5-mnist", "--iterations", "1")
    done = run(*call, "--out", tmp_path / "a")
    assert done.returncode in {2, 3}
    assert "pixels are lit" in done.stderr
    assert not list((tmp_path / "a").rglob("*.npz"))
    done = run(*call, "--out", tmp_path / "b", "--anyway")
    assert done.returncode == 0, done.stderr
    (manifest,) = (tmp_path / "b").rglob("manifest.json")
    assert "pixels are lit" in json.loads(manifest.read_text())["outside_domain"][0]


def test_compare_refuses_unless_told(tmp_path: Path) -> None:
    white = tmp_path / "white.png"
    Image.new("L", (28, 28), 255).save(white)
    call = ("compare", white, "--model", "lenet5-mnist", "--explainers", "intensity")
    done = run(*call, "--out", tmp_path / "a")
    assert done.returncode == 2
    assert "pixels are lit" in done.stderr
    done = run(*call, "--out", tmp_path / "b", "--anyway")
    assert done.returncode == 0, done.stderr
    assert "pixels are lit" in done.stderr
    about = json.loads((tmp_path / "b" / "comparison.json").read_text())
    assert "pixels are lit" in about["outside_domain"][str(white)][0]


def test_bytes_and_unit_floats_have_one_domain() -> None:
    some = torch.randint(0, 256, (30, 1, 8, 8), dtype=torch.uint8)
    assert Domain.of(some) == Domain.of(some.float() / 255)
