"""Somebody's model is left as it was, and what cannot be explained is said."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from ssplain import SSplain, SSplainError
from ssplain.models import frozen
from tests.explain.small import Small, pictures, small


def state(model: nn.Module) -> list[Any]:
    flags: list[Any] = [module.training for module in model.modules()]
    return flags + [
        (weight.requires_grad, weight.stride(), weight.data_ptr()) for weight in model.parameters()
    ]


def test_the_last_of_several_holders_gives_it_back() -> None:
    model = small().train()
    before = state(model)
    first, second = frozen(model), frozen(model)
    with first:
        second.__enter__()
    assert not model.training  # the first has left, the second still works
    assert not model.conv.weight.requires_grad
    second.__exit__(None, None, None)
    assert state(model) == before


def test_threads_share_a_model() -> None:
    model = small().train()
    before = state(model)
    images = pictures(6)
    alone = SSplain(model, iterations=3).attribute(images, 1)

    def work(row: int) -> Tensor:
        return SSplain(model, iterations=3).attribute(images[row : row + 1], 1)

    with ThreadPoolExecutor(4) as threads:
        maps = torch.cat(list(threads.map(work, range(6))))
    assert torch.equal(maps, alone)
    assert state(model) == before


def test_autocast_around_the_call_changes_nothing() -> None:
    images = pictures()
    plain = SSplain(small(), iterations=3).attribute(images)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(SSplain(small(), iterations=3).attribute(images), plain)


def test_autocast_inside_a_model_works() -> None:
    class Mixed(Small):
        def forward(self, x: Tensor) -> Tensor:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                return super().forward(x)

    result = SSplain(small(Mixed), iterations=3).explain(pictures())
    assert result.scores.dtype == torch.float32
    assert bool(torch.isfinite(result.scores).all())


def test_inference_mode_around_the_call_changes_nothing() -> None:
    model, images = small(), pictures()
    plain = SSplain(model, iterations=3).attribute(images)
    with torch.inference_mode():
        assert torch.equal(SSplain(model, iterations=3).attribute(images * 1), plain)


def test_a_model_made_in_inference_mode_is_explained() -> None:
    with torch.inference_mode():
        model = small()
    with pytest.raises(SSplainError, match="inference_mode"):
        SSplain(model).explain(pictures())


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch.jit is, its users are not
def test_frozen_scripts_work() -> None:
    model, images = small(), pictures()
    traced = torch.jit.trace(model, images)  # type: ignore[no-untyped-call]
    frozen_script = torch.jit.freeze(traced.eval())
    expected = SSplain(model, iterations=2).explain(images)
    found = SSplain(frozen_script, iterations=2, channels=1).explain(images)
    torch.testing.assert_close(found.probabilities, expected.probabilities)
    assert found.scores.shape == expected.scores.shape


class TestOutputs:
    def test_labels_are_not_taken_for_classes(self) -> None:
        model = nn.Sequential(small(), nn.Sigmoid())
        with pytest.raises(SSplainError, match="independent labels"):
            SSplain(model).explain(pictures())
        result = SSplain(model, output_kind="probs", iterations=2).explain(pictures(), 1)
        torch.testing.assert_close(result.probabilities, model(pictures()).detach())

    def test_softmax_is_still_seen(self) -> None:
        model = nn.Sequential(small(), nn.Softmax(1))
        result = SSplain(model, iterations=1).explain(pictures())
        torch.testing.assert_close(result.probabilities, model(pictures()).detach())

    @pytest.mark.parametrize("error", [ValueError, KeyError, AssertionError, ZeroDivisionError])
    def test_whatever_a_model_raises_is_a_sentence(self, error: type[Exception]) -> None:
        def model(_: Tensor) -> Tensor:
            raise error("wrong size")

        with pytest.raises(SSplainError, match=r"does not accept images of shape.*wrong size"):
            SSplain(model).explain(pictures())

    def test_a_model_that_breaks_on_the_way_is_a_sentence(self) -> None:
        inner, calls = small(), []

        def model(x: Tensor) -> Tensor:
            calls.append(1)
            if len(calls) > 6:
                raise ValueError("I am tired")
            return inner(x)  # type: ignore[no-any-return]

        with pytest.raises(SSplainError, match="I am tired"):
            SSplain(model).explain(pictures())
