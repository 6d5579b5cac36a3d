"""LeNet-5 as an ONNX file, written node by node."""

from pathlib import Path
from typing import Any

import onnx
from onnx import TensorProto, helper, numpy_helper

import ssplain

_LAYERS: tuple[tuple[str, str | None, dict[str, Any]], ...] = (
    ("Conv", "conv1", {"pads": [2, 2, 2, 2]}),
    ("Tanh", None, {}),
    ("AveragePool", None, {"kernel_shape": [2, 2], "strides": [2, 2]}),
    ("Conv", "conv2", {}),
    ("Tanh", None, {}),
    ("AveragePool", None, {"kernel_shape": [2, 2], "strides": [2, 2]}),
    ("Flatten", None, {}),
    ("Gemm", "full1", {"transB": 1}),
    ("Tanh", None, {}),
    ("Gemm", "full2", {"transB": 1}),
    ("Tanh", None, {}),
    ("Gemm", "full3", {"transB": 1}),
)


def write_lenet(
    path: Path, batch: int | str = "n", name: str = "lenet5-mnist", *, second: bool = False
) -> Path:
    """Write the bundled network; `second` adds an output that is not the classes."""
    weights = ssplain.models.load(name).state_dict()
    nodes, tensors, at = [], [], "images"
    for i, (kind, layer, attributes) in enumerate(_LAYERS):
        inputs = [at]
        if layer is not None:
            for part in ("weight", "bias"):
                key = f"{layer}.{part}"
                tensors.append(numpy_helper.from_array(weights[key].numpy(), key))
                inputs.append(key)
        at = "classes" if i == len(_LAYERS) - 1 else f"t{i}"
        nodes.append(helper.make_node(kind, inputs, [at], **attributes))
    outputs = [helper.make_tensor_value_info("classes", TensorProto.FLOAT, [batch, 10])]
    if second:
        nodes.append(helper.make_node("ReduceMean", ["t6"], ["mean"], keepdims=0))
        outputs.append(helper.make_tensor_value_info("mean", TensorProto.FLOAT, []))
    image = helper.make_tensor_value_info("images", TensorProto.FLOAT, [batch, 1, 28, 28])
    graph = helper.make_graph(nodes, "lenet", [image], outputs, tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, str(path))
    return path
