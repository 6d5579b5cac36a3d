"""Exported programs: equal to torch's own reading of them, and harmless when they are crafted."""

import json
import os
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from ssplain.errors import SSplainError
from ssplain.models import LeNet5, load
from ssplain.models.exported import Program, read_program

DYNAMIC = ({0: torch.export.Dim("n")},)


class Branches(nn.Module):
    """Has what image networks are made of: constants, buffers, branches, lists, sizes, tuples."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(inplace=True))
        self.second = nn.Conv2d(4, 6, 1, bias=False)
        self.drop = nn.Dropout()
        self.last = nn.Linear(10, 5)
        self.register_buffer("mean", torch.tensor([0.4, 0.5, 0.6])[:, None, None])

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        assert isinstance(self.mean, torch.Tensor)
        x = self.first((x - self.mean) / torch.tensor([0.2, 0.3, 0.2])[:, None, None])
        x = nn.functional.max_pool2d(x, 2, ceil_mode=True)
        left, right = x.chunk(2, dim=1)
        x = torch.cat([left, self.second(right)], dim=1)
        pooled = nn.functional.adaptive_avg_pool2d(x, 1).reshape(x.shape[0], -1)
        values, _ = pooled.topk(3, dim=1)
        return self.last(self.drop(pooled)), values


def export(
    path: Path, model: nn.Module, images: torch.Tensor, *, dynamic: bool = True
) -> Callable[[torch.Tensor], Any]:
    """Write the program and return torch's own reading of it."""
    shapes = DYNAMIC if dynamic else None
    torch.export.save(torch.export.export(model.eval(), (images,), dynamic_shapes=shapes), path)
    module: Callable[[torch.Tensor], Any] = torch.export.load(path).module()
    return module


@pytest.fixture(scope="module")
def lenet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("program") / "lenet.pt2"
    export(path, load("lenet5-mnist"), torch.rand(2, 1, 28, 28))
    return path


