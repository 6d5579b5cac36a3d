import json
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import ssplain
from ssplain.explain import Explanation
from ssplain.files import hash_file
from ssplain.report import grey, write_png
from ssplain.simulate.shapes import planted_shapes
from tests.cli.command import run, run_apart


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("digits")
    images, _ = ssplain.data.bundled("mnist")
    for i in range(2):
        write_png(grey(images[i]), folder / f"digit-{i}.png")
    return folder


def test_writes_a_folder_per_image_and_a_table(digits: Path, tmp_path: Path) -> None:
    files = sorted(digits.glob("*.png"))
    done = run_apart("explain", *files, "--model", "lenet5-mnist", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "p only mask" in done.stdout
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith("digit-")]
    assert [(row[0], row[1], row[2]) for row in rows] == [
        ("digit-0", "7", "7"),
        ("digit-1", "2", "2"),
    ]
    images, _ = ssplain.data.bundled("mnist")
    model = ssplain.models.load("lenet5-mnist")
    expected = ssplain.SSplain(model, **ssplain.preset("mnist")).explain(images[:2])
    for i in range(2):
        folder = tmp_path / "out" / f"digit-{i}"
        stored = Explanation.load(folder)
        np.testing.assert_allclose(stored.scores[0], expected.scores[i], atol=1e-5)
        manifest = json.loads((folder / "manifest.json").read_text())
        assert manifest["source"]["given"] == str(files[i])
        assert manifest["source"]["sha256"] == hash_file(files[i])
        assert manifest["settings"]["tv_weight"] == 1e-3
        assert manifest["settings"]["model"]["sha256"]


