"""Models as people have them: Hugging Face, Lightning, compiled, several labels, a number."""

import warnings
from typing import Any, NamedTuple

import numpy as np
import pytest
import pytorch_lightning
import torch
from torch import Tensor, nn
from transformers import ViTConfig, ViTForImageClassification

import ssplain
from ssplain import SSplain, SSplainError, metrics
from ssplain.models import AtLeast, Head, Normalised, OneLabel, denormalise
from tests.explain.small import pictures, small


@pytest.fixture(scope="module")
def vit() -> nn.Module:
    torch.manual_seed(0)
    config = ViTConfig(
        image_size=24,
        patch_size=8,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        num_labels=3,  # type: ignore[call-arg]
    )
    model: nn.Module = ViTForImageClassification(config)
    return model


class TestHuggingFace:
    @pytest.mark.parametrize("name", ["ssplain-0", "integrated-gradients", "occlusion", "lime"])
    def test_as_it_is(self, vit: nn.Module, name: str) -> None:
        quick: dict[str, dict[str, Any]] = {
            "ssplain-0": {"iterations": 3},
            "occlusion": {"window": 8, "stride": 8},
            "lime": {"samples": 20, "alpha": 1e-4},
        }
        settings = quick.get(name, {})
        images = pictures(2, 3, (24, 24))
        found = ssplain.explain.make(name, vit, **settings).attribute(images)

        def bare(x: Tensor) -> Tensor:
            values: Tensor = vit(x).logits
            return values

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            vit.eval()
            expected = ssplain.explain.make(name, bare, **settings).attribute(images)
        torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)
        assert float(found.std()) > 0

    def test_measures_too(self, vit: nn.Module) -> None:
        images = pictures(2, 3, (24, 24))
        maps = SSplain(vit, iterations=3).attribute(images)
        curves = metrics.insertion_deletion(vit, images, torch.tensor([0, 1]), maps)
        assert 0 <= curves.insertion.area <= 1

    def test_a_grey_image_is_repeated(self, vit: nn.Module) -> None:
        assert SSplain(vit, iterations=2).attribute(pictures(1, 1, (24, 24))).shape[1] == 1

    def test_named_tuples_too(self) -> None:
        class Output(NamedTuple):
            loss: None
            logits: Tensor

        net = small()
        maps = SSplain(lambda x: Output(None, net(x)), iterations=2).attribute(pictures())
        torch.testing.assert_close(maps, SSplain(net, iterations=2).attribute(pictures()))
        named = SSplain(lambda x: Output(None, net(x)), iterations=2, output="logits")
        torch.testing.assert_close(maps, named.attribute(pictures()))


