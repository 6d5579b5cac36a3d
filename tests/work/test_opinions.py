"""Opinions of a batch: asked for once, and an image at fault fails alone."""

import pytest
import torch

import ssplain
from ssplain import SSplain, preset
from ssplain.explain import Explanation
from ssplain.metrics import kept_and_removed
from ssplain.metrics.sufficiency import Kept
from ssplain.work import opinions
from ssplain.work.opinions import Opinions


@pytest.fixture(scope="module")
def explained() -> tuple[SSplain, Explanation]:
    images, _ = ssplain.data.bundled("mnist")
    explainer = SSplain(ssplain.models.load("lenet5-mnist"), **preset("mnist"))
    return explainer, explainer.explain(images[:4])


def test_they_are_those_of_each_image_and_asked_for_once(
    explained: tuple[SSplain, Explanation], monkeypatch: pytest.MonkeyPatch
) -> None:
    explainer, result = explained
    asked: list[int] = []

    def counted(model: object, result: Explanation, **options: object) -> Kept:
        asked.append(len(result.images))
        return kept_and_removed(model, result, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(opinions, "kept_and_removed", counted)
    found = Opinions(explainer, result)
    whole = kept_and_removed(explainer.classifier.model, result)
    for row in (2, 0, 3, 1):
        told = found.of(row)
        assert told["probability_only_mask"] == pytest.approx(float(whole.only[row]))
        assert told["probability_without_mask"] == pytest.approx(float(whole.without[row]))
    assert asked == [4]


def test_one_at_fault_fails_alone(
    explained: tuple[SSplain, Explanation], monkeypatch: pytest.MonkeyPatch
) -> None:
    explainer, result = explained
    odd = result.images[1]

    def picky(model: object, result: Explanation, **options: object) -> Kept:
        if any(torch.equal(image, odd) for image in result.images):
            raise ValueError("an odd one")
        return kept_and_removed(model, result, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(opinions, "kept_and_removed", picky)
    found = Opinions(explainer, result)
    with pytest.raises(ValueError, match="an odd one"):
        found.of(1)
    for row in (0, 2, 3):
        assert 0 <= found.of(row)["probability_only_mask"] <= 1
