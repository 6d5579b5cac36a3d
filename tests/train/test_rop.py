"""Tests of the recipe for ROP: small images, few steps."""

from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.metrics import balanced_accuracy_score
from torch import nn

from ssplain.models.googlenet import GoogLeNet
from ssplain.train.loop import Settings, Step
from ssplain.train.rop import CLASSES, Stage, _draw, judge, train_rop

Images = tuple[torch.Tensor, torch.Tensor]


@pytest.fixture(scope="module")
def images() -> Images:
    """Three classes of brightness, in bytes, very unequal in number."""
    labels = torch.tensor([0] * 24 + [1] * 4 + [2] * 4)
    generator = torch.Generator().manual_seed(0)
    noise = torch.randint(0, 40, (32, 1, 32, 32), generator=generator)
    return (noise + 90 * labels.reshape(-1, 1, 1, 1)).to(torch.uint8), labels


@pytest.mark.slow
def test_a_later_stage_goes_on_from_the_weights_of_the_one_before(
    images: Images, tmp_path: Path
) -> None:
    first = Stage(Settings(epochs=1, batch_size=8, lr=1e-3), draws=16)
    still = Stage(
        Settings(epochs=1, batch_size=8, lr=0.0, weight_decay=0.0, seed=1), size=16, draws=16
    )
    one = train_rop(images, images, tmp_path / "one", stages=[first])
    two = train_rop(images, images, tmp_path / "two", stages=[first, still])
    for name, parameter in one.model.named_parameters():
        assert torch.equal(parameter, dict(two.model.named_parameters())[name])
    assert {path.name for path in (tmp_path / "two").iterdir()} == {
        "stage-1.safetensors",
        "stage-2.safetensors",
    }


def test_training_goes_on_from_a_trained_network(images: Images, tmp_path: Path) -> None:
    still = Stage(Settings(epochs=1, batch_size=8, lr=0.0, weight_decay=0.0), draws=16)
    start = GoogLeNet(len(CLASSES))
    wanted = {name: value.clone() for name, value in start.named_parameters()}
    trained = train_rop(images, images, tmp_path, start=start, stages=[still])
    for name, parameter in trained.model.named_parameters():
        assert torch.equal(parameter, wanted[name])


def test_a_finished_run_is_not_trained_again(images: Images, tmp_path: Path) -> None:
    stages = [Stage(Settings(epochs=1, batch_size=8), draws=16)]
    first = train_rop(images, images, tmp_path, stages=stages)
    steps: list[tuple[int, Step]] = []
    again = train_rop(
        images,
        images,
        tmp_path,
        stages=stages,
        progress=lambda stage, step: steps.append((stage, step)),
    )
    assert steps == []
    for name, tensor in first.model.state_dict().items():
        assert torch.equal(tensor, again.model.state_dict()[name])


def test_an_epoch_has_the_size_asked_for(images: Images, tmp_path: Path) -> None:
    steps: list[tuple[int, Step]] = []
    train_rop(
        images,
        images,
        tmp_path,
        stages=[Stage(Settings(epochs=1, batch_size=4), draws=12)] * 2,
        progress=lambda stage, step: steps.append((stage, step)),
    )
    assert [(stage, step.done, step.total) for stage, step in steps] == [
        (stage, done, 3) for stage in (1, 2) for done in (1, 2, 3)
    ]


def test_performance_agrees_with_scikit_learn() -> None:
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(90, 1, 1, 3, generator=generator)
    labels = torch.randint(3, (90,), generator=generator)
    logits[torch.arange(90), 0, 0, labels] += 1
    found = judge(nn.Flatten(), logits, labels)
    predicted = logits.flatten(1).argmax(1)
    assert found.balanced_accuracy == pytest.approx(balanced_accuracy_score(labels, predicted))
    assert found.confusion.sum() == 90
    assert found.confusion[1, 2] == ((labels == 1) & (predicted == 2)).sum()
    for label, (auc, (false, true)) in enumerate(zip(found.auc, found.roc, strict=True)):
        # the share of pairs in which the image of the class scores higher, which is the area
        chance = logits.flatten(1).softmax(1)[:, label]
        ours, others = chance[labels == label], chance[labels != label]
        assert auc == pytest.approx((ours[:, None] > others).double().mean().item())
        assert np.trapezoid(true, false) == pytest.approx(auc)


def test_performance_reads_bytes_as_unit_floats() -> None:
    images = torch.tensor([[255, 0, 0], [0, 255, 0], [0, 0, 255]], dtype=torch.uint8)
    images = images.reshape(3, 1, 1, 3)
    seen: list[torch.Tensor] = []
    model = nn.Flatten()
    model.register_forward_hook(lambda _, inputs, __: seen.append(inputs[0]))
    found = judge(model, images, torch.arange(3))
    assert seen[0].max() == 1
    assert found.recalls == (1.0, 1.0, 1.0)
    assert str(found).splitlines()[0].split()[0] == CLASSES[0]
    assert "balanced accuracy 100.0% of 3 (95 % interval" in str(found)


def test_clear_cases_are_healthy_or_have_much_disease() -> None:
    labels = torch.tensor([0, 0, 1, 1, 2, 2] * 50)
    amounts = torch.tensor([0.0, 0.1, 0.5, 0.6, 1.1, 1.4] * 50)
    stage = Stage(Settings(), draws=40, apart=1.3)
    drawn = _draw(stage, amounts, labels, torch.Generator().manual_seed(0))
    assert len(drawn) == 40
    assert sorted(set(amounts[drawn].tolist())) == pytest.approx([0.0, 0.1, 1.4])
    everything = _draw(Stage(Settings(), draws=200), amounts, labels, torch.Generator())
    assert len(set(amounts[everything].tolist())) == 6