def rewrite(source: Path, target: Path, change: Callable[[str, bytes], bytes]) -> Path:
    """Copy an archive, changing members by their path without the root folder."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for info in old.infolist():
            new.writestr(info.filename, change(info.filename.split("/", 1)[1], old.read(info)))
    return target


def edit_json(member: str, edit: Callable[[Any], None]) -> Callable[[str, bytes], bytes]:
    def change(name: str, content: bytes) -> bytes:
        if name != member:
            return content
        values = json.loads(content)
        edit(values)
        return json.dumps(values).encode()

    return change


class Touch:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str, int]]:
        return os.open, (str(self.path), os.O_CREAT | os.O_WRONLY)


def test_a_program_gives_what_its_model_gives(lenet: Path) -> None:
    images = torch.rand(5, 1, 28, 28, requires_grad=True)
    program, model = load(lenet), load("lenet5-mnist")
    assert isinstance(program, Program)
    assert not program.training
    found, expected = program(images), model(images)
    torch.testing.assert_close(found, expected)
    (slope,) = torch.autograd.grad(found[:, 3].sum(), images)
    (expected_slope,) = torch.autograd.grad(expected[:, 3].sum(), images)
    torch.testing.assert_close(slope, expected_slope)
    assert [p.shape for p in program.parameters()] == [p.shape for p in model.parameters()]


def test_a_program_with_branches_equals_torchs_own_reading(tmp_path: Path) -> None:
    model = Branches()
    for _ in range(3):
        model(torch.rand(8, 3, 9, 11))  # moves the statistics of the batch norm
    trusted = export(tmp_path / "branches.pt2", model, torch.rand(2, 3, 9, 11))
    images = torch.rand(7, 3, 9, 11)
    found, expected = load(tmp_path / "branches.pt2")(images), trusted(images)
    assert isinstance(found, tuple)
    torch.testing.assert_close(found, tuple(expected))


def test_a_fixed_batch_size_is_told(tmp_path: Path) -> None:
    trusted = export(tmp_path / "two.pt2", LeNet5(), torch.rand(2, 1, 28, 28), dynamic=False)
    program, images = load(tmp_path / "two.pt2"), torch.rand(2, 1, 28, 28)
    torch.testing.assert_close(program(images), trusted(images))
    with pytest.raises(SSplainError, match=r"2 x 1 x 28 x 28 and got 3 x 1 x 28 x 28.*Dim"):
        program(torch.rand(3, 1, 28, 28))


def test_intermediate_values_are_let_go(lenet: Path) -> None:
    steps = read_program(lenet)._steps
    spent = [name for step in steps for name in step.spent]
    assert len(spent) == len(set(spent))
    assert {"conv2d", "tanh", "linear_1"} <= set(spent)
    assert "linear_2" not in spent  # the output


def test_a_pickled_weight_does_not_run(lenet: Path, tmp_path: Path) -> None:
    marker = tmp_path / "touched"

    def change(name: str, content: bytes) -> bytes:
        if name == "data/weights/weight_0":
            return pickle.dumps(Touch(marker))
        if name == "data/weights/model_weights_config.json":
            config = json.loads(content)
            config["config"]["conv1.weight"]["use_pickle"] = True
            return json.dumps(config).encode()
        return content

    crafted = rewrite(lenet, tmp_path / "crafted.pt2", change)
    with pytest.raises(SSplainError, match=r"'conv1\.weight' is pickled"):
        load(crafted)
    assert not marker.exists()
    # torch's own reader shows that the file would indeed have run
    with pytest.raises(Exception, match=r".*"):  # however it fails afterwards
        torch.export.load(crafted).module()
    assert marker.exists()


def test_pickled_sample_inputs_are_never_read(lenet: Path, tmp_path: Path) -> None:
    marker = tmp_path / "touched"
    crafted = rewrite(
        lenet,
        tmp_path / "crafted.pt2",
        lambda name, content: pickle.dumps(Touch(marker)) if name.endswith(".pt") else content,
    )
    assert load(crafted)(torch.rand(1, 1, 28, 28)).shape == (1, 10)
    assert not marker.exists()


def test_code_in_guards_and_names_is_never_run(lenet: Path, tmp_path: Path) -> None:
    marker = tmp_path / "touched"
    code = f"__import__('pathlib').Path({str(marker)!r}).touch()"

    def edit(program: Any) -> None:  # noqa: ANN401
        program["guards_code"] = [code]
        program["graph_module"]["graph"]["nodes"][0]["name"] = code
        for value in program["graph_module"]["graph"]["tensor_values"].values():
            for size in value["sizes"]:
                if "as_expr" in size:
                    size["as_expr"]["expr_str"] = code

    crafted = rewrite(lenet, tmp_path / "crafted.pt2", edit_json("models/model.json", edit))
    assert load(crafted)(torch.rand(1, 1, 28, 28)).shape == (1, 10)
    assert not marker.exists()


@pytest.mark.parametrize(
    "target",
    [
        "torch.os.system",
        "torch.load",
        "torch.ops.aten.save.default",
        "torch.ops.aten.from_file.default",
        "torch.ops.aten.__class__.mro",
        "torch.ops.prims.add.default",
        "_operator.attrgetter",
        "_operator.methodcaller",
        "math.factorial",
        "eval",
        "",
    ],
)
def test_operators_that_are_not_tensor_functions_are_refused(
    lenet: Path, tmp_path: Path, target: str
) -> None:
    def edit(program: Any) -> None:  # noqa: ANN401
        program["graph_module"]["graph"]["nodes"][1]["target"] = target

    crafted = rewrite(lenet, tmp_path / "crafted.pt2", edit_json("models/model.json", edit))
    with pytest.raises(SSplainError, match="not a tensor operator of ATen"):
        load(crafted)


def test_objects_and_graphs_as_arguments_are_refused(lenet: Path, tmp_path: Path) -> None:
    def edit(program: Any) -> None:  # noqa: ANN401
        entry = program["graph_module"]["graph"]["nodes"][1]["inputs"][0]
        entry["arg"] = {"as_custom_obj": {"name": "x", "class_fqn": "y"}}

    crafted = rewrite(lenet, tmp_path / "crafted.pt2", edit_json("models/model.json", edit))
    with pytest.raises(SSplainError, match="'as_custom_obj'"):
        load(crafted)


def test_a_tensor_that_reaches_beyond_its_bytes_is_refused(lenet: Path, tmp_path: Path) -> None:
    def edit(weights: Any) -> None:  # noqa: ANN401
        weights["config"]["conv1.bias"]["tensor_meta"]["sizes"] = [{"as_int": 10**6}]

    member = "data/weights/model_weights_config.json"
    crafted = rewrite(lenet, tmp_path / "crafted.pt2", edit_json(member, edit))
    with pytest.raises(SSplainError, match="damaged tensor"):
        load(crafted)


def test_compressed_parts_are_refused(lenet: Path, tmp_path: Path) -> None:
    path = tmp_path / "packed.pt2"
    with (
        zipfile.ZipFile(lenet) as old,
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for info in old.infolist():
            new.writestr(info.filename, old.read(info))
    with pytest.raises(SSplainError, match="is compressed"):
        load(path)


def test_programs_with_two_inputs_are_refused(tmp_path: Path) -> None:
    class Sum(nn.Module):
        def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            return a + b

    pair = torch.export.export(Sum(), (torch.ones(2), torch.ones(2)))
    torch.export.save(pair, tmp_path / "sum.pt2")
    with pytest.raises(SSplainError, match="takes 2 inputs"):
        load(tmp_path / "sum.pt2")


def test_other_versions_of_the_format_are_told(lenet: Path, tmp_path: Path) -> None:
    def edit(program: Any) -> None:  # noqa: ANN401
        program["schema_version"]["major"] = 7

    crafted = rewrite(lenet, tmp_path / "old.pt2", edit_json("models/model.json", edit))
    with pytest.raises(SSplainError, match="version 7 instead of 8"):
        load(crafted)


def test_files_that_are_no_programs_are_told(lenet: Path, tmp_path: Path) -> None:
    path = tmp_path / "bad.pt2"
    path.write_bytes(b"no archive")
    with pytest.raises(SSplainError, match=r"not a program of torch\.export"):
        load(path)
    path.write_bytes(lenet.read_bytes()[:-500])
    with pytest.raises(SSplainError, match=r"not a program of torch\.export"):
        load(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x/data.pkl", b"")
    with pytest.raises(SSplainError, match=r"not a program of torch\.export"):
        load(path)
    with pytest.raises(SSplainError, match="cannot be read"):
        load(tmp_path / "none.pt2")
