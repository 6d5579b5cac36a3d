"""Devices without 64-bit numbers: nothing that lies on one is made double unasked."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from ssplain import SSplain, metrics
from ssplain.explain.registry import make, names
from tests.explain.small import QUICK, pictures, small


def tensors(held: object) -> Iterator[Tensor]:
    if isinstance(held, Tensor):
        yield held
    elif isinstance(held, list | tuple):
        for one in held:
            yield from tensors(one)


def there(images: Tensor) -> Tensor:
    """Return images that count as lying on a device."""
    images.on_device = True  # type: ignore[attr-defined]
    return images


class WithoutDoubles(TorchFunctionMode):
    """Takes what is made from a device's tensors for the device's own, until it goes to the CPU."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: object,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        kwargs = kwargs or {}
        made, name = func(*args, **kwargs), getattr(func, "__name__", "")
        given = [*tensors(args), *tensors(list(kwargs.values()))]
        away = any(getattr(one, "on_device", False) for one in given)
        if name == "cpu":
            made, away = torch.ops.aten.alias(made), False
        elif kwargs.get("device") is not None or any(isinstance(a, torch.device) for a in args):
            away = True
        for one in tensors(made):
            if any(one is other for other in given):
                continue
            if away and one.dtype == torch.float64 and name != "__get__":
                raise TypeError(f"{name} makes 64-bit numbers on a device that has none")
            with suppress(AttributeError):
                one.on_device = away  # type: ignore[attr-defined]
        return made


def test_the_stand_in_notices() -> None:
    images = there(torch.rand(2, 2))
    with WithoutDoubles():
        assert images.cpu().double().sum().float() > 0
        with pytest.raises(TypeError, match="double makes 64-bit"):
            images.double()
        with pytest.raises(TypeError, match="zeros makes 64-bit"):
            torch.zeros(1, dtype=torch.float64, device=images.device)


@pytest.mark.parametrize("name", names())
def test_explainers(name: str) -> None:
    images, explainer = there(pictures()), make(name, small(), **QUICK.get(name, {}))
    with WithoutDoubles():
        explainer.attribute(images, 1)


@pytest.mark.parametrize("settings", [{"stable": True}, {"norm": "l1"}, {"support": "otsu"}])
def test_settings(settings: dict[str, Any]) -> None:
    images, explainer = there(pictures()), SSplain(small(), iterations=2, **settings)
    with WithoutDoubles():
        result = explainer.explain(images, 1)
        assert result.stability.ranks.shape == (2, 3)


@pytest.mark.parametrize("axis", ["all", "support", "kappa"])
def test_curves(axis: Any) -> None:  # noqa: ANN401
    images, maps, model = there(pictures()), there(pictures().flip(-1)), small()
    with WithoutDoubles():
        curves = metrics.insertion_deletion(model, images, 1, maps, axis=axis, points=5)
    expected = metrics.insertion_deletion(model, images, 1, maps, axis=axis, points=5)
    assert torch.equal(curves.insertion.probability, expected.insertion.probability)
    assert torch.equal(curves.kappa, expected.kappa)


def test_sensitivity() -> None:
    images, explainer = there(pictures()), make("saliency", small())
    with WithoutDoubles():
        found = metrics.max_sensitivity(lambda x: explainer.attribute(x, 1), images, draws=1)
    assert found.shape == (3,)


def test_sanity() -> None:
    images, model = there(pictures()), small()
    with WithoutDoubles():
        metrics.sanity_check(
            lambda net, x: make("saliency", net).attribute(x, 1),
            model, images, seeds=[0], measures=["spearman"],
        )  # fmt: skip
