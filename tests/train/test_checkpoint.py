from pathlib import Path

import pytest
import torch
from torch import nn

from ssplain.errors import SSplainError
from ssplain.train.checkpoint import Checkpoint

RUN: dict[str, object] = {"seed": 0, "lr": 0.1}


def stepped(seed: int) -> tuple[nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        torch.autograd.backward(model(torch.rand(5, 3)).square().sum())
        optimizer.step()
    return model, optimizer


def test_model_and_optimizer_come_back_from_the_file(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.safetensors"
    model, optimizer = stepped(0)
    history = [{"number": 1, "score": 0.1 + 0.2}]
    Checkpoint.of(model, optimizer, model.state_dict(), history, {}).write(path, RUN)

    other, other_optimizer = stepped(1)
    saved = Checkpoint.read(path, RUN)
    saved.restore(other, other_optimizer)
    assert saved.history == history  # floats to the last bit
    for name, tensor in model.state_dict().items():
        assert torch.equal(other.state_dict()[name], tensor)
        assert torch.equal(saved.best[name], tensor)
    state, other_state = optimizer.state_dict()["state"], other_optimizer.state_dict()["state"]
    assert state.keys() == other_state.keys()
    for index, tensors in state.items():
        for name, tensor in tensors.items():
            assert torch.equal(other_state[index][name], tensor)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_tensors_that_share_memory_can_be_written(tmp_path: Path) -> None:
    shared = torch.arange(4.0)
    Checkpoint({"a": shared, "b": shared.reshape(2, 2).T}, {}, {}, []).write(tmp_path / "c", RUN)
    found = Checkpoint.read(tmp_path / "c", RUN).model
    assert found["b"].tolist() == [[0, 2], [1, 3]]


def test_a_checkpoint_of_another_run_is_refused(tmp_path: Path) -> None:
    Checkpoint({}, {}, {}, []).write(tmp_path / "c", RUN)
    with pytest.raises(SSplainError, match=r"another run \(lr differ"):
        Checkpoint.read(tmp_path / "c", {"seed": 0, "lr": 0.2})


def test_a_checkpoint_of_another_model_is_refused() -> None:
    model, optimizer = stepped(0)
    saved = Checkpoint.of(model, optimizer, {}, [], {})
    with pytest.raises(SSplainError, match="another model"):
        saved.restore(nn.Linear(2, 2), optimizer)


@pytest.mark.parametrize("content", [b"", b"junk", b"\x02\0\0\0\0\0\0\0{}"])
def test_a_damaged_checkpoint_is_told(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "c").write_bytes(content)
    with pytest.raises(SSplainError, match="not a readable checkpoint"):
        Checkpoint.read(tmp_path / "c", RUN)