def test_settings_reach_the_explainer(digits: Path, tmp_path: Path) -> None:
    options = "--budget 0.1 --norm l1 --tv-weight 0.5 --rho 0.2 --lr 0.03 --iterations 3"
    options += " --start ones --support 0.5 --target 4 --seed 9 --tolerance 0.001"
    done = run(
        "explain", digits / "digit-0.png", "--model", "lenet5-mnist", "--out", tmp_path,
        "--preset", "fmnist", *options.split(),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    stored = Explanation.load(tmp_path / "digit-0")
    settings = stored.settings
    expected = {"budget": 0.1, "norm": "l1", "tv_weight": 0.5, "rho": 0.2, "lr": 0.03}
    expected |= {"iterations": 3, "start": "ones", "support": 0.5, "seed": 9, "tolerance": 0.001}
    assert {name: settings[name] for name in expected} == expected
    assert stored.target.tolist() == [4]


def test_bad_images_are_named_and_the_rest_goes_on(digits: Path, tmp_path: Path) -> None:
    black = tmp_path / "black.png"
    Image.new("L", (28, 28)).save(black)
    torn = tmp_path / "torn.png"
    torn.write_bytes((digits / "digit-0.png").read_bytes()[:60])
    colour = tmp_path / "colour.png"
    Image.new("RGB", (28, 28), (255, 0, 0)).save(colour)
    missing = tmp_path / "missing.png"
    out = tmp_path / "out"
    done = run(
        "explain", black, torn, colour, missing, digits / "digit-1.png",
        "--model", "lenet5-mnist", "--out", out,
    )  # fmt: skip
    assert done.returncode == 3
    for path, reason in (
        (black, "empty support"),
        (torn, "damaged"),
        (colour, "convert it to grey"),
        (missing, "does not exist"),
    ):
        assert any(str(path) in line and reason in line for line in done.stderr.splitlines())
    assert "4 of 5 images failed" in done.stderr
    assert "Traceback" not in done.stderr
    assert [p.parent.name for p in out.rglob("manifest.json")] == ["digit-1"]


def test_same_stem_twice_and_another_size(digits: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    with Image.open(digits / "digit-0.png") as image:
        image.resize((56, 56)).save(tmp_path / "other" / "digit-0.png")
    done = run(
        "explain", digits / "digit-0.png", tmp_path / "other" / "digit-0.png",
        "--model", "lenet5-mnist", "--out", tmp_path / "out",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "resized to 28x28" in done.stderr
    found = {p.parent.relative_to(tmp_path / "out") for p in tmp_path.rglob("manifest.json")}
    # relative to what the two paths share
    expected = {digits / "digit-0", tmp_path / "other" / "digit-0"}
    assert found == {folder.relative_to(tmp_path.parent) for folder in expected}


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--model", "resnet"], "'resnet'"),
        (["--model", "lenet5-mnist", "--budget", "0"], "budget=0"),
        (["--model", "lenet5-mnist", "--preset", "cifar"], "no preset 'cifar'"),
        (["--model", "lenet5-mnist", "--target", "10"], "Target 10 is out of range"),
        (["--model", "lenet5-mnist", "--target", "seven"], "There is no class 'seven'"),
        (["--model", "lenet5-mnist", "--target", "²"], "There is no class '²'"),
        (["--model", "lenet5-mnist", "--norm", "l2"], "norm='l2'"),
        (["--model", "lenet5-mnist", "--support", "brightest"], "support='brightest'"),
        (["--model", "lenet5-mnist", "--start", "zeros"], "start='zeros'"),
        (["--model", "lenet5-mnist", "--output", "logits"], "output='logits'"),
    ],
)
def test_mistakes_are_one_sentence_and_leave_no_files(
    digits: Path, tmp_path: Path, options: list[str], reason: str
) -> None:
    done = run("explain", digits / "digit-0.png", *options, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert reason in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.rglob("*.npz"))
    assert not list(tmp_path.rglob("*.png"))


def test_own_model_by_entry_point(
    digits: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_network.py").write_text(
        "import torch\n"
        "def build():\n"
        "    torch.manual_seed(0)\n"
        "    return torch.nn.Sequential(torch.nn.Conv2d(3, 4, 5), torch.nn.ReLU(),\n"
        "        torch.nn.Flatten(), torch.nn.Linear(4 * 24 * 24, 2))\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    done = run(
        "explain", digits / "digit-0.png", "--model", "own_network:build", "--out", tmp_path / "o"
    )
    assert done.returncode == 0, done.stderr
    assert Explanation.load(tmp_path / "o" / "digit-0").probabilities.shape == (1, 2)


def test_photographs_with_normalisation_and_fill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--mean/--std` must do what the same arithmetic inside the model does."""
    (tmp_path / "photonets.py").write_text(
        "import torch\nfrom torch import nn\n"
        "class Net(nn.Module):\n"
        "    def __init__(self, mean, std):\n"
        "        super().__init__()\n"
        "        self.mean, self.std = mean, std\n"
        "        torch.manual_seed(0)\n"
        "        self.net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(),"
        " nn.Linear(4 * 196, 3))\n"
        "    def forward(self, x):\n"
        "        return self.net((x - self.mean) / self.std)\n"
        "def bare():\n    return Net(0.0, 1.0)\n"
        "def inside():\n    return Net(0.5, 0.25)\n"
    )
    monkeypatch.chdir(tmp_path)
    image = planted_shapes(1, 16).images[0].permute(1, 2, 0)
    Image.fromarray((image * 255).byte().numpy()).save(tmp_path / "photo.png")
    shared = ["photo.png", "--preset", "photograph", "--iterations", 3]
    outside = run(
        "explain",
        *shared,
        "--model",
        "photonets:bare",
        "--mean",
        "0.5,0.5,0.5",
        "--std",
        "0.25",
        "--out",
        "a",
    )
    assert outside.returncode == 0, outside.stderr
    assert run("explain", *shared, "--model", "photonets:inside", "--out", "b").returncode == 0
    maps = [Explanation.load(next(Path(d).rglob("manifest.json")).parent) for d in ("a", "b")]
    assert torch.allclose(maps[0].scores, maps[1].scores, atol=1e-4)
    assert maps[0].settings["fill"] == "mean"
    wrong = run("explain", *shared, "--model", "photonets:bare", "--mean", "x", "--out", "c")
    assert wrong.returncode == 2
    assert "--mean x is neither a number" in wrong.stderr


def test_what_turns_on_rounding_is_said_and_mended(tmp_path: Path) -> None:
    several = tmp_path / "several"
    images, _ = ssplain.data.bundled("mnist")
    for i in range(7):
        write_png(grey(images[i]), several / f"{i}.png")
    quick = run("explain", several, "--model", "lenet5-mnist", "--out", tmp_path / "a")
    assert quick.returncode == 0, quick.stderr
    lines = quick.stdout.splitlines()
    shown = [line.split()[-1] for line in lines[1:8]]
    # the first five are looked at unasked
    assert all(part.endswith("%") for part in shown[:5])
    assert shown[5:] == ["-", "-"]
    assert "of 5 maps turn on rounding" in quick.stderr
    assert "--stable makes maps that do not" in quick.stderr
    found = Explanation.load(tmp_path / "a" / "0").stability
    assert found.radii == (1e-6,)
    assert f"{float(found.overlap[0, 0]):.0%}" == shown[0]

    options = ("--stable", "--stability", "1")
    stable = run("explain", several, "--model", "lenet5-mnist", *options, "--out", tmp_path / "b")
    assert "turn on rounding" not in stable.stderr
    whole = Explanation.load(tmp_path / "b" / "6")
    assert whole.settings["stable"] is True
    assert whole.stability.radii == (1e-6, 1e-3)
    assert float(whole.stability.ranks.min()) > 0.95

    never = run(
        "explain", several, "--model", "lenet5-mnist", "--stability", 0, "--out", tmp_path / "c"
    )
    assert "steady" not in never.stdout


def test_images_and_results_do_not_share_a_folder(tmp_path: Path) -> None:
    images, _ = ssplain.data.bundled("mnist")
    write_png(grey(images[0]), tmp_path / "in" / "0.png")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "in")
    done = run("explain", tmp_path / "in", "--model", "lenet5-mnist", "--out", link)
    assert done.returncode == 2
    assert "is the folder of the images" in done.stderr
    assert [path.name for path in (tmp_path / "in").iterdir()] == ["0.png"]


NUMBERS = (
    "import torch\n"
    "class Sums(torch.nn.Module):\n"
    "    '''Returns how much ink there is on the left and on the right.'''\n"
    "    def forward(self, x):\n"
    "        return torch.stack([x[..., :14].sum((1, 2, 3)), x[..., 14:].sum((1, 2, 3))], 1)\n"
    "def build():\n    return Sums()\n"
)


def test_labels_and_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, digits: Path) -> None:
    """A model of independent labels, and a regression, are explained from the command line."""
    (tmp_path / "sums.py").write_text(NUMBERS)
    monkeypatch.syspath_prepend(tmp_path)
    shared = [digits / "digit-0.png", "--model", "sums:build", "--target", "yes"]
    results = {}
    for name, options in {
        "left": ["--label", 0],
        "right": ["--label", 1],
        "number": ["--label", 1, "--at-least", "30,8"],
    }.items():
        out = tmp_path / name
        done = run("explain", *shared, *options, "--out", out)
        assert done.returncode == 0, done.stderr
        assert "1 yes" in done.stdout
        results[name] = Explanation.load(out / "digit-0")
    image = results["left"].images
    right = image[..., 14:].sum()
    assert results["right"].probabilities[0, 1] == pytest.approx(float(right.sigmoid()))
    chance = float(((right - 30) / 8).sigmoid())
    assert results["number"].probabilities[0, 1] == pytest.approx(chance, abs=1e-5)
    # what is kept lies where the asked number is made
    assert results["left"].mask[..., :14].sum() > results["left"].mask[..., 14:].sum()
    assert results["number"].mask[..., 14:].sum() > results["number"].mask[..., :14].sum()
    # another label is another job
    again = run("explain", *shared, "--label", 1, "--out", tmp_path / "left")
    assert again.returncode == 2
    for wrong, says in (
        (["--label", 5], "no label 5"),
        (["--label", -1], "labels count from 0"),
        (["--at-least", "much"], "--at-least much is neither a number"),
    ):
        done = run("explain", *shared, *wrong, "--out", tmp_path / "wrong")
        assert done.returncode == 2
        assert says in done.stderr
