import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from torch import nn
from torch.nn.functional import cross_entropy
from torch.optim.optimizer import register_optimizer_step_pre_hook

from ssplain.errors import SSplainError
from ssplain.train.checkpoint import Checkpoint
from ssplain.train.draws import class_balanced, hold_out, shuffled
from ssplain.train.loop import (
    Settings,
    Step,
    Trained,
    _describe,
    accuracy,
    balanced_accuracy,
    predict,
    train,
)

SETTINGS = Settings(epochs=4, patience=4, batch_size=8, lr=1e-2, seed=3)


def build() -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(16, 12), nn.Tanh(), nn.Dropout(), nn.Linear(12, 3))


def problem(count: int = 60) -> tuple[torch.Tensor, torch.Tensor]:
    """Three classes that the brightest of three pixels tells apart, as unsigned bytes."""
    generator = torch.Generator().manual_seed(1)
    images = torch.randint(0, 256, (count, 1, 4, 4), generator=generator, dtype=torch.uint8)
    return images, images.flatten(1)[:, :3].int().argmax(1)


def noisy(
    model: nn.Module, images: torch.Tensor, rows: torch.Tensor, generator: torch.Generator
) -> torch.Tensor:
    """The first images of `hold_out`, learned with noise."""
    (_, labels), _ = hold_out(problem(), 20, seed=0)
    noise = 0.1 * torch.randn(images.shape, generator=generator)
    return cross_entropy(model(images + noise), labels[rows])


def run(settings: Settings = SETTINGS, **options: object) -> Trained:
    images, held_out = hold_out(problem(), 20, seed=0)
    return train(build, images, held_out, settings, lesson=noisy, **options)  # type: ignore[arg-type]


def same_weights(first: Trained, second: Trained) -> bool:
    pairs = zip(first.model.parameters(), second.model.parameters(), strict=True)
    return all(torch.equal(one, other) for one, other in pairs)


