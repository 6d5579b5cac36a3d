"""An image's map depends neither on the size of the batch nor on the images around it."""

import pytest
import torch
from hypothesis import HealthCheck, assume, given, settings
from torch import nn

import ssplain
from ssplain import SSplain
from ssplain.ask import company
from ssplain.ask.adapter import Classifier
from ssplain.ask.door import Door
from tests.explain.networks import Attention, networks
from tests.explain.small import pictures

Network = tuple[nn.Module, tuple[int, int, int]]


def check_independence(network: Network) -> None:
    model, (channels, height, width) = network
    images = pictures(7, channels, (height, width))
    whole = SSplain(model, iterations=4).explain(images)
    for size in (1, 2, 3):
        part = SSplain(model, iterations=4, batch_size=size).explain(images)
        assert torch.equal(part.scores, whole.scores), (size, whole.settings["batching"])
        assert torch.equal(part.probabilities, whole.probabilities)
    turned = SSplain(model, iterations=4).explain(images.flip(0), "posterior")
    alone = SSplain(model, iterations=4).explain(images[2], "posterior")
    assert torch.equal(turned.scores[4:5], alone.scores), whole.settings["batching"]


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(networks())
def test_maps_are_the_same_to_the_bit(network: Network) -> None:
    check_independence(network)


@pytest.mark.slow
@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(networks())
def test_maps_of_many_networks_are_the_same_to_the_bit(network: Network) -> None:
    check_independence(network)


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(networks())
def test_gradients_are_right_for_one_image_as_for_many(network: Network) -> None:
    model, (channels, height, width) = network
    images = pictures(3, channels, (height, width))
    for rows in (images[:1], images):
        single, double = _slope(model.float(), rows), _slope(model.double(), rows.double())
        near = _slope(model, rows.double() + 1e-6)
        model.float()
        scale = float(double.abs().max()) + 1e-6
        # of a slope that all but cancels, rounding is what is left
        assume(scale > 1e-4)
        # where rounding carries a unit over the kink of a ReLU, the two differ and both are right
        assume(torch.allclose(near, double, rtol=0, atol=1e-4 * scale))
        torch.testing.assert_close(single.double(), double, rtol=0, atol=1e-4 * scale)


def _slope(model: nn.Module, images: torch.Tensor) -> torch.Tensor:
    with Door(model).open(images) as opened:
        leaf = opened.images.clone().requires_grad_()
        return torch.autograd.grad(opened.classifier.values(leaf).square().sum(), leaf)[0]


def test_batch_norm_behind_an_average_has_the_right_gradient() -> None:
    """PyTorch's own is wrong for a single image here; this is why ours is used."""
    torch.manual_seed(0)
    layers = (nn.Conv2d(1, 6, 3), nn.BatchNorm2d(6), nn.GELU(), nn.AdaptiveAvgPool2d(1))
    model = nn.Sequential(*layers, nn.Flatten(), nn.Linear(6, 2)).eval()
    images = torch.rand(2, 1, 8, 8)
    slopes = []
    for rows in (images[:1], images):
        with Door(model).open(rows) as opened:
            leaf = opened.images.clone().requires_grad_()
            opened.classifier.values(leaf)[:, 0].sum().backward()  # type: ignore[no-untyped-call]
        assert leaf.grad is not None
        slopes.append(leaf.grad[0])
    torch.testing.assert_close(slopes[0], slopes[1], rtol=1e-4, atol=1e-7)


class TestBatching:
    def test_known_layers_go_together(self) -> None:
        images, _ = ssplain.data.bundled("mnist")
        result = SSplain(ssplain.models.load("lenet5-mnist"), iterations=1).explain(images[:3])
        assert result.settings["batching"] == "together, each image as if alone"

    def test_others_go_one_by_one_and_the_result_says_why(self) -> None:
        torch.manual_seed(0)
        calls: list[int] = []
        model = Attention(1, 8, 4, 1, first=True).eval()
        model.register_forward_hook(lambda _m, given, _o: calls.append(len(given[0])))
        result = SSplain(model, iterations=2).explain(pictures(5, 1, (8, 8)))
        assert result.settings["batching"].startswith("one image at a time, since the model uses")
        assert "layer_norm" in result.settings["batching"]
        assert calls.count(1) >= 5 * 2

    @pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch.jit is, its users are not
    def test_scripted_models_are_looked_into(self) -> None:
        layers = nn.Sequential(nn.Flatten(), nn.GELU())
        model = torch.jit.trace(layers, torch.zeros(2, 1, 2, 2))  # type: ignore[no-untyped-call]
        result = SSplain(model, iterations=1).explain(pictures(2, 1, (2, 2)).clamp(min=0.1))
        assert "gelu" in result.settings["batching"]


def test_a_model_is_tried_once_for_a_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    trials: list[tuple[int, ...]] = []
    trial = company._try

    def counted(classifier: Classifier, images: torch.Tensor, count: int) -> tuple[str, bool]:
        trials.append((count, *images.shape[1:]))
        return trial(classifier, images, count)

    monkeypatch.setattr(company, "_try", counted)
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten())
    images = pictures(3, 1, (8, 8))

    def batching(some: torch.Tensor) -> str:
        return str(SSplain(model, iterations=1).explain(some).settings["batching"])

    assert batching(images) == batching(images.flip(0)) == "together, each image as if alone"
    assert trials == [(3, 1, 8, 8)]
    batching(images[:2])
    assert trials[1:] == [(2, 1, 8, 8)]
    model[1] = nn.GELU()  # another model in the same object
    assert batching(images) == "one image at a time, since the model uses gelu"
    assert len(trials) == 3


def test_flat_images_settle_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    first = nn.Conv2d(1, 2, 3).requires_grad_(requires_grad=False)
    assert first.bias is not None
    first.bias.fill_(-1.0)  # what is dark has no gradient
    model = nn.Sequential(first, nn.ReLU(), nn.Flatten())
    classifier = Classifier(model, output_kind="logits")
    assert company.company_matters(classifier, torch.zeros(4, 1, 8, 8), 4) == ""
    monkeypatch.setattr(company, "_slope", lambda _, images: images + len(images))
    reason = company.company_matters(classifier, torch.zeros(4, 1, 8, 8), 4)
    assert reason.startswith("this processor computes batches")
