import torch
from torch import nn
from torch.nn import functional

from ssplain.models.lenet import LeNet5


def test_forward_is_the_published_network() -> None:
    model, images = LeNet5(), torch.rand(3, 1, 28, 28)
    p = dict(model.named_parameters())
    x = functional.pad(images, (2, 2, 2, 2))
    assert x.shape[-2:] == (32, 32)
    x = functional.conv2d(x, p["conv1.weight"], p["conv1.bias"]).tanh()
    x = x.unfold(2, 2, 2).unfold(3, 2, 2).mean((-1, -2))
    assert x.shape[1:] == (6, 14, 14)
    x = functional.conv2d(x, p["conv2.weight"], p["conv2.bias"]).tanh()
    x = x.unfold(2, 2, 2).unfold(3, 2, 2).mean((-1, -2))
    assert x.shape[1:] == (16, 5, 5)
    x = (x.reshape(3, -1) @ p["full1.weight"].T + p["full1.bias"]).tanh()
    x = (x @ p["full2.weight"].T + p["full2.bias"]).tanh()
    expected = x @ p["full3.weight"].T + p["full3.bias"]
    torch.testing.assert_close(model(images), expected)


def test_layer_sizes() -> None:
    sizes = {name: tuple(p.shape) for name, p in LeNet5().named_parameters() if "weight" in name}
    assert sizes == {
        "conv1.weight": (6, 1, 5, 5),
        "conv2.weight": (16, 6, 5, 5),
        "full1.weight": (120, 400),
        "full2.weight": (84, 120),
        "full3.weight": (10, 84),
    }


def test_every_activation_is_a_module_used_once() -> None:
    model = LeNet5()
    calls: list[nn.Module] = []
    activations = [module for module in model.modules() if isinstance(module, nn.Tanh)]
    for module in activations:
        module.register_forward_hook(lambda module, _, __: calls.append(module))
    model(torch.rand(1, 1, 28, 28))
    assert calls == activations
    assert len(set(calls)) == 4
