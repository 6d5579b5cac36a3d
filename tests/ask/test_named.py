"""Models tell what their classes are called."""

from types import SimpleNamespace

import pytest
import torch
from torch import Tensor, nn

from ssplain import SSplain, SSplainError
from ssplain.ask.named import given_classes, told_classes
from ssplain.explain import make
from ssplain.models import MODELS, AtLeast, Normalised, OnBackground, OneLabel, QueryOnly
from ssplain.models import RegisteredModel as Registered
from ssplain.models.classes import classes_of
from tests.explain.small import Small, pictures, small

NAMES = ("cat", "dog", "emu")


def named(classes: object = NAMES) -> Small:
    model = small()
    model.classes = classes  # type: ignore[assignment]
    return model


def labelled(labels: object) -> Small:
    model = small()
    model.config = SimpleNamespace(id2label=labels)  # type: ignore[assignment]
    return model


@pytest.mark.parametrize(
    ("model", "names"),
    [
        (named(), NAMES),
        (named(list(NAMES)), NAMES),
        (named(3), None),  # as many networks call their number
        (named("cat"), None),
        (named(()), None),
        (named([1, 2, 3]), None),
        (named(nn.Linear(1, 3)), None),
        (small(), None),
        (len, None),
        (labelled({0: "cat", 1: "dog", 2: "emu"}), NAMES),
        (labelled({"2": "emu", "0": "cat", "1": "dog"}), NAMES),  # by number, not as they stand
        (labelled({str(i): f"n{i}" for i in range(12)}), tuple(f"n{i}" for i in range(12))),
        (labelled({1: "cat", 2: "dog"}), None),
        (labelled({0: "LABEL_0", 1: "LABEL_1"}), None),
        (labelled(None), None),
    ],
)
def test_what_counts_as_names(model: object, names: tuple[str, ...] | None) -> None:
    assert told_classes(model) == names


def test_wrappers_pass_names_on_and_questions_have_their_own() -> None:
    model = named()
    assert told_classes(torch.compile(model, backend="eager")) == NAMES
    assert told_classes(nn.DataParallel(model)) == NAMES
    assert told_classes(Normalised(model, 0.5, 0.5)) == NAMES
    assert told_classes(OnBackground(model, 0.5)) == NAMES
    assert told_classes(QueryOnly(model)) == NAMES
    assert told_classes(model.half()) == NAMES
    outer = named(("a", "b", "c"))
    outer.module = named()
    assert told_classes(outer) == ("a", "b", "c")  # whatever else is in it
    for question in (OneLabel(model, 1), AtLeast(model, 0.5)):
        assert told_classes(Normalised(question, 0.5, 0.5)) == ("no", "yes")


def test_who_is_heard_first() -> None:
    MODELS.add(Registered("zoo", small, NAMES))
    try:
        assert classes_of("zoo", small()) == NAMES
    finally:
        MODELS.remove("zoo")
    assert classes_of("lenet5-mnist", OneLabel(small(), 0)) == ("no", "yes")
    assert classes_of("lenet5-fmnist", small(), ("a", "b")) == ("a", "b")
    assert classes_of("mynets:build", small()) is None


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["cat", "cat"], "Two classes are called 'cat'"),
        (["cat", "0"], "Class 1 cannot be called '0'"),
        (["cat", "-1"], "Class 1 cannot be called '-1'"),
        (["posterior", "cat"], "Class 0 cannot be called 'posterior'"),
        (["cat", ""], "Class 1 has no name"),
    ],
)
def test_names_that_mislead_are_refused(names: list[str], message: str) -> None:
    with pytest.raises(SSplainError, match=message):
        given_classes(names)
    assert given_classes(["0", "1", "many"]) == ("0", "1", "many")


@pytest.mark.parametrize("name", ["ssplain-0", "saliency"])
def test_explainers_take_a_target_by_name(name: str) -> None:
    images = pictures(2)
    by_number = make(name, named()).attribute(images, 1)
    assert torch.equal(make(name, named()).attribute(images, "dog"), by_number)
    with pytest.raises(SSplainError, match="no class 'fox'; give one of cat, dog, emu"):
        make(name, named()).attribute(images, "fox")


def test_a_result_says_that_its_class_was_given() -> None:
    result = SSplain(named(), iterations=2).explain(pictures(2), "emu")
    assert result.target.tolist() == [2, 2]
    assert result.settings["target"] == "given"
    noisy: Tensor = result.again(pictures(2))  # type: ignore[misc]
    assert noisy.shape == result.scores.shape


def test_a_name_that_stands_twice_is_asked_about_by_number() -> None:
    model = named(("crane", "dog", "crane"))
    with pytest.raises(SSplainError, match="called 'crane': 0, 2; give the number"):
        SSplain(model).attribute(pictures(1), "crane")


def test_of_many_names_a_sentence_has_some() -> None:
    model = Small(classes=300)
    model.classes = [f"n{i}" for i in range(300)]  # type: ignore[assignment]
    with pytest.raises(SSplainError, match=r"n19, \.\.\. \(300 names\)"):
        SSplain(model).attribute(pictures(1), "fox")
