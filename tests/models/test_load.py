import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from ssplain.errors import SSplainError
from ssplain.models import GoogLeNet, LeNet5, card, load, save
from ssplain.models.card import WEIGHTS, folder_of

IMAGES = torch.rand(4, 1, 28, 28, generator=torch.Generator().manual_seed(0))


def test_a_bundled_model_comes_in_evaluation_mode_with_its_weights() -> None:
    model = load("lenet5-mnist")
    assert isinstance(model, LeNet5)
    assert not any(module.training for module in model.modules())
    direct = load(folder_of("lenet5-mnist") / WEIGHTS)
    assert torch.equal(model(IMAGES), direct(IMAGES))
    assert not torch.equal(model(IMAGES), load("lenet5-fmnist")(IMAGES))


def test_a_weights_file_needs_the_name_of_its_architecture(tmp_path: Path) -> None:
    model = LeNet5()
    save_file(model.state_dict(), tmp_path / "mine.safetensors")
    found = load(tmp_path / "mine.safetensors", architecture="lenet5")
    assert torch.equal(found(IMAGES), model(IMAGES))
    with pytest.raises(SSplainError, match=r"no architecture was given.*lenet5"):
        load(tmp_path / "mine.safetensors")
    with pytest.raises(SSplainError, match="not 'vgg'"):
        load(tmp_path / "mine.safetensors", architecture="vgg")


def test_a_trained_folder_is_loaded_by_its_card(tmp_path: Path) -> None:
    model = LeNet5()
    save(model, card("lenet5-mnist"), tmp_path)
    assert torch.equal(load(tmp_path)(IMAGES), model(IMAGES))


def test_weights_that_are_not_the_cards_are_refused(tmp_path: Path) -> None:
    save(LeNet5(), card("lenet5-mnist"), tmp_path)
    save_file(LeNet5().state_dict(), tmp_path / WEIGHTS)
    with pytest.raises(SSplainError, match="SHA-256 differs"):
        load(tmp_path)


def test_weights_of_another_network_are_told_apart(tmp_path: Path) -> None:
    weights = LeNet5().state_dict()
    weights["full3.weight"] = torch.zeros(7, 84)
    weights["extra"] = torch.zeros(1)
    for name in ("conv1.weight", "conv1.bias", "full1.bias"):
        del weights[name]
    path = tmp_path / "other.safetensors"
    save_file(weights, path)
    with pytest.raises(SSplainError) as caught:
        load(path, "lenet5")
    assert str(caught.value) == (
        f"{path} does not fit lenet5: conv1.weight is missing, conv1.bias is missing, full1.bias "
        "is missing, and 2 more; give the weights' own architecture."
    )
    save_file(LeNet5().state_dict() | {"full3.weight": torch.zeros(7, 84)}, path)
    with pytest.raises(
        SSplainError, match=r"full3.weight has shape \(7, 84\) instead of \(10, 84\)"
    ):
        load(path, "lenet5")


@pytest.mark.parametrize("content", [b"", b"not weights", b"\xff" * 64])
def test_damaged_weights_are_told(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.safetensors"
    path.write_bytes(content)
    with pytest.raises(SSplainError, match="not a readable safetensors file"):
        load(path, "lenet5")


@pytest.mark.parametrize("ending", ["pt", "pth", "pkl", "ckpt", "PT"])
def test_pickled_files_are_not_opened(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"model.{ending}"
    torch.save(LeNet5().state_dict(), path)
    with pytest.raises(SSplainError, match=r"save_file.*torch\.export\.save"):
        load(path)


def test_unknown_sources_are_told(tmp_path: Path) -> None:
    with pytest.raises(SSplainError, match=r"'lenet6'.*lenet5-mnist, lenet5-fmnist"):
        load("lenet6")
    with pytest.raises(SSplainError, match="no weights file"):
        load(tmp_path / "none.safetensors", "lenet5")
    with pytest.raises(SSplainError, match="no weights file"):
        load(tmp_path)


ENTRY = """
import torch
def net():
    return torch.nn.Linear(2, 3).train()
def nothing():
    return None
def needs(size):
    return torch.nn.Linear(size, 1)
def double():
    return lambda images: 2 * images
value = 3
"""


def test_an_entry_point_is_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "entry_for_tests.py").write_text(ENTRY)
    monkeypatch.syspath_prepend(tmp_path)
    model = load("entry_for_tests:net")
    assert isinstance(model, torch.nn.Linear)
    assert not model.training
    function = load("entry_for_tests:double")
    assert not function.training
    assert function(torch.ones(2)).tolist() == [2, 2]
    for entry, complaint in {
        "entry_for_tests:nothing": "returned NoneType",
        "entry_for_tests:value": "no function 'value'",
        "entry_for_tests:missing": "no function 'missing'",
        "entry_for_tests:needs": "cannot be called without arguments",
        "no_such_package.models:net": "cannot be imported",
    }.items():
        with pytest.raises(SSplainError, match=complaint):
            load(entry)


def test_published_googlenet_weights_load_with_their_classes(tmp_path: Path) -> None:
    """Weights with auxiliary heads and another number of classes, as torchvision publishes them."""
    weights = GoogLeNet(classes=7).state_dict()
    weights |= {"aux1.fc2.weight": torch.zeros(7, 4), "aux2.fc2.bias": torch.zeros(7)}
    save_file(weights, tmp_path / "googlenet.safetensors")
    model = load(tmp_path / "googlenet.safetensors", "googlenet")
    assert model(torch.zeros(1, 3, 64, 64)).shape == (1, 7)


class TestCurrentFolder:
    def test_an_entry_is_found_where_the_user_is(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "mynets_here.py").write_text(
            "from torch import nn\ndef build():\n    return nn.Sequential(nn.Flatten(), "
            "nn.Linear(4, 2))\n"
        )
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr("sys.path", [p for p in sys.path if p])
        assert load("mynets_here:build")(torch.zeros(1, 1, 2, 2)).shape == (1, 2)

    def test_weights_of_any_architecture(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "mynets_there.py").write_text(
            "from torch import nn\ndef build():\n    return nn.Linear(4, 2)\n"
        )
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr("sys.path", [p for p in sys.path if p])
        net = torch.nn.Linear(4, 2)
        save_file(net.state_dict(), tmp_path / "mine.safetensors")
        found = load("mine.safetensors", "mynets_there:build")
        assert torch.equal(found(torch.ones(1, 4)), net(torch.ones(1, 4)))
        save_file(torch.nn.Linear(3, 2).state_dict(), tmp_path / "other.safetensors")
        with pytest.raises(SSplainError, match="does not fit mynets_there:build: weight has shape"):
            load("other.safetensors", "mynets_there:build")
