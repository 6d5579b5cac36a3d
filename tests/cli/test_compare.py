from pathlib import Path

import numpy as np
import pytest
import typer
from PIL import Image
from torch import Tensor
from typer.testing import CliRunner, Result

import ssplain
from ssplain import SSplainError
from ssplain.cli.compare import compare
from ssplain.explain.registry import make
from ssplain.report import grey, write_png

app = typer.Typer()
app.command()(compare)


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("digits")
    images, _ = ssplain.data.bundled("mnist")
    for i in range(2):
        write_png(grey(images[i]), folder / f"digit-{i}.png")
    return [str(path) for path in sorted(folder.glob("*.png"))]


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(a) for a in arguments])


def test_writes_a_picture_the_maps_and_a_table(digits: list[str], tmp_path: Path) -> None:
    names = "ssplain-0,saliency,lime"
    done = run(*digits, "--model", "lenet5-mnist", "--out", tmp_path, "--explainers", names)
    assert done.exit_code == 0, done.output
    rows = [line.split() for line in done.output.splitlines()]
    assert [row[0] for row in rows if row and row[0] in ("SSplain-0", "Saliency", "LIME")] == [
        "SSplain-0",
        "Saliency",
        "LIME",
    ]
    assert "1.00" in next(row for row in rows if row and row[0] == "SSplain-0")
    images, _ = ssplain.data.bundled("mnist")
    with np.load(tmp_path / "maps.npz", allow_pickle=False) as stored:
        assert sorted(stored.files) == ["lime", "saliency", "ssplain-0"]
        model = ssplain.models.load("lenet5-mnist")
        for name in stored.files:
            expected = make(name, model, "mnist").attribute(images[:2])
            np.testing.assert_allclose(stored[name], expected, atol=1e-5)
    with Image.open(tmp_path / "comparison.png") as picture:
        assert picture.width > picture.height / 2 > 100


def test_images_of_different_sizes_cannot_share_a_picture(
    digits: list[str], tmp_path: Path
) -> None:
    other = tmp_path / "other.png"
    write_png(np.zeros((20, 30, 3), np.uint8), other)
    module = tmp_path / "mine.py"
    module.write_text("def model():\n    return lambda x: x.flatten(1)[:, :3]\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(tmp_path))
        done = run(*digits, other, "--model", "mine:model", "--out", tmp_path / "out")
    assert isinstance(done.exception, SSplainError)
    assert "other.png has shape" in str(done.exception)
    assert not (tmp_path / "out").exists()


def test_options_reach_the_explainers(
    digits: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model that returns (images, probabilities) is compared as the bundled one inside it."""
    (tmp_path / "double_network.py").write_text(
        "import ssplain, torch\n"
        "class Both(torch.nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.inner = ssplain.models.load('lenet5-mnist')\n"
        "    def forward(self, x):\n"
        "        return x, self.inner(x).softmax(1)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    options = ["--explainers", "saliency,occlusion", "--target", "3", "--batch-size", "1"]
    options += ["--model", "double_network:Both", "--out", str(tmp_path / "out")]
    done = run(*digits, *options, "--output", 1, "--output-kind", "probs")
    assert done.exit_code == 0, done.output
    images, _ = ssplain.data.bundled("mnist")

    def inner(x: Tensor) -> Tensor:
        return ssplain.models.load("lenet5-mnist")(x).softmax(1)  # type: ignore[no-any-return]

    with np.load(tmp_path / "out" / "maps.npz", allow_pickle=False) as stored:
        for name in ("saliency", "occlusion"):
            expected = make(name, inner).attribute(images[:2], 3)
            np.testing.assert_allclose(stored[name], expected, atol=1e-6)


@pytest.mark.parametrize(
    ("options", "chosen"),
    [
        (["--model", "lenet5-fmnist", "--target", "Bag", "--anyway"], "8"),
        (["--model", "lenet5-mnist", "--label", "3", "--target", "yes"], "1"),
    ],
)
def test_a_class_goes_by_its_name_too(
    digits: list[str], tmp_path: Path, options: list[str], chosen: str
) -> None:
    shared = [digits[0], "--explainers", "saliency", *options]
    assert run(*shared, "--out", tmp_path / "name").exit_code == 0
    shared[shared.index("--target") + 1] = chosen
    assert run(*shared, "--out", tmp_path / "number").exit_code == 0
    named, numbered = (
        np.load(tmp_path / one / "maps.npz")["saliency"] for one in ("name", "number")
    )
    assert np.array_equal(named, numbered)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--output", "logits"], "output='logits'"),
        (["--output-kind", "odds"], "output_kind is 'odds'"),
        (["--batch-size", "0"], "batch_size=0"),
        (["--target", "seven"], "There is no class 'seven'"),
    ],
)
def test_mistakes_are_named(
    digits: list[str], tmp_path: Path, options: list[str], reason: str
) -> None:
    done = run(*digits, "--model", "lenet5-mnist", "--out", tmp_path / "out", *options)
    assert isinstance(done.exception, SSplainError)
    assert reason in str(done.exception)
    assert not (tmp_path / "out").exists()


def test_stable_reaches_ssplain_alone(digits: list[str], tmp_path: Path) -> None:
    done = run(
        digits[0], "--model", "lenet5-mnist", "--out", tmp_path, "--stable",
        "--explainers", "ssplain-0,saliency",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    image, model = ssplain.data.bundled("mnist")[0][:1], ssplain.models.load("lenet5-mnist")
    with np.load(tmp_path / "maps.npz", allow_pickle=False) as stored:
        expected = make("ssplain-0", model, "mnist", stable=True).attribute(image)
        np.testing.assert_allclose(stored["ssplain-0"], expected, atol=1e-5)


def test_head_fill_and_normalisation_reach_every_explainer(
    digits: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "regression.py").write_text(
        "import ssplain, torch\n"
        "def build():\n"
        "    torch.manual_seed(0)\n"
        "    return torch.nn.Sequential(torch.nn.Conv2d(1, 4, 5), torch.nn.ReLU(),\n"
        "        torch.nn.Flatten(), torch.nn.Linear(4 * 24 * 24, 2))\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    done = run(
        *digits, "--model", "regression:build", "--explainers", "ssplain-0,occlusion",
        "--label", 1, "--at-least", "0.1,0.2", "--mean", 0.3, "--std", 0.5, "--fill", "mean",
        "--target", 1, "--out", tmp_path / "o",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    images, _ = ssplain.data.bundled("mnist")
    inside = ssplain.models.AtLeast(ssplain.models.load("regression:build"), 0.1, 0.2, number=1)
    model = ssplain.models.Normalised(inside, 0.3, 0.5)
    with np.load(tmp_path / "o" / "maps.npz", allow_pickle=False) as stored:
        for name in ("ssplain-0", "occlusion"):
            expected = make(name, model, fill="mean").attribute(images[:2], 1)
            np.testing.assert_allclose(stored[name], expected, atol=1e-4)


def test_photographs_have_a_preset_for_all(digits: list[str], tmp_path: Path) -> None:
    done = run(
        *digits, "--model", "lenet5-mnist", "--explainers", "ssplain-0,occlusion",
        "--preset", "photograph", "--out", tmp_path,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    images, _ = ssplain.data.bundled("mnist")
    model = ssplain.models.load("lenet5-mnist")
    expected = make("occlusion", model, fill="mean").attribute(images[:2])
    with np.load(tmp_path / "maps.npz", allow_pickle=False) as stored:
        np.testing.assert_allclose(stored["occlusion"], expected, atol=1e-5)