def test_training_learns_and_keeps_the_best_epoch() -> None:
    images, held_out = hold_out(problem(600), 100, seed=0)
    steps: list[Step] = []
    settings = Settings(epochs=12, patience=12, lr=1e-2)
    trained = train(build, images, held_out, settings, progress=steps.append)
    assert trained.best.score > 0.9
    assert trained.history[-1].loss < 0.5 * trained.history[0].loss
    assert trained.best.score == max(epoch.score for epoch in trained.history)
    assert accuracy(predict(trained.model, held_out[0]), held_out[1]) == trained.best.score
    assert not trained.model.training
    assert len(steps) == 12 * -(-500 // 32)
    assert (steps[-1].epoch, steps[-1].done, len(steps[-1].history)) == (12, steps[-1].total, 11)


def test_one_step_is_adams_on_the_mean_cross_entropy() -> None:
    images = problem(8)
    trained = train(
        lambda: nn.Sequential(nn.Flatten(), nn.Linear(16, 3)),
        images,
        images,
        Settings(epochs=1, batch_size=8, lr=0.01, weight_decay=0.1, seed=5),
    )
    # Adam's first step is lr * g / (|g| + eps), with g the gradient plus the decayed weight.
    start = train(
        lambda: nn.Sequential(nn.Flatten(), nn.Linear(16, 3)),
        images,
        images,
        Settings(epochs=1, batch_size=8, lr=0.0, weight_decay=0.1, seed=5),
    ).model
    weight, bias = start.parameters()
    logits = (images[0].float() / 255).flatten(1) @ weight.T + bias
    loss = -logits.log_softmax(1)[torch.arange(8), images[1]].mean()
    (slope,) = torch.autograd.grad(loss, weight)
    slope = slope + 0.1 * weight
    expected = weight - 0.01 * slope / (slope.abs() + 1e-8)
    torch.testing.assert_close(next(trained.model.parameters()), expected)


def test_the_same_seed_gives_the_same_weights_and_leaves_the_callers_generator() -> None:
    torch.manual_seed(11)
    before = torch.random.get_rng_state()
    first = run()
    assert torch.equal(torch.random.get_rng_state(), before)
    torch.manual_seed(12)
    assert same_weights(first, run())
    assert not same_weights(first, run(Settings(epochs=4, batch_size=8, lr=1e-2, seed=4)))


def test_training_stops_when_the_score_no_longer_rises() -> None:
    scores = iter([0.1, 0.5, 0.4, 0.5, 0.3, 0.9])
    trained = run(Settings(epochs=50, patience=3), score=lambda *_: next(scores))
    assert [epoch.score for epoch in trained.history] == [0.1, 0.5, 0.4, 0.5, 0.3]
    assert trained.best.number == 2


class StoppedError(Exception):
    pass


@pytest.mark.parametrize(("epoch", "done"), [(1, 2), (2, 5), (3, 1), (3, 3), (4, 5)])
def test_a_stopped_run_goes_on_as_if_it_had_not_stopped(
    tmp_path: Path, epoch: int, done: int
) -> None:
    path = tmp_path / "checkpoint.safetensors"

    def stop(step: Step) -> None:
        if (step.epoch, step.done) == (epoch, done):
            raise StoppedError

    with pytest.raises(StoppedError):
        run(checkpoint=path, progress=stop)
    assert path.exists() == (epoch > 1)
    steps: list[Step] = []
    resumed = run(checkpoint=path, progress=steps.append)
    assert steps[0].epoch == epoch  # finished epochs are not repeated
    whole = run()
    assert resumed.history == whole.history
    assert same_weights(resumed, whole)


def test_a_run_stopped_between_epochs_may_be_given_more_of_them(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.safetensors"
    short = Settings(epochs=2, patience=4, batch_size=8, lr=1e-2, seed=3)
    assert len(run(short, checkpoint=path).history) == 2
    assert same_weights(run(checkpoint=path), run())


KILLED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, {folder!r})
import test_loop

def stop(step):
    if (step.epoch, step.done) == (3, 2):
        os.kill(os.getpid(), signal.SIGKILL)

test_loop.run(checkpoint=Path({path!r}), progress=stop)
"""


@pytest.mark.slow
def test_a_killed_process_can_be_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.safetensors"
    script = KILLED.format(folder=str(Path(__file__).parent), path=str(path))
    killed = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True)
    assert killed.returncode == -9, killed.stderr.decode()
    path.with_name(f"{path.name}.partial").write_bytes(b"half a file")
    resumed, whole = run(checkpoint=path), run()
    assert resumed.history == whole.history
    assert same_weights(resumed, whole)


def test_a_checkpoint_of_other_settings_or_images_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.safetensors"
    run(checkpoint=path)
    with pytest.raises(SSplainError, match=r"another run \(seed differ"):
        run(Settings(epochs=4, patience=4, batch_size=8, lr=1e-2, seed=4), checkpoint=path)
    images, held_out = hold_out(problem(61), 20, seed=0)
    with pytest.raises(SSplainError, match=r"another run \(images differ"):
        train(build, images, held_out, SETTINGS, checkpoint=path)


def test_scores_agree_with_scikit_learn() -> None:
    generator = torch.Generator().manual_seed(0)
    labels = torch.multinomial(torch.tensor([0.7, 0.2, 0.1]), 200, True, generator=generator)  # noqa: FBT003
    predicted = torch.where(torch.rand(200, generator=generator) < 0.6, labels, 0)
    assert accuracy(predicted, labels) == pytest.approx(accuracy_score(labels, predicted))
    expected = balanced_accuracy_score(labels, predicted)
    assert balanced_accuracy(predicted, labels) == pytest.approx(expected)


def test_orders_of_an_epoch() -> None:
    labels = torch.tensor([0] * 5400 + [1] * 500 + [2] * 100)
    order = shuffled(labels, torch.Generator().manual_seed(0))
    assert order.sort().values.tolist() == list(range(6000))
    drawn = labels[class_balanced(labels, torch.Generator().manual_seed(0))]
    shares = drawn.bincount() / len(drawn)
    torch.testing.assert_close(shares, torch.full((3,), 1 / 3), atol=0.03, rtol=0)


def test_held_out_images_are_apart_and_keep_their_labels() -> None:
    images, labels = problem(30)
    (kept, kept_labels), (held, held_labels) = hold_out((images, labels), 10, seed=7)
    assert (len(kept), len(held)) == (20, 10)
    for part, part_labels in ((kept, kept_labels), (held, held_labels)):
        assert torch.equal(part.flatten(1)[:, :3].int().argmax(1), part_labels)
    together = torch.cat([kept, held]).flatten(1).tolist()
    assert sorted(together) == sorted(images.flatten(1).tolist())
    assert not torch.equal(held, hold_out((images, labels), 10, seed=8)[1][0])


@pytest.mark.parametrize("count", [0, 30, 31])
def test_a_split_without_images_on_either_side_is_refused(count: int) -> None:
    with pytest.raises(SSplainError, match=f"hold {count} of 30"):
        hold_out(problem(30), count, seed=0)


@pytest.mark.parametrize("name", ["epochs", "patience", "batch_size"])
def test_settings_below_one_are_refused(name: str) -> None:
    with pytest.raises(SSplainError, match=f"{name} is 0"):
        Settings(**{name: 0})  # type: ignore[arg-type]  # no name here is a bool's
    with pytest.raises(SSplainError, match="seed is -1"):
        Settings(seed=-1)


def test_the_mean_of_all_epochs_is_kept_if_it_validates_better(tmp_path: Path) -> None:
    """Steps that are far too long never settle; their mean does better than each of them."""
    images, held_out = hold_out(problem(600), 200, seed=0)
    settings = Settings(epochs=12, patience=12, batch_size=8, lr=0.1, seed=2, average=True)
    plain = train(build, images, held_out, replace(settings, average=False))
    trained = train(build, images, held_out, settings, checkpoint=tmp_path / "run")
    assert trained.history == plain.history
    assert trained.score > trained.best.score == plain.score
    assert accuracy(predict(trained.model, held_out[0]), held_out[1]) == trained.score
    seen: list[torch.Tensor] = []
    for epochs in range(1, 13):
        longer = replace(settings, epochs=epochs)  # each goes on where the one before ended
        train(build, images, held_out, longer, checkpoint=tmp_path / "steps")
        last = Checkpoint.read(tmp_path / "steps", _describe(settings, images, held_out))
        seen.append(last.model["1.weight"])
    mean = trained.model.state_dict()["1.weight"]
    torch.testing.assert_close(mean, torch.stack(seen).mean(0))


def test_averaging_goes_on_after_a_stop(tmp_path: Path) -> None:
    settings = replace(SETTINGS, average=True)
    whole = run(settings, checkpoint=tmp_path / "whole")
    run(replace(settings, epochs=2), checkpoint=tmp_path / "parts")
    parts = run(settings, checkpoint=tmp_path / "parts")
    assert whole.score == parts.score
    assert same_weights(whole, parts)
    means = [
        Checkpoint.read(tmp_path / name, _describe(SETTINGS, *hold_out(problem(), 20, seed=0))).mean
        for name in ("whole", "parts")
    ]
    assert means[0].keys() == whole.model.state_dict().keys()
    assert all(torch.equal(means[0][name], means[1][name]) for name in means[0])


def test_bfloat16_computes_coarsely_and_keeps_single_precision_weights() -> None:
    exact, coarse = run(), run(replace(SETTINGS, bfloat16=True))
    losses = [[epoch.loss for epoch in trained.history] for trained in (exact, coarse)]
    assert losses[0] != losses[1]
    assert losses[1] == pytest.approx(losses[0], rel=0.05)
    assert all(weight.dtype == torch.float32 for weight in coarse.model.parameters())


def test_a_falling_rate_rises_first_and_ends_at_a_twentieth() -> None:
    rates: list[float] = []

    def watch(optimizer: torch.optim.Optimizer, *_: object) -> None:
        rates.append(optimizer.param_groups[0]["lr"])

    images = problem(60)
    settings = Settings(epochs=100, patience=100, batch_size=15, lr=0.01, falling=True)
    hook = register_optimizer_step_pre_hook(watch)
    try:
        train(build, images, images, settings)
    finally:
        hook.remove()
    assert len(rates) == 400
    assert rates[0] == pytest.approx(0.0001, rel=1e-3)
    assert max(rates) == max(rates[95:105])
    assert rates[200] == pytest.approx(0.01 * 0.525, rel=1e-3)
    assert rates[-1] == pytest.approx(0.0005, rel=0.01)


def test_a_falling_rate_goes_on_only_towards_the_same_end(tmp_path: Path) -> None:
    images = problem(20)
    falling = replace(SETTINGS, epochs=2, falling=True)
    train(build, images, images, falling, checkpoint=tmp_path / "c")
    with pytest.raises(SSplainError, match="epochs differ"):
        train(build, images, images, replace(falling, epochs=3), checkpoint=tmp_path / "c")
