"""Programs that `torch.export.save` wrote (.pt2), run without trusting them.

`torch.export.load` unpickles parts of the file, evaluates expressions and runs generated code, so
a crafted file can do anything. Here only two things are read: the raw bytes of the tensors and the
JSON list of operators. Each operator must be one of ATen's tensor functions or plain arithmetic on
sizes; everything else is refused. What a program can then do is compute.
"""

import json
import math
import operator
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from ssplain.errors import SSplainError

_SCHEMA = 8  # the major version of the format, as torch 2.13 writes it
_ATEN = "torch.ops.aten."
_ARITHMETIC = "add sub mul floordiv truediv mod neg getitem eq ne lt le gt ge and_ or_"
_SIZES: dict[str, Callable[..., Any]] = {
    **{f"_operator.{name}": getattr(operator, name) for name in _ARITHMETIC.split()},
    "math.trunc": math.trunc,
    "torch.sym_int": int,
    "torch.sym_float": float,
    "torch.sym_max": max,
    "torch.sym_min": min,
    "torch.sym_not": operator.not_,
}
# the numbers that the format gives to types, memory formats and layouts
_DTYPES = {
    1: torch.uint8,
    2: torch.int8,
    3: torch.int16,
    4: torch.int32,
    5: torch.int64,
    6: torch.float16,
    7: torch.float32,
    8: torch.float64,
    12: torch.bool,
    13: torch.bfloat16,
}
_MEMORY_FORMATS = {
    1: torch.contiguous_format,
    2: torch.channels_last,
    3: torch.channels_last_3d,
    4: torch.preserve_format,
}
_LAYOUTS = {7: torch.strided}


@dataclass(frozen=True)
class _Name:
    """A value that an earlier step, the input or a stored tensor gives."""

    name: str


@dataclass(frozen=True)
class _Step:
    """One operator: its arguments, the names of its results, and the names not needed after it."""

    call: Callable[..., Any]
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]
    results: tuple[_Name | list[_Name] | None, ...]
    spent: tuple[str, ...]


class Program(nn.Module):
    """An exported program: takes one batch of images and gives its output, or a tuple of several.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "double.pt2"
        >>> double = torch.export.export(nn.Upsample(scale_factor=2), (torch.ones(1, 1, 1, 1),))
        >>> torch.export.save(double, path)
        >>> read_program(path)(torch.ones(1, 1, 1, 1))
        tensor([[[[1., 1.], [1., 1.]]]])
    """

    def __init__(self, graph: dict[str, Any], tensors: dict[str, torch.Tensor]) -> None:
        super().__init__()
        module = graph["graph_module"]
        inputs, outputs = module["graph"]["inputs"], module["graph"]["outputs"]
        self._stored: dict[str, str] = {}
        images = []
        for value, spec in zip(inputs, module["signature"]["input_specs"], strict=True):
            name = value["as_tensor"]["name"]
            ((kind, details),) = spec.items()
            if kind == "user_input":
                images.append(name)
            else:
                self._store(name, tensors[details[f"{kind}_name"]])
        if len(images) != 1:
            raise SSplainError(f"it takes {len(images)} inputs instead of one batch of images")
        self._image = images[0]
        sizes = module["graph"]["tensor_values"][self._image]["sizes"]
        self._size = tuple(size.get("as_int") for size in sizes)  # None where any size will do
        self._outputs = [
            _value(output)
            for output, spec in zip(outputs, module["signature"]["output_specs"], strict=True)
            if "user_output" in spec
        ]
        self._steps = _steps(module["graph"]["nodes"], keep=_names(self._outputs))

    def _store(self, name: str, tensor: torch.Tensor) -> None:
        key = f"value{len(self._stored)}"  # names of the file could hide those of the module
        if isinstance(tensor, nn.Parameter):
            self.register_parameter(key, tensor)
        else:
            self.register_buffer(key, tensor)
        self._stored[name] = key

    def forward(self, images: torch.Tensor) -> Any:  # noqa: ANN401 - as the program gives it
        """Run the program on a batch of images."""
        if len(images.shape) != len(self._size) or any(
            want not in {None, have} for want, have in zip(self._size, images.shape, strict=True)
        ):
            wanted = " x ".join("any" if want is None else str(want) for want in self._size)
            raise SSplainError(
                f"The program was exported for input of {wanted} and got "
                f"{' x '.join(map(str, images.shape))}; for batches of any length, export it with "
                "dynamic_shapes=({0: torch.export.Dim('n')},)."
            )
        values: dict[str, Any] = {name: getattr(self, key) for name, key in self._stored.items()}
        values[self._image] = images
        for step in self._steps:
            given = step.call(
                *(_fill(argument, values) for argument in step.arguments),
                **{name: _fill(argument, values) for name, argument in step.keywords.items()},
            )
            _assign(step.results, given, values)
            for name in step.spent:
                del values[name]
        found = tuple(_fill(output, values) for output in self._outputs)
        return found[0] if len(found) == 1 else found


