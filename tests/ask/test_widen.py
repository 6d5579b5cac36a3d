"""Models with 16-bit weights are explained in 32 bits, and stay what they are."""

import copy
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import ssplain
from ssplain import SSplain, SSplainError
from ssplain.ask.widen import is_narrow, widened
from ssplain.explain import make, names
from ssplain.metrics import evaluate, insertion_deletion, kept_and_removed, sanity_check
from ssplain.models import Door, Normalised, QueryOnly, quick
from tests.explain.small import QUICK, pictures, small

KINDS = (torch.float16, torch.bfloat16)


def state(model: nn.Module) -> list[Any]:
    return [
        *((module.training, list(module._forward_hooks)) for module in model.modules()),
        *((w.dtype, w.requires_grad, w.stride(), w.data_ptr()) for w in model.parameters()),
    ]


class Twice(nn.Module):
    """A 16-bit body that casts by itself, and a head of another type."""

    def __init__(self, head: torch.dtype) -> None:
        super().__init__()
        inner = small()
        self.body = nn.Sequential(inner.conv, nn.ReLU(), inner.pool).half()
        self.head = nn.Linear(64, 3).to(head)

    def forward(self, x: Tensor) -> Tensor:
        found = self.body(x.half()).to(torch.float16).flatten(1)
        return self.head(found.to(self.head.weight.dtype))  # type: ignore[no-any-return]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", names())
def test_every_explainer_sees_the_same_weights_in_32_bits(name: str, kind: torch.dtype) -> None:
    model, images = small().to(kind).train(), pictures(2)
    model.conv.register_forward_hook(lambda *_: None)
    before = state(model)
    same = copy.deepcopy(model).float()
    expected, found = (
        make(name, m, **QUICK.get(name, {})).attribute(images, 1) for m in (same, model)
    )
    assert found.dtype == torch.float32
    assert torch.equal(found, expected)
    assert state(model) == before


def test_gradients_of_a_certain_model_do_not_vanish() -> None:
    model, images = small(), pictures(2)
    with torch.no_grad():
        model.full2.bias[1] += 25  # 1 - p is about 1e-11, which float16 does not have
    half = model.half()

    def slope(door: Door) -> Tensor:
        leaf = images.clone().requires_grad_()
        with door.open(images) as opened:
            certainty = opened.classifier.log_probabilities(leaf)[:, 1].sum()
            return torch.autograd.grad(certainty, leaf)[0]

    assert not slope(Door(lambda x: half(x.half()), channels=1)).any()  # in its own arithmetic
    assert slope(Door(half)).abs().amax((1, 2, 3)).gt(0).all()


def test_the_model_can_be_used_meanwhile() -> None:
    model, images = small().half().eval(), pictures(1)
    expected = model(images.half())
    with Door(model).open(images) as opened:
        assert opened.classifier.model is not model
        assert torch.equal(model(images.half()), expected)


def test_a_model_that_learns_on_is_seen_as_it_is() -> None:
    model, images = small().half(), pictures(1)
    explainer = SSplain(model, iterations=2)
    first = explainer.explain(images)
    with torch.no_grad():
        model.full2.bias.add_(torch.arange(3))
    later = explainer.explain(images)
    assert not torch.equal(first.probabilities, later.probabilities)
    assert torch.equal(later.probabilities, SSplain(model.float()).explain(images).probabilities)


@pytest.mark.parametrize("kind", KINDS)
def test_company_changes_nothing(kind: torch.dtype) -> None:
    explainer, images = SSplain(small().to(kind), iterations=3), pictures(5)
    together = explainer.explain(images, 1)
    alone = torch.cat([explainer.attribute(image[None], 1) for image in images])
    assert torch.equal(together.scores, alone)
    assert together.settings["batching"] == "together, each image as if alone"
    assert together.settings["arithmetic"].startswith("32 bits")
    assert "arithmetic" not in SSplain(small()).settings()


@pytest.mark.parametrize("head", [torch.float16, torch.float32, torch.float64])
def test_mixed_models_work_with_their_own_casts(head: torch.dtype) -> None:
    model, images = Twice(head), pictures(2)
    result = SSplain(model, iterations=3).explain(images)
    assert result.scores.dtype == torch.float32
    torch.testing.assert_close(
        result.probabilities, model(images).softmax(1).detach().float(), atol=2e-3, rtol=0
    )
    wide = widened(model)
    assert [w.dtype for w in (wide.body[0].weight, wide.head.weight)] == [
        torch.float32,
        head if head == torch.float64 else torch.float32,
    ]
    assert model.body[0].weight.dtype == torch.float16


def test_a_function_is_called_as_it_is() -> None:
    half, images = small().half(), pictures(2)
    result = SSplain(lambda x: half(x.half()), channels=1, iterations=2).explain(images)
    own = half(images.half()).detach().float().softmax(1)
    torch.testing.assert_close(result.probabilities, own, atol=1e-6, rtol=0)
    wide = SSplain(half, iterations=2).explain(images)
    assert (wide.probabilities - own).abs().max() > 1e-6  # so the first was not the copy
    with pytest.raises(SSplainError, match=r"give the module itself, or cast the images"):
        SSplain(half.forward).explain(images)


