"""Tests of GoogLeNet: its names and sizes, and its normalisation."""

import pytest
import torch
from torch import nn

from ssplain.models.googlenet import GoogLeNet


@pytest.fixture(scope="module")
def model() -> GoogLeNet:
    """A network whose batch normalisations are far from doing nothing."""
    torch.manual_seed(0)
    model = GoogLeNet(classes=3)
    for module in model.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight)
        if isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.weight, 0.5, 1.5)
            nn.init.normal_(module.bias, std=0.3)
    model.train()
    with torch.no_grad():
        for _ in range(3):
            model(torch.rand(4, 1, 64, 64))
    return model.eval()


def test_it_has_the_published_number_of_parameters() -> None:
    assert sum(p.numel() for p in GoogLeNet(classes=3).parameters()) == 5_602_979
    # the published network for 1,000 classes, without its auxiliary heads
    assert sum(p.numel() for p in GoogLeNet(classes=1000).parameters()) == 6_624_904


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("conv1.conv.weight", (64, 3, 7, 7)),
        ("conv1.bn.running_var", (64,)),
        ("conv3.conv.weight", (192, 64, 3, 3)),
        ("inception3a.branch1.conv.weight", (64, 192, 1, 1)),
        ("inception3a.branch2.1.conv.weight", (128, 96, 3, 3)),
        ("inception3a.branch3.1.conv.weight", (32, 16, 3, 3)),
        ("inception4e.branch4.1.bn.weight", (128,)),
        ("inception5b.branch3.0.conv.weight", (48, 832, 1, 1)),
        ("fc.weight", (3, 1024)),
    ],
)
def test_names_and_shapes_are_the_published_ones(name: str, shape: tuple[int, ...]) -> None:
    assert tuple(GoogLeNet().state_dict()[name].shape) == shape


def test_published_weights_load_although_they_have_auxiliary_heads(model: GoogLeNet) -> None:
    published = dict(model.state_dict())
    published["aux1.conv.conv.weight"] = torch.zeros(128, 512, 1, 1)
    published["aux2.fc2.bias"] = torch.zeros(3)
    fresh = GoogLeNet()
    fresh.load_state_dict(published)
    for name, tensor in fresh.state_dict().items():
        assert torch.equal(tensor, published[name])
    with pytest.raises(RuntimeError, match="Unexpected key"):
        fresh.load_state_dict({**published, "head.weight": torch.zeros(1)})


def test_grey_equals_the_same_grey_in_three_channels(model: GoogLeNet) -> None:
    images = torch.rand(2, 1, 64, 64)
    torch.testing.assert_close(model(images), model(images.repeat(1, 3, 1, 1)))


def test_values_are_normalised_inside(model: GoogLeNet) -> None:
    seen: list[torch.Tensor] = []
    hook = model.conv1.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    images = torch.zeros(1, 1, 64, 64)
    images[..., 0] = 1
    model(images)
    hook.remove()
    assert (seen[0][..., 0] == 1).all()
    assert (seen[0][..., 1:] == -1).all()
    assert images[..., 1:].abs().max() == 0


def test_weights_start_small_and_bounded() -> None:
    torch.manual_seed(0)
    weight = GoogLeNet().inception5b.branch1.conv.weight
    assert weight.std().item() == pytest.approx(0.01, rel=0.02)
    assert abs(weight.mean().item()) < 1e-4


def test_every_activation_is_a_module_used_once(model: GoogLeNet) -> None:
    calls: dict[str, int] = {}
    hooks = [
        module.register_forward_hook(
            lambda *_, name=name: calls.update({name: calls.get(name, 0) + 1})
        )
        for name, module in model.named_modules()
        if isinstance(module, nn.ReLU)
    ]
    model(torch.rand(1, 1, 64, 64))
    for hook in hooks:
        hook.remove()
    assert len(calls) == 57
    assert set(calls.values()) == {1}
