"""The one door to a model: what goes through it, and that nobody goes round it."""

import inspect
from typing import get_type_hints

import pytest
import torch
from torch import Tensor, nn

import ssplain
from ssplain.errors import SSplainError
from ssplain.models import Door, ModelOptions

IMAGES = torch.rand(5, 1, 6, 6, generator=torch.Generator().manual_seed(0))


def net(channels: int = 1) -> nn.Module:
    torch.manual_seed(3)
    return nn.Sequential(nn.Conv2d(channels, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64, 3))


def test_options_are_the_doors_own() -> None:
    taken = inspect.signature(Door.__init__).parameters
    assert set(get_type_hints(ModelOptions)) == set(taken) - {"self", "model"}


def test_an_open_model_knows_its_images() -> None:
    model = net().double()
    with Door(model).open(IMAGES[0]) as opened:
        assert opened.images.dtype == torch.float64
        assert not model.training
        expected = model(IMAGES[:1].double()).softmax(1)
        torch.testing.assert_close(opened.probabilities, expected.detach())
        torch.testing.assert_close(opened.probabilities_of(opened.images), expected.detach())
    assert model.training


def test_batches_hold_as_many_images_as_asked_for() -> None:
    seen: list[int] = []
    model = net()
    model.register_forward_pre_hook(lambda _, args: seen.append(len(args[0])))
    with Door(model, batch_size=2).open(IMAGES) as opened:
        assert opened.run(lambda rows: rows, 3, weight=2) == [slice(i, i + 1) for i in range(3)]
        opened.probabilities_of(opened.images)
    assert set(seen) <= {1, 2}


def test_grey_images_get_the_channels_of_the_model() -> None:
    with Door(net(3)).open(IMAGES) as opened:
        assert opened.images.shape == (5, 1, 6, 6)
        assert torch.equal(opened.each_channel(), IMAGES.repeat(1, 3, 1, 1))


@pytest.mark.parametrize("options", [{"batch_size": 0}, {"channels": 0}, {"batch_size": True}])
def test_wrong_options_are_named(options: ModelOptions) -> None:
    ((name, value),) = options.items()
    with pytest.raises(SSplainError, match=f"{name}={value!r} does not work"):
        Door(net(), **options)


def test_the_faster_convolution_can_be_switched_off() -> None:
    """Switched off, the gradient is the very one of the plain layers; on, it is as good."""
    model, images = net(), IMAGES
    leaf = images.clone().requires_grad_()
    (plain,) = torch.autograd.grad(model(leaf)[:, 1].sum(), leaf)

    def calls(*, switch: bool) -> tuple[Tensor, set[str]]:
        with Door(model, image_convolution=switch).open(images) as opened:
            point = images.clone().requires_grad_()
            values = opened.classifier.values(point)
            nodes, names = [values.grad_fn], set[str]()
            while nodes:
                node = nodes.pop()
                if node is not None:
                    names.add(node.name())
                    nodes += [after for after, _ in node.next_functions]
            return torch.autograd.grad(values[:, 1].sum(), point)[0], names

    off, without = calls(switch=False)
    on, with_ours = calls(switch=True)
    assert not any("ImageConvolution" in name for name in without)
    assert any("ImageConvolution" in name for name in with_ours)
    torch.testing.assert_close(off, plain, rtol=1e-5, atol=1e-7)
    torch.testing.assert_close(on, plain, rtol=1e-5, atol=1e-7)


def test_every_explainer_takes_the_options() -> None:
    model = net()
    for name in ("ssplain-0", "saliency"):
        explainer = ssplain.explain.make(name, model, image_convolution=False, batch_size=2)
        assert explainer.attribute(IMAGES).shape == (5, 1, 6, 6)