def test_what_answers_only_is_asked_as_it_is_and_counts() -> None:
    images, spent = pictures(2), []
    for net in (small(), small().half()):
        closed = QueryOnly(net)
        result = SSplain(closed, iterations=2, queries=3).explain(images)
        spent.append(closed.spent)
    assert spent[0] == spent[1] > 0
    assert not is_narrow(closed)
    own = net(images.half()).detach().float().softmax(1)
    torch.testing.assert_close(result.probabilities, own, atol=1e-6, rtol=0)


def test_what_cannot_be_copied_is_told() -> None:
    model = small()
    model.kept = model.full1.weight * 2  # as the old weight_norm keeps what it has computed
    with pytest.raises(SSplainError, match=r"cannot be copied .*give model\.float\(\)"):
        SSplain(model.half()).explain(pictures(1))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch.jit is, its users are not
def test_programs_work(tmp_path: Path) -> None:
    images = pictures(2)
    half = small().half().eval()
    expected = SSplain(half, iterations=2).explain(images)
    traced = torch.jit.trace(half, images.half())  # type: ignore[no-untyped-call]
    found = SSplain(traced, channels=1, iterations=2).explain(images)
    torch.testing.assert_close(found.probabilities, expected.probabilities, atol=1e-6, rtol=0)
    sizes = ({0: torch.export.Dim.AUTO},)
    program = torch.export.export(half, (images.half(),), dynamic_shapes=sizes)
    torch.export.save(program, tmp_path / "half.pt2")
    loaded = ssplain.models.load(tmp_path / "half.pt2")
    found = SSplain(loaded, channels=1, iterations=2).explain(images)
    assert next(loaded.parameters()).dtype == torch.float16
    torch.testing.assert_close(found.probabilities, expected.probabilities, atol=1e-6, rtol=0)
    compiled = torch.compile(half, backend="eager")
    assert torch.equal(SSplain(compiled, iterations=2).attribute(images), expected.scores)


def test_measures_take_them() -> None:
    model, images = small().half(), pictures(3)
    same, labels = copy.deepcopy(model).float(), torch.tensor([0, 1, 2])
    result = SSplain(model, iterations=2).explain(images, labels)
    for one, other in zip(
        vars(kept_and_removed(model, result)).values(),
        vars(kept_and_removed(same, result)).values(),
        strict=True,
    ):
        assert torch.equal(one, other)
    curves = [insertion_deletion(m, images, labels, result.scores) for m in (model, same)]
    assert torch.equal(curves[0].insertion.correct, curves[1].insertion.correct)
    found = [evaluate(m, images, labels, result.scores) for m in (model, same)]
    assert str(found[0].values) == str(found[1].values)

    def explain(network: nn.Module, shown: Tensor) -> Tensor:
        return SSplain(network, iterations=2).attribute(shown, labels)

    checked = [
        sanity_check(explain, m, images, seeds=[0], measures=["spearman"]) for m in (model, same)
    ]
    assert torch.equal(checked[0].maps, checked[1].maps)
    assert model.conv.weight.dtype == torch.float16


def test_heads_and_folding() -> None:
    images = pictures(2)
    half = Normalised(small().half(), 0.5, 0.25)
    same = Normalised(copy.deepcopy(half.model).float(), 0.5, 0.25)
    ours, theirs = (SSplain(m, iterations=2).attribute(images) for m in (half, same))
    assert torch.equal(ours, theirs)
    net = ssplain.models.GoogLeNet().half().eval()
    eye = torch.rand(1, 1, 64, 64)
    exact = quick(copy.deepcopy(net).float())
    assert torch.equal(quick(net)(eye), exact(eye))
    assert next(net.parameters()).dtype == torch.float16


def test_statistics_of_16_bits() -> None:
    norm = nn.BatchNorm2d(1)
    norm.running_mean, norm.running_var = torch.tensor([0.3]), torch.tensor([0.07])
    half, images = nn.Sequential(norm, small()).half(), pictures(2)
    same = copy.deepcopy(half).float()
    ours, theirs = (SSplain(m, iterations=2).explain(images).probabilities for m in (half, same))
    assert torch.equal(ours, theirs)
    assert norm.running_var.dtype == torch.float16


def test_a_transformer_of_hugging_face_in_half() -> None:
    transformers = pytest.importorskip("transformers")
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    shape = {"image_size": 16, "patch_size": 8, "intermediate_size": 32, "num_labels": 4}
    model = transformers.ViTForImageClassification(transformers.ViTConfig(**sizes, **shape)).half()
    images = torch.rand(2, 3, 16, 16)
    found = SSplain(model, iterations=2).explain(images)
    own = model.eval()(images.half()).logits.softmax(1).detach().float()
    torch.testing.assert_close(found.probabilities, own, atol=2e-3, rtol=0)
    assert found.scores.std() > 0


def test_weights_of_16_bits_in_a_file(tmp_path: Path) -> None:
    from safetensors.torch import save_file  # noqa: PLC0415

    trained = ssplain.models.load("lenet5-mnist")
    save_file({k: v.half() for k, v in trained.state_dict().items()}, tmp_path / "w.safetensors")
    loaded = ssplain.models.load(tmp_path / "w.safetensors", "lenet5")
    images = ssplain.data.bundled("mnist")[0][:2]
    found = SSplain(loaded, iterations=2).attribute(images)
    assert torch.equal(found, SSplain(trained.half(), iterations=2).attribute(images))


def test_other_models_are_not_copied() -> None:
    model = small()
    with Door(model).open(pictures(1)) as opened:
        assert opened.classifier.model is model
    assert widened(model) is model