def read_program(path: Path) -> Program:
    """Read a .pt2 file that `torch.export.save` wrote.

    Args:
        path: The file.

    Returns:
        The program as a module, in evaluation mode.

    Raises:
        SSplainError: If it is not such a file, or does more than compute.

    Example:
        >>> read_program(Path("missing.pt2"))
        Traceback (most recent call last):
        ...
        ssplain.errors.SSplainError: missing.pt2 cannot be read (No such file or directory); ...
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return _Archive(archive).program().eval()
    except SSplainError as error:
        raise SSplainError(f"{path} cannot be run: {error}.") from error
    except (zipfile.BadZipFile, LookupError, TypeError, ValueError, AttributeError) as error:
        raise SSplainError(
            f"{path} is not a program of torch.export.save in torch 2.13 ({error!r}); export "
            "the model again with it."
        ) from error
    except OSError as error:
        raise SSplainError(f"{path} cannot be read ({error.strerror}); check the path.") from error
    except RuntimeError as error:
        raise SSplainError(
            f"{path} holds a damaged tensor ({error}); export the model again."
        ) from error


class _Archive:
    """The members of a .pt2 file that are read: JSON and raw tensors."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        (model,) = [name for name in archive.namelist() if "/models/" in name]
        self._root, _, file = model.partition("/models/")
        self._name = file.removesuffix(".json")

    def program(self) -> Program:
        graph = json.loads(self._read(f"models/{self._name}.json"))
        version = graph["schema_version"]["major"]
        if version != _SCHEMA:
            raise SSplainError(
                f"its format has version {version} instead of {_SCHEMA}; export the model again "
                "with torch 2.13"
            )
        return Program(graph, self._tensors("weights") | self._tensors("constants"))

    def _read(self, name: str) -> bytes:
        info = self._archive.getinfo(f"{self._root}/{name}")
        if info.compress_type != zipfile.ZIP_STORED:  # torch never packs; a bomb would
            raise SSplainError(f"its part {name} is compressed; export the model again")
        return self._archive.read(info)

    def _tensors(self, kind: str) -> dict[str, torch.Tensor]:
        config = json.loads(self._read(f"data/{kind}/{self._name}_{kind}_config.json"))["config"]
        return {name: self._tensor(kind, name, about) for name, about in config.items()}

    def _tensor(self, kind: str, name: str, about: dict[str, Any]) -> torch.Tensor:
        if about["use_pickle"] or about["tensor_meta"] is None:
            raise SSplainError(
                f"its {name!r} is pickled, which could run any code; export a model of plain "
                "tensors"
            )
        meta = about["tensor_meta"]
        dtype = _DTYPES[meta["dtype"]]
        sizes = [size["as_int"] for size in meta["sizes"]]
        strides = [stride["as_int"] for stride in meta["strides"]]
        raw = bytearray(self._read(f"data/{kind}/{about['path_name']}"))
        flat = torch.frombuffer(raw, dtype=dtype) if raw else torch.empty(0, dtype=dtype)
        tensor = flat.as_strided(sizes, strides, meta["storage_offset"]["as_int"])
        if about["is_param"]:
            return nn.Parameter(tensor, requires_grad=bool(meta["requires_grad"]))
        return tensor


