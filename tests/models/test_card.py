import json
from dataclasses import FrozenInstanceError, replace
from datetime import date
from pathlib import Path

import pytest

from ssplain.data import CLASSES, bundled
from ssplain.errors import SSplainError
from ssplain.files import hash_file
from ssplain.models import LeNet5, card, load, save
from ssplain.models.card import BUNDLED, CARD, WEIGHTS, folder_of
from ssplain.train.loop import accuracy, predict
from ssplain.train.rop import CLASSES as GRADES
from ssplain.train.rop import judge

NEEDED = {"googlenet-rop": 0.91, "lenet5-mnist": 0.9853, "lenet5-fmnist": 0.8867}


@pytest.mark.parametrize("name", list(NEEDED))
def test_bundled_cards_tell_what_is_in_the_package(name: str) -> None:
    found = card(name)
    assert name == found.name == f"{found.architecture}-{found.dataset}"
    assert found.classes == (CLASSES | {"rop": GRADES})[found.dataset]
    assert (found.channels, found.size) == (1, tuple(bundled(found.dataset)[0].shape[-2:]))
    assert date.fromisoformat(found.date) <= date.today()  # noqa: DTZ011
    assert found.sha256 == hash_file(folder_of(name) / WEIGHTS)
    assert found.accuracy >= NEEDED[name]


def test_the_bundled_googlenet_is_as_good_as_its_card_says() -> None:
    images, labels = bundled("rop")
    verdict = judge(load("googlenet-rop"), images, labels)
    assert verdict.balanced_accuracy == pytest.approx(card("googlenet-rop").accuracy, abs=1e-6)
    assert verdict.balanced_accuracy >= NEEDED["googlenet-rop"]
    assert min(verdict.recalls) >= 0.85
    for name, recall in zip(GRADES, verdict.recalls, strict=True):
        assert f"{name} {recall:.0%}" in card("googlenet-rop").note


@pytest.mark.parametrize("name", ["lenet5-mnist", "lenet5-fmnist"])
def test_bundled_models_are_as_good_as_their_cards(name: str) -> None:
    images, labels = bundled(card(name).dataset)
    share, spread = card(name).accuracy, 3 * (0.25 / 500) ** 0.5
    assert accuracy(predict(load(name), images), labels) >= share - spread


def test_save_and_card_go_round(tmp_path: Path) -> None:
    about = replace(card("lenet5-mnist"), name="mine", note="é", sha256="")
    save(LeNet5(), about, tmp_path)
    found = card(tmp_path)
    assert found == replace(about, sha256=hash_file(tmp_path / WEIGHTS))
    assert sorted(path.name for path in tmp_path.iterdir()) == [CARD, WEIGHTS]


def test_cards_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        card("lenet5-mnist").seed = 1  # type: ignore[misc]


def test_unknown_models_are_told(tmp_path: Path) -> None:
    with pytest.raises(SSplainError, match=r"'resnet'.*lenet5-mnist, lenet5-fmnist"):
        card("resnet")
    with pytest.raises(SSplainError, match=r"card\.json cannot be read"):
        card(tmp_path)


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"classes": [], "size": [1, 1]}'])
def test_broken_cards_are_told(tmp_path: Path, content: str) -> None:
    (tmp_path / CARD).write_text(content)
    with pytest.raises(SSplainError, match="is not a model card"):
        card(tmp_path)


def test_every_bundled_name_has_its_card() -> None:
    for name in BUNDLED:
        assert json.loads((folder_of(name) / CARD).read_text())["name"] == name
