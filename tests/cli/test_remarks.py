"""What is odd about an image is said, and mended where that is safe."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import ssplain
from ssplain.explain import Explanation
from tests.cli.command import run

MODEL = ("--model", "lenet5-mnist", "--iterations", "2", "--stability", "0")


@pytest.fixture
def digit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    monkeypatch.chdir(tmp_path)
    return (ssplain.data.bundled("mnist")[0][0, 0] * 255).round().byte().numpy()


def test_the_haze_of_a_jpeg_is_said_and_left_out(digit: np.ndarray) -> None:
    Image.fromarray(digit).save("a.jpg", quality=90)
    Image.fromarray(digit).save("b.png")
    done = run("explain", "a.jpg", "b.png", *MODEL, "--out", "out", "--anyway")
    assert done.returncode == 0, done.stderr
    assert "a.jpg: " in done.stderr
    assert "Otsu" in done.stderr
    assert "b.png: " not in done.stderr
    hazy, clear = (Explanation.load(Path("out", name)) for name in "ab")
    soiled = int((hazy.images > 0).sum())
    assert soiled > 1.5 * int(clear.support.sum())
    assert int(hazy.support.sum()) <= int(clear.support.sum())
    assert (hazy.support & ~clear.support).sum() == 0
    assert (hazy.settings["support"], clear.settings["support"]) == ("otsu", "nonzero")
    manifest = json.loads(Path("out/a/manifest.json").read_text())
    assert "JPEG" in manifest["remarks"][0]
    # whoever names a support gets it
    run("explain", "a.jpg", *MODEL, "--support", "nonzero", "--out", "own", "--anyway")
    assert int(Explanation.load("own/a").support.sum()) == soiled


def test_haze_in_a_file_without_loss_is_said_and_left_alone(digit: np.ndarray) -> None:
    Image.fromarray(digit).save("a.jpg", quality=90)
    with Image.open("a.jpg") as soiled:
        soiled.save("c.png")
    done = run("explain", "c.png", *MODEL, "--out", "out", "--anyway")
    assert "give --support otsu" in done.stderr
    assert Explanation.load("out/c").settings["support"] == "nonzero"
    compared = run(
        "compare", "c.png", "--model", "lenet5-mnist", "--explainers", "intensity", "--out", "side",
        "--anyway",
    )  # fmt: skip
    assert "nearly black" in compared.stderr


def test_twelve_bits_in_a_file_of_sixteen_are_said(digit: np.ndarray) -> None:
    Image.fromarray(digit.astype(np.uint16) * 16).save("a.png")
    refused = run("explain", "a.png", *MODEL, "--out", "out")
    assert refused.returncode != 0
    assert "12 bits" in refused.stderr
    done = run("explain", "a.png", *MODEL, "--out", "out2", "--anyway")
    assert done.returncode == 0, done.stderr
    assert "a.png: its brightest pixel is 4080 of 65535" in done.stderr