class Lit(pytorch_lightning.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.net = small()

    def forward(self, x: Tensor) -> Tensor:
        values: Tensor = self.net(x)
        return values


def test_lightning_modules_as_they_are() -> None:
    model = Lit()
    maps = SSplain(model, iterations=3).attribute(pictures(), 1)
    assert torch.equal(maps, SSplain(small(), iterations=3).attribute(pictures(), 1))
    assert model.training  # as it went in


@pytest.mark.parametrize("name", ["ssplain-0", "deep-shap", "guided-grad-cam"])
def test_a_compiled_model_is_explained_as_the_one_inside(name: str) -> None:
    settings: dict[str, Any] = {"iterations": 3} if name == "ssplain-0" else {}
    compiled: Any = torch.compile(small(), backend="eager")
    found = ssplain.explain.make(name, compiled, **settings).attribute(pictures(), 1)
    assert torch.equal(
        found, ssplain.explain.make(name, small(), **settings).attribute(pictures(), 1)
    )


class TestHeads:
    def test_one_label_of_several(self) -> None:
        net, images = small(), pictures()
        with ssplain.models.Door(OneLabel(net, 2)).open(images) as opened:
            present = opened.probabilities[:, 1]
        torch.testing.assert_close(present, net(images)[:, 2].sigmoid().detach())
        # the other labels must not matter
        maps = SSplain(OneLabel(net, 2), iterations=3).attribute(images, 1)
        shifted = OneLabel(Plus(net, torch.tensor([9.0, -9.0, 0.0])), 2)
        torch.testing.assert_close(maps, SSplain(shifted, iterations=3).attribute(images, 1))

    def test_labels_as_probabilities(self) -> None:
        net, images = small(), pictures()
        logits = SSplain(OneLabel(net, 0), iterations=3).attribute(images, 1)
        model = OneLabel(nn.Sequential(net, nn.Sigmoid()), 0, probabilities=True)
        torch.testing.assert_close(
            SSplain(model, iterations=3).attribute(images, 1), logits, atol=1e-3, rtol=1e-3
        )

    def test_a_label_that_is_not_there(self) -> None:
        with pytest.raises(SSplainError, match="no label 7: the model has 3, 0 to 2"):
            SSplain(OneLabel(small(), 7)).attribute(pictures())

    def test_a_regression_with_a_threshold(self) -> None:
        class Severity(nn.Module):
            def forward(self, x: Tensor) -> Tensor:
                return x[:, 0, :, :5].sum((1, 2))

        images = pictures(2, shape=(10, 10))
        model = AtLeast(Severity(), threshold=3.0, scale=2.0)
        result = SSplain(model, iterations=10).explain(images, 1)
        value = images[:, 0, :, :5].sum((1, 2))
        torch.testing.assert_close(result.probabilities[:, 1], ((value - 3) / 2).sigmoid())
        # only the left half of the image counts
        left = result.mask[..., :5].sum()
        assert left > 0.95 * result.mask.sum()

    def test_normalised(self) -> None:
        net, images, mean, std = small(channels=3), pictures(2, 3), (0.1, 0.2, 0.3), (0.5, 0.6, 0.7)
        m, s = (torch.tensor(v)[:, None, None] for v in (mean, std))
        torch.testing.assert_close(Normalised(net, mean, std)(images), net((images - m) / s))
        torch.testing.assert_close(denormalise((images - m) / s, mean, std), images)

    @pytest.mark.parametrize(("mean", "std"), [((0.1, 0.2), 1.0), (0.5, 0.0), (float("nan"), 1.0)])
    def test_wrong_statistics(self, mean: Any, std: Any) -> None:  # noqa: ANN401
        with pytest.raises(SSplainError, match=r"give one number, or one per channel|above 0"):
            Normalised(small(), mean, std)


class Plus(nn.Module):
    def __init__(self, net: nn.Module, shift: Tensor) -> None:
        super().__init__()
        self.net, self.shift = net, shift

    def forward(self, x: Tensor) -> Tensor:
        values: Tensor = self.net(x) + self.shift
        return values


class TestArrays:
    def test_an_array_is_its_tensor(self) -> None:
        images = pictures()
        explainer = SSplain(small(), iterations=3)
        expected = explainer.attribute(images, 1)
        assert torch.equal(explainer.attribute(images.numpy(), 1), expected)
        frozen = images.numpy()
        frozen.flags.writeable = False
        assert torch.equal(explainer.attribute(frozen, np.array([1, 1, 1])), expected)  # type: ignore[arg-type]
        assert torch.equal(explainer.explain(images.numpy(), 1).scores, expected)

    def test_turned_views_too(self) -> None:
        images = pictures()
        explainer = SSplain(small(), iterations=2)
        turned = explainer.attribute(images.numpy()[..., ::-1], 1)
        assert torch.equal(turned, explainer.attribute(images.flip(-1), 1))

    @pytest.mark.parametrize("given", ["image.png", [[0.0]], np.array(["a"])])
    def test_other_things_are_refused(self, given: Any) -> None:  # noqa: ANN401
        with pytest.raises(SSplainError, match="give a torch tensor or a NumPy array"):
            SSplain(small()).attribute(given)


class TestHeadFromOptions:
    def test_what_is_asked_for_is_what_the_classes_do(self) -> None:
        net, images = small(channels=3), pictures(2, 3)
        scaled = Normalised(AtLeast(net, 0.25, 0.5, number=2), 0.1, (0.5, 0.6, 0.7))
        made, output, kind = Head(2, (0.25, 0.5), (0.1,), (0.5, 0.6, 0.7)).on(net)
        torch.testing.assert_close(made(images), scaled(images))
        assert (output, kind) == (None, "logits")

    def test_output_and_kind_go_to_the_model_inside(self) -> None:
        class Named(nn.Module):
            def forward(self, x: Tensor) -> dict[str, Tensor]:
                return {"other": x.sum((1, 2, 3)), "labels": small()(x).sigmoid()}

        images = pictures()
        made, output, kind = Head(label=1).on(Named(), "labels", "probs")
        torch.testing.assert_close(made(images)[:, 1], small()(images)[:, 1], atol=1e-4, rtol=1e-4)
        assert (output, kind) == (None, "logits")

    def test_without_a_head_nothing_changes(self) -> None:
        net = small()
        assert Head().on(net, 1, "probs") == (net, 1, "probs")
        assert Head().classes is None
        assert Head(at_least=(3.0,)).classes == ("no", "yes")

    def test_heads_are_told_apart_in_print(self) -> None:
        """The store tells models without other weights apart by what they print."""
        thresholds = (None, (1.0,), (2.0,), (2.0, 3.0))
        heads = [Head(label, at_least) for label in (0, 1) for at_least in thresholds]
        assert len({repr(head.on(small())[0]) for head in heads}) == len(heads)

    def test_a_third_number_is_refused(self) -> None:
        with pytest.raises(SSplainError, match="the threshold, or the threshold and the scale"):
            Head(at_least=(1.0, 2.0, 3.0)).on(small())
