import pytest
import torch
from torch import Tensor

from ssplain import SSplainError
from ssplain.explain.compare import compare
from ssplain.explain.registry import make, names
from tests.explain.small import pictures, small


def test_each_is_what_it_is_alone() -> None:
    model, images = small(), pictures()
    chosen = ["input-x-gradient", "lime", "ssplain-1"]
    found = list(compare(model, images, [0, 1, 2], explainers=chosen, seed=4))
    assert [one.method.name for one in found] == chosen
    for one in found:
        alone = make(one.method.name, model, seed=4).attribute(images, [0, 1, 2])
        assert one.maps is not None
        assert torch.equal(one.maps, alone)
        assert one.seconds > 0


def test_the_papers_settings_are_used() -> None:
    images = pictures(1, shape=(20, 20))
    (rop,) = compare(small(), images, 1, explainers=["occlusion"], dataset="rop")
    expected = make("occlusion", small(), window=16, stride=4).attribute(images, 1)
    assert rop.maps is not None
    assert torch.equal(rop.maps, expected)


def test_one_that_cannot_does_not_stop_the_others() -> None:
    def flat(x: Tensor) -> Tensor:
        return x.flatten(1)[:, :4] * 2

    found = {
        one.method.name: one for one in compare(flat, pictures(1, 1, (6, 5)), explainers=names())
    }
    missing = [name for name, one in found.items() if one.maps is None]
    assert missing == ["guided-grad-cam", "deep-shap"]
    assert "no convolution" in found["guided-grad-cam"].complaint
    assert [found[name].seconds for name in missing] == [0.0, 0.0]


def test_what_is_wrong_for_all_is_said_once() -> None:
    with pytest.raises(SSplainError, match="Target 7 is out of range"):
        list(compare(small(), pictures(), 7, explainers=names()))
    with pytest.raises(SSplainError, match="no explainer 'magic'"):
        list(compare(small(), pictures(), explainers=["saliency", "magic"]))


@pytest.mark.parametrize("closed", ["no_grad", "detached"])
def test_models_without_gradient_are_told_so_in_words(closed: str) -> None:
    def model(x: Tensor) -> Tensor:
        if closed == "no_grad":
            with torch.no_grad():
                return x.flatten(1)[:, :4] * 2
        unrelated = torch.ones(len(x), 4, requires_grad=True)
        return x.flatten(1)[:, :4].detach() + unrelated

    (found,) = compare(model, pictures(1, 1, (6, 5)), explainers=["saliency"])
    assert found.maps is None
    assert "gradient" in found.complaint
    assert "grad_fn" not in found.complaint
    assert "graph" not in found.complaint


@pytest.mark.parametrize(
    ("raised", "told"), [("first\nsecond", "first"), ("", "it failed")], ids=["lines", "nothing"]
)
def test_what_pytorch_says_is_passed_on(
    raised: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> Tensor:
        raise RuntimeError(raised)

    monkeypatch.setattr(type(make("saliency", small())), "attribute", fails)
    (found,) = compare(small(), pictures(1), explainers=["saliency"])
    assert (found.maps, found.complaint) == (None, told)