def _steps(nodes: list[dict[str, Any]], keep: set[str]) -> list[_Step]:
    """Translate the nodes, last first, so that each step knows what is needed after it."""
    steps: list[_Step] = []
    needed = set(keep)
    for node in reversed(nodes):
        results = tuple(_value(output) for output in node["outputs"])
        if not results:
            continue  # an assertion about sizes
        call = _operator(node["target"])
        named = [(entry["name"], _value(entry["arg"])) for entry in node["inputs"]]
        sizes_only = node["target"] in _SIZES
        arguments = tuple(value for _, value in named) if sizes_only else ()
        keywords = {} if sizes_only else dict(named)
        used = _names(value for _, value in named) | _names(results)
        steps.append(_Step(call, arguments, keywords, results, tuple(used - needed)))
        needed |= used
    return steps[::-1]


def _operator(target: str) -> Callable[..., Any]:
    """Return the function that a node names, if all it can do is compute."""
    if target in _SIZES:
        return _SIZES[target]
    name, _, overload = target.removeprefix(_ATEN).partition(".")
    packet = getattr(torch.ops.aten, name, None) if target.startswith(_ATEN) else None
    call = getattr(packet, overload, None) if name.isidentifier() else None
    if isinstance(call, torch._ops.OpOverload):  # noqa: SLF001 - torch gives it no public name
        types = [str(argument.type) for argument in call._schema.arguments]  # noqa: SLF001
        # What takes text but no tensor reads or writes files: aten.from_file, aten.save.
        if not any("str" in kind for kind in types) or any("Tensor" in kind for kind in types):
            return call
    raise SSplainError(f"it uses {target!r}, which is not a tensor operator of ATen")


def _value(argument: dict[str, Any]) -> Any:  # noqa: ANN401 - tensors, numbers, lists
    """Turn a node's argument into a value with `_Name` wherever it refers to another."""
    ((kind, value),) = argument.items()
    if kind not in _KINDS:
        raise SSplainError(f"it has an argument {kind!r}, which is not a tensor or a number")
    return _KINDS[kind](value)


def _as_is(value: Any) -> Any:  # noqa: ANN401
    return value


def _each(values: list[dict[str, Any]]) -> list[Any]:
    return [_value(value) for value in values]


# how each kind of argument is understood
_KINDS: dict[str, Callable[[Any], Any]] = {
    "as_none": lambda _: None,
    "as_name": _Name,
    "as_tensor": lambda value: _Name(value["name"]),
    "as_tensors": lambda values: [_Name(value["name"]) for value in values],
    **dict.fromkeys(("as_int", "as_float", "as_bool", "as_string"), _as_is),
    **dict.fromkeys(("as_ints", "as_floats", "as_bools"), _as_is),
    **dict.fromkeys(("as_sym_int", "as_sym_float", "as_sym_bool", "as_optional_tensor"), _value),
    **dict.fromkeys(("as_sym_ints", "as_sym_floats", "as_sym_bools"), _each),
    "as_optional_tensors": _each,
    "as_scalar_type": _DTYPES.__getitem__,
    "as_memory_format": _MEMORY_FORMATS.__getitem__,
    "as_layout": _LAYOUTS.__getitem__,
    "as_device": lambda value: torch.device(value["type"], value["index"]),
}


def _names(values: Iterable[Any]) -> set[str]:
    flat = (part for value in values for part in (value if isinstance(value, list) else [value]))
    return {part.name for part in flat if isinstance(part, _Name)}


def _fill(value: Any, known: dict[str, Any]) -> Any:  # noqa: ANN401 - tensors, numbers, lists
    if isinstance(value, _Name):
        return known[value.name]
    return [_fill(part, known) for part in value] if isinstance(value, list) else value


def _assign(results: tuple[Any, ...], given: Any, known: dict[str, Any]) -> None:  # noqa: ANN401
    for result, value in zip(results, [given] if len(results) == 1 else given, strict=True):
        if isinstance(result, list):
            known.update((part.name, item) for part, item in zip(result, value, strict=True))
        elif result is not None:
            known[result.name] = value
