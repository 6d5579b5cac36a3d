import json
from pathlib import Path

import numpy as np
import pytest
import torch
import typer
from PIL import Image
from typer.testing import CliRunner, Result

from ssplain.cli.train import VALIDATION, train
from ssplain.errors import SSplainError
from ssplain.models import load
from ssplain.simulate.disease import CLASSES
from ssplain.simulate.eye import simulate
from ssplain.train.rop import FURTHER

app = typer.Typer()
app.command()(train)


def write_idx(path: Path, values: np.ndarray) -> None:
    sizes = np.array(values.shape, dtype=">u4").tobytes()
    path.write_bytes(bytes([0, 0, 8, values.ndim]) + sizes + values.astype(np.uint8).tobytes())


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Images whose bright row is their class: enough for the validation split and some more."""
    folder = tmp_path_factory.mktemp("data")
    for prefix, count in (("train", VALIDATION + 320), ("t10k", 50)):
        labels = np.arange(count) % 10
        images = np.zeros((count, 28, 28))
        images[np.arange(count), 2 * labels + 4] = 255
        write_idx(folder / f"{prefix}-images-idx3-ubyte", images)
        write_idx(folder / f"{prefix}-labels-idx1-ubyte", labels)
    return folder


def call(*arguments: object) -> Result:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if isinstance(result.exception, SSplainError):
        raise result.exception
    return result


def test_a_model_and_its_card_are_written(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "run"
    result = call("mnist", "--data", data, "--out", out, "--epochs", 6)
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in out.iterdir()) == ["card.json", "weights.safetensors"]
    card = json.loads((out / "card.json").read_text())
    assert (card["name"], card["dataset"], card["seed"]) == ("lenet5-mnist", "mnist", 0)
    rows = torch.zeros(10, 1, 28, 28)
    for label in range(10):
        rows[label, 0, 2 * label + 4] = 1
    right = (load(out)(rows).argmax(1) == torch.arange(10)).double().mean().item()
    assert card["accuracy"] == right > 0.5
    assert f"{right:.1%} of 50 (95 % interval" in result.stdout
    assert not result.stderr  # no bar in a pipe
    with pytest.raises(SSplainError, match="already holds a trained model"):
        call("mnist", "--data", data, "--out", out)


def test_a_stopped_run_is_only_gone_on_with_when_asked(data: Path, tmp_path: Path) -> None:
    (tmp_path / "checkpoint.safetensors").write_bytes(b"junk")
    with pytest.raises(SSplainError, match="--resume"):
        call("mnist", "--data", data, "--out", tmp_path)
    with pytest.raises(SSplainError, match="not a readable checkpoint"):
        call("mnist", "--data", data, "--out", tmp_path, "--resume")


def test_mistakes_are_told_before_anything_is_written(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(SSplainError, match=r"'cifar'.*mnist, fmnist"):
        call("cifar", "--data", data, "--out", out)
    with pytest.raises(SSplainError, match="Found no train-images"):
        call("mnist", "--data", tmp_path, "--out", out)
    assert not out.exists()
    (tmp_path / "file").touch()
    with pytest.raises(SSplainError, match="cannot be made"):
        call("mnist", "--data", data, "--out", tmp_path / "file" / "out")
    assert call("mnist", "--data", data, "--out", out, "--epochs", 0).exit_code == 2
    with pytest.raises(SSplainError, match="--bent and --start are for rop"):
        call("mnist", "--data", data, "--out", out, "--start", "googlenet-rop")
    with pytest.raises(
        SSplainError, match="--bfloat16 is for rop, vessels and disc, not for mnist"
    ):
        call("mnist", "--data", data, "--out", out, "--bfloat16")
    with pytest.raises(SSplainError, match="--painted, --bent and --start are for rop"):
        call("mnist", "--data", data, "--out", out, "--painted", 3)
    with pytest.raises(SSplainError, match="HVDROPDB"):
        call("rop", "--painted", 3, "--data", tmp_path / "none", "--out", out)
    with pytest.raises(SSplainError, match="lenet5-mnist is no GoogLeNet"):
        call("rop", "--out", out, "--start", "lenet5-mnist")
    assert not out.exists()


@pytest.mark.parametrize("dataset", ["mnist", "rop", "vessels", "disc"])
def test_a_mistyped_folder_leaves_nothing_behind(tmp_path: Path, dataset: str) -> None:
    out = tmp_path / "new" / "out"
    with pytest.raises(SSplainError, match=r"mistyped|Found no"):
        call(dataset, "--data", tmp_path / "mistyped", "--out", out)
    assert not (tmp_path / "new").exists()
    # and what was there stays
    (tmp_path / "old").mkdir()
    with pytest.raises(SSplainError, match=r"mistyped|Found no"):
        call(dataset, "--data", tmp_path / "mistyped", "--out", tmp_path / "old")
    assert list(tmp_path.iterdir()) == [tmp_path / "old"]


def test_mistyped_trees_leave_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(SSplainError, match="mistyped"):
        call("rop", "--trees", tmp_path / "mistyped", "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_googlenet_is_trained_on_a_folder_of_own_images(tmp_path: Path) -> None:
    """One epoch of each stage: what comes out is a model with its card, if not yet a good one."""
    for i in range(36):
        fundus = simulate(31, i)
        path = tmp_path / "own" / CLASSES[fundus.label] / f"infant-{i // 3}" / f"{i}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.rint(255 * fundus.image).astype(np.uint8)).save(path)
    (tmp_path / "own" / "Plus" / "infant-0" / "broken.png").write_bytes(b"not a picture")
    out = tmp_path / "out"
    done = call("rop", "--data", tmp_path / "own", "--out", out, "--epochs", 1)
    assert done.exit_code == 2, "one image was refused"
    assert "broken.png" in done.stderr
    assert "recall" in done.stdout
    card = json.loads((out / "card.json").read_text())
    assert (card["architecture"], card["dataset"], card["classes"]) == (
        "googlenet",
        "rop",
        list(CLASSES),
    )
    assert "images of 12 infants" in card["note"]
    assert "95 % interval" in card["note"]
    assert (out / "roc.png").read_bytes()[1:4] == b"PNG"
    assert load(out)(torch.zeros(1, 1, 224, 224)).shape == (1, 3)
    with pytest.raises(SSplainError, match="already holds a trained model"):
        call("rop", "--data", tmp_path / "own", "--out", out, "--resume")
    further = tmp_path / "further"
    call("rop", "--data", tmp_path / "own", "--out", further, "--epochs", 1, "--start", out)
    assert "going on from out" in json.loads((further / "card.json").read_text())["note"]
    assert len(list((further / "work").glob("stage-*"))) == len(FURTHER)
