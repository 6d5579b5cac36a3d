import warnings

import captum.attr
import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import max_pool2d, relu

from ssplain import SSplainError
from ssplain.explain.registry import make
from ssplain.models import GoogLeNet
from ssplain.rivals.clone import guided, safe_clone
from ssplain.rivals.hooked import DeepShap, GuidedGradCam, last_convolution
from tests.explain.small import Functional, Reused, Small, pictures, small


class Clean(Small):
    """The same function, written as Captum needs it."""

    def __init__(self, channels: int = 1, classes: int = 3) -> None:
        super().__init__(channels, classes)
        self.relu1, self.relu2 = nn.ReLU(), nn.ReLU()


class Undecided(Small):
    """Cannot be traced, and hides its activations."""

    def forward(self, x: Tensor) -> Tensor:
        x = self.conv(x)
        x = x.clamp(min=0) if float(x.detach().sum()) < 1e9 else x
        return self.full2(self.full1(self.pool(x).flatten(1)).clamp(min=0))  # type: ignore[no-any-return]


def quiet(method: object, image: Tensor, **settings: object) -> Tensor:
    """Call Captum without its announcements."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found: Tensor = method.attribute(image[None].clone(), **settings)  # type: ignore[attr-defined]
    return found.detach()


KINDS = [Clean, Small, Functional, Reused]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("channels", [1, 3])
def test_deep_shap_is_captums_on_a_clean_model(kind: type[Small], channels: int) -> None:
    images, classes = pictures(3, channels), [0, 2, 1]
    maps = DeepShap(small(kind, channels)).attribute(images, classes, over="mean")
    oracle = captum.attr.DeepLift(small(Clean, channels))
    for image, target, found in zip(images, classes, maps, strict=True):
        expected = quiet(oracle, image, target=target).mean(1, keepdim=True)
        torch.testing.assert_close(found[None], expected, atol=1e-6, rtol=1e-4)


def test_deep_shap_averages_over_baselines() -> None:
    images, baselines = pictures(2), pictures(4, shape=(12, 10)).flip(0)
    maps = DeepShap(small(), baselines=baselines).attribute(images, 1)
    oracle = captum.attr.DeepLiftShap(small(Clean))
    for image, found in zip(images, maps, strict=True):
        expected = quiet(oracle, image, target=1, baselines=baselines)
        torch.testing.assert_close(found[None], expected, atol=1e-6, rtol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_deep_shap_adds_up(kind: type[Small]) -> None:
    model, images = small(kind), pictures()
    maps = DeepShap(model).attribute(images, 2, over="mean")
    difference = (model(images) - model(torch.zeros_like(images)))[:, 2].detach()
    torch.testing.assert_close(maps.sum((1, 2, 3)), difference, atol=1e-5, rtol=1e-4)


class Pooled(Small):
    """Pools as GoogLeNet does, overlapping, once as a module and once as a function."""

    def __init__(self, channels: int = 1, classes: int = 3) -> None:
        super().__init__(channels, classes)
        self.wide = nn.MaxPool2d(3, stride=2, ceil_mode=True)

    def forward(self, x: Tensor) -> Tensor:
        x = max_pool2d(self.wide(relu(self.conv(x))), 3, 1, padding=1)
        return self.full2(relu(self.full1(self.pool(x).flatten(1))))  # type: ignore[no-any-return]


def test_deep_shap_adds_up_where_windows_overlap() -> None:
    model, images = small(Pooled), pictures()
    maps = DeepShap(model).attribute(images, 2, over="mean")
    difference = (model(images) - model(torch.zeros_like(images)))[:, 2].detach()
    torch.testing.assert_close(maps.sum((1, 2, 3)), difference, atol=1e-5, rtol=1e-4)


def test_deep_shap_warns_where_it_cannot_see() -> None:
    with pytest.warns(RuntimeWarning, match=r"DeepSHAP do not add up for \d of 3 images"):
        DeepShap(small(Undecided)).attribute(pictures(), 2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("channels", [1, 3])
def test_guided_grad_cam_is_captums_on_a_clean_model(kind: type[Small], channels: int) -> None:
    images, classes = pictures(3, channels), [0, 2, 1]
    maps = GuidedGradCam(small(kind, channels)).attribute(images, classes, over="mean")
    clean = small(Clean, channels)
    oracle = captum.attr.GuidedGradCam(clean, clean.conv)
    for image, target, found in zip(images, classes, maps, strict=True):
        expected = quiet(oracle, image, target=target).mean(1, keepdim=True)
        torch.testing.assert_close(found[None], expected, atol=1e-6, rtol=1e-4)


def test_guided_grad_cam_takes_a_whole_block() -> None:
    torch.manual_seed(0)
    model = GoogLeNet().eval()
    images = pictures(1, shape=(64, 64))
    explainer = make("guided-grad-cam", model, dataset="rop")
    maps = explainer.attribute(images, 1)
    oracle = captum.attr.GuidedGradCam(model, model.inception5b)
    expected = quiet(oracle, images[0].expand(3, -1, -1), target=1).amax(1, keepdim=True)
    torch.testing.assert_close(maps, expected, atol=1e-6 * float(expected.abs().max()), rtol=1e-3)


@pytest.mark.parametrize("kind", [*KINDS, Pooled, Undecided])
def test_the_clone_computes_the_same(kind: type[Small]) -> None:
    model = small(kind)
    clone = safe_clone(model)
    torch.testing.assert_close(clone(pictures()), model(pictures()))
    assert not any(getattr(module, "inplace", False) for module in clone.modules())
    if kind is not Undecided:
        assert sum(isinstance(m, nn.ReLU) for m in clone.modules() if m is not model) >= 2
        torch.testing.assert_close(guided(clone)(pictures()), model(pictures()))


def test_mistakes_are_named() -> None:
    with pytest.raises(SSplainError, match="no layer 'conv9'"):
        GuidedGradCam(small(), layer="conv9")
    with pytest.raises(SSplainError, match="no convolution"):
        GuidedGradCam(nn.Sequential(nn.Flatten()))
    with pytest.raises(SSplainError, match=r"baselines have shape \(1, 1, 3, 3\).*12, 10"):
        DeepShap(small(), baselines=torch.zeros(3, 3)).attribute(pictures())
    with pytest.raises(SSplainError, match=r"need a torch.nn.Module"):
        DeepShap(lambda x: x.flatten(1)).attribute(pictures())
    assert last_convolution(small()) == "conv"
    assert last_convolution(torch.relu) is None


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")  # users have such models still
@pytest.mark.parametrize("name", ["deep-shap", "guided-grad-cam"])
def test_what_torchscript_has_closed_is_told(name: str) -> None:
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(inplace=True), nn.Flatten(), nn.Linear(72, 3))
    for closed in (torch.jit.script(net), torch.jit.trace(net, torch.rand(1, 1, 8, 8))):  # type: ignore[no-untyped-call]
        with pytest.raises(SSplainError, match=r"TorchScript|no convolution"):
            make(name, closed).attribute(torch.rand(1, 1, 8, 8))
