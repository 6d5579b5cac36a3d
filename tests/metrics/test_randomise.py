import copy

import pytest
import torch
from torch import Tensor, nn

import ssplain
from ssplain.errors import SSplainError
from ssplain.metrics.randomise import RandomisedNetwork, blocks, randomised, stages
from ssplain.models import GoogLeNet


def changed(one: nn.Module, other: nn.Module) -> set[str]:
    """The blocks of which any parameter differs."""
    return {
        name.split(".")[0]
        for (name, p), q in zip(one.named_parameters(), other.parameters(), strict=True)
        if not torch.equal(p, q)
    }


class Backwards(nn.Module):
    """Declares its layers in another order than it runs them, and never runs one."""

    def __init__(self) -> None:
        super().__init__()
        self.last = nn.Linear(4, 2)
        self.unused = nn.Linear(4, 4)
        self.first = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.first(x.flatten(1)))  # type: ignore[no-any-return]


def test_blocks_come_in_the_order_in_which_they_run() -> None:
    assert blocks(Backwards(), torch.zeros(1, 1, 2, 2)) == ["first", "last"]
    names = blocks(GoogLeNet(), torch.zeros(1, 1, 64, 64))
    assert names[:4] == ["conv1", "conv2", "conv3", "inception3a"]
    assert names[-2:] == ["inception5b", "fc"]
    assert len(names) == 13


def test_looking_for_blocks_leaves_no_hook() -> None:
    model = Backwards()
    blocks(model, torch.zeros(1, 1, 2, 2))
    assert not any(module._forward_pre_hooks for module in model.modules())


class Tokens(nn.Module):
    """Attention with a token of its own, as in vision transformers."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(4, 1, batch_first=True)
        self.token = nn.Parameter(torch.tensor([1.0, 2.0, 3.0, 4.0]))
        self.scale = nn.Parameter(torch.full((4,), 0.5))
        for own in self.attention.parameters():
            nn.init.constant_(own, 0.25)

    def forward(self, x: Tensor) -> Tensor:
        rows = torch.cat([x.flatten(1)[:, None], self.token.expand(len(x), 1, -1)], 1)
        seen: Tensor = self.attention(rows, rows, rows)[0]
        return seen[:, 1] * self.scale


def test_attention_and_tokens_forget_what_they_learned() -> None:
    model = nn.Sequential(Tokens())
    other = randomised(model, ["0"], torch.rand(2, 1, 2, 2), seed=0)
    kept = {
        name
        for (name, p), q in zip(model.named_parameters(), other.parameters(), strict=True)
        if bool((p == q).any())
    }
    assert kept == {"0.scale"}  # learned nothing: all its entries are equal


@pytest.mark.parametrize("mode", ["cascading", "independent"])
def test_stages_randomise_what_they_say(mode: str) -> None:
    model = ssplain.models.load("lenet5-mnist")
    before = copy.deepcopy(model.state_dict())
    images = ssplain.data.bundled("mnist")[0][:3]
    found = list(stages(model, images, mode=mode))  # type: ignore[arg-type]
    names = ["full3", "full2", "full1", "conv2", "conv1"]
    assert [stage.name for stage in found] == ["trained", *names]
    assert changed(model, found[0].model) == set()
    for i, stage in enumerate(found[1:]):
        expected = set(names[: i + 1]) if mode == "cascading" else {names[i]}
        assert changed(model, stage.model) == expected
    assert all(torch.equal(value, before[key]) for key, value in model.state_dict().items())


def test_a_cascade_keeps_what_it_has_randomised() -> None:
    model = ssplain.models.load("lenet5-mnist")
    images = ssplain.data.bundled("mnist")[0][:2]
    one, two = list(stages(model, images, seed=3))[2:4]
    assert torch.equal(_of(one, "full3.weight"), _of(two, "full3.weight"))
    assert torch.equal(_of(one, "full2.bias"), _of(two, "full2.bias"))
    other = list(stages(model, images, seed=4))[2]
    assert not torch.equal(_of(one, "full3.weight"), _of(other, "full3.weight"))


def _of(stage: RandomisedNetwork, name: str) -> Tensor:
    return stage.model.get_parameter(name)


def test_the_callers_random_numbers_are_left_alone() -> None:
    model = Backwards()
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    randomised(model, ["first"], torch.zeros(1, 1, 2, 2))
    assert torch.equal(torch.rand(3), expected)


def test_without_new_statistics_a_random_network_is_blind() -> None:
    """What batch normalisation is estimated again for."""
    torch.manual_seed(0)
    model = GoogLeNet().eval()
    images = torch.rand(4, 1, 64, 64) * (torch.rand(4, 1, 64, 64) < 0.2)
    names = blocks(model, images)
    *_, last = stages(model, images)
    for module in (blind := copy.deepcopy(last.model)).modules():
        if isinstance(module, nn.BatchNorm2d):
            module.reset_running_stats()
    assert last.name == "conv1"
    assert last.logit_variance > 1e-6
    assert float(blind(images).detach().var(0).mean()) < 1e-3 * last.logit_variance
    assert not any(module.training for module in last.model.modules())
    partly = randomised(model, names[-2:], images)
    kept, fresh = (partly.get_submodule(n) for n in ("inception5a", "inception5b"))
    means = [torch.cat([b for k, b in m.named_buffers() if "mean" in k]) for m in (kept, fresh)]
    assert not means[0].any()  # the untouched block keeps what it had
    assert bool(means[1].any())
    norm = next(m for m in fresh.modules() if isinstance(m, nn.BatchNorm2d))
    assert norm.momentum == 0.1


def test_statistics_are_those_of_the_images() -> None:
    model = nn.Sequential(nn.Conv2d(1, 2, 1), nn.BatchNorm2d(2), nn.Flatten(), nn.Linear(32, 2))
    images = torch.rand(6, 1, 4, 4, generator=torch.Generator().manual_seed(0))
    other = randomised(model, ["0"], images, downstream=["0", "1", "3"])
    seen = other.get_submodule("0")(images)
    norm = other.get_submodule("1")
    torch.testing.assert_close(norm.get_buffer("running_mean"), seen.mean((0, 2, 3)))
    torch.testing.assert_close(norm.get_buffer("running_var"), seen.var((0, 2, 3)))


def test_mistakes_are_named() -> None:
    with pytest.raises(SSplainError, match="no blocks"):
        blocks(nn.Flatten(), torch.zeros(1, 1, 2, 2))
    with pytest.raises(SSplainError, match="mode='random'"):
        next(stages(Backwards(), torch.zeros(1, 1, 2, 2), mode="random"))  # type: ignore[arg-type]
