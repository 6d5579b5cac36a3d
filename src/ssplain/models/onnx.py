"""Models of other frameworks, as ONNX files: they answer, but have no gradient."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ssplain.ask.named import told_classes
from ssplain.errors import SSplainError

_TYPES = {
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
    "tensor(double)": np.float64,
}


class QueryOnly(nn.Module):
    """A model that answers and has no gradient, which counts what it is asked.

    Give it to explainers that need no gradient, to every measure, and to `SSplain`, which then
    takes its gradients from queries.

    Args:
        function: from a batch `(N, C, H, W)` to class values, a tensor or a NumPy array.
        image_channels: how many channels it takes, if that is known.

    Attributes:
        spent: how many images it has answered for.

    >>> model = QueryOnly(lambda x: x.flatten(1))
    >>> model(torch.ones(3, 1, 1, 2)).requires_grad, model.spent
    (False, 3)
    >>> QueryOnly(lambda x: x.flatten(1).numpy())(torch.ones(1, 1, 1, 2))  # as scikit-learn answers
    tensor([[1., 1.]])
    """

    answers_only = True  # asked in its own arithmetic, see `ssplain.ask.widen`

    def __init__(self, function: Any, image_channels: int | None = None) -> None:  # noqa: ANN401
        super().__init__()
        self.function, self.image_channels, self.spent = function, image_channels, 0
        self.classes = told_classes(function)
        self.eval()

    def forward(self, images: Tensor) -> Any:  # noqa: ANN401 - whatever the function returns
        """Return the function's answer, cut off from any graph."""
        self.spent += len(images)
        weight = next(self.parameters(), None)
        given = images.detach()
        if weight is not None and weight.is_floating_point():
            given = given.to(weight.dtype)
        with torch.no_grad():
            answer = self.function(given)
        return (
            torch.as_tensor(answer).to(images.device) if isinstance(answer, np.ndarray) else answer
        )


def is_query_only(model: object) -> bool:
    """Tell whether a model, or one inside it, answers without a gradient.

    >>> is_query_only(nn.Sequential(QueryOnly(len)))
    True
    """
    return isinstance(model, nn.Module) and any(isinstance(m, QueryOnly) for m in model.modules())


class OnnxModel(QueryOnly):
    """A classifier in an ONNX file, run by onnxruntime on the CPU.

    The file's first input takes the images; what it gives is returned by name, or as it is if there
    is one output only. A batch axis of fixed size is filled up.

    Args:
        path: the file.
    """

    digest: Tensor

    def __init__(self, path: str | Path) -> None:
        session = _session(Path(path))
        image, *others = session.get_inputs()
        if others or image.type not in _TYPES or len(image.shape) != 4:
            taken = ", ".join(f"{i.name} {i.type} {i.shape}" for i in session.get_inputs())
            raise SSplainError(
                f"{path} takes {taken}; a model of one batch of images (N, C, H, W) in floating-"
                "point numbers is needed."
            )
        batch, channels = (side if isinstance(side, int) else None for side in image.shape[:2])
        super().__init__(self._run, channels)
        self.session, self.batch = session, batch
        self.input, self.number = image.name, _TYPES[image.type]
        self.outputs = [output.name for output in session.get_outputs()]
        # part of the state, so that the model's fingerprint is the file's
        sha = hashlib.sha256(Path(path).read_bytes()).digest()
        self.register_buffer("digest", torch.frombuffer(bytearray(sha), dtype=torch.uint8))

    def _run(self, images: Tensor) -> Tensor | dict[str, Tensor]:
        given = images.cpu().numpy().astype(self.number)
        step = self.batch or len(given)
        parts = [self._some(given[i : i + step]) for i in range(0, len(given), step)]
        found = {
            name: torch.from_numpy(np.concatenate([part[name] for part in parts])).to(images)
            for name in self.outputs
        }
        return found[self.outputs[0]] if len(found) == 1 else found

    def _some(self, images: np.ndarray) -> dict[str, np.ndarray]:
        """Run one batch, filled up to the size that the file asks for."""
        missing = (self.batch or len(images)) - len(images)
        filled = np.pad(images, ((0, missing), (0, 0), (0, 0), (0, 0))) if missing else images
        try:
            found = self.session.run(self.outputs, {self.input: filled})
        except Exception as error:  # its errors share no public class
            raise RuntimeError(str(error).splitlines()[0]) from error
        return {
            name: np.atleast_1d(value)[: len(images)]
            for name, value in zip(self.outputs, found, strict=True)
        }


def _session(path: Path) -> Any:  # noqa: ANN401 - onnxruntime ships no types
    """Open a file, saying what is missing if that fails."""
    if not path.is_file():
        raise SSplainError(f"There is no ONNX file {path}; check the path.")
    try:
        import onnxruntime  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise SSplainError(
            "ONNX files need onnxruntime; install it with: pip install 'ssplain[onnx]'."
        ) from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(
            str(path), sess_options=options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:
        raise SSplainError(
            f"{path} is not a readable ONNX model ({str(error).splitlines()[0]}); export it again."
        ) from error
