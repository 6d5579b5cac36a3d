from itertools import islice

import pytest
import torch
from torch import Tensor, nn

from ssplain.bench import core
from ssplain.explain import Preset, preset


def test_the_textbook_loop_is_timed_with_weights_that_are_not_frozen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Gradients of the weights are part of what a first version costs."""
    frozen: list[bool] = []

    def watched(model: nn.Module, *_: Tensor | int, **__: object) -> None:
        frozen.append(not all(weight.requires_grad for weight in model.parameters()))

    def short(name: str) -> Preset:
        return preset(name) | {"iterations": 1}

    monkeypatch.setattr(core, "textbook", watched)
    monkeypatch.setattr(core, "preset", short)
    images, labels = torch.rand(12, 1, 28, 28), torch.arange(12) % 10
    monkeypatch.setattr(core, "bundled", lambda _: (images, labels))
    overhead, speed = islice(core.cases(), 2)
    assert overhead["images"] == speed["images"] == 12
    assert len(frozen) >= speed["loop_images"] == 10
    assert not any(frozen)
