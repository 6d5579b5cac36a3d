import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import ssplain
from ssplain import SSplain, SSplainError, metrics
from ssplain.explain.registry import method, names
from ssplain.models import QueryOnly, load
from ssplain.models.fingerprint import fingerprint
from tests.models.onnx_files import write_lenet

NET = load("lenet5-mnist")
IMAGES, LABELS = (values[:6] for values in ssplain.data.bundled("mnist"))


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_lenet(tmp_path_factory.mktemp("onnx") / "lenet.onnx")


@pytest.mark.parametrize("batch", ["n", 1, 4])
def test_it_answers_as_the_network_does(tmp_path: Path, batch: int | str) -> None:
    model = load(write_lenet(tmp_path / "lenet.onnx", batch))
    torch.testing.assert_close(model(IMAGES), NET(IMAGES).detach(), atol=1e-5, rtol=1e-5)
    assert isinstance(model, QueryOnly)
    assert model.spent == 6


@pytest.mark.parametrize("name", [n for n in names() if not method(n).needs_gradient])
def test_explainers_without_gradient_give_the_same_maps(name: str, file: Path) -> None:
    settings: dict[str, Any] = {
        "occlusion": {"window": 7, "stride": 7},
        "lime": {"samples": 30},
        "kernel-shap": {"samples": 30},
    }.get(name, {})
    ours = ssplain.explain.make(name, NET, **settings).attribute(IMAGES[:2], LABELS[:2])
    theirs = ssplain.explain.make(name, load(file), **settings).attribute(IMAGES[:2], LABELS[:2])
    torch.testing.assert_close(ours, theirs, atol=2e-3, rtol=1e-3)


def test_measures_take_it(file: Path) -> None:
    maps = ssplain.explain.make("intensity", NET).attribute(IMAGES)
    ours, theirs = (
        metrics.insertion_deletion(model, IMAGES, LABELS, maps, axis="support")
        for model in (NET, load(file))
    )
    assert theirs.insertion.area == pytest.approx(ours.insertion.area, abs=1e-4)
    assert theirs.deletion.area == pytest.approx(ours.deletion.area, abs=1e-4)


def test_what_needs_a_gradient_says_so(file: Path) -> None:
    with pytest.raises(SSplainError, match=r"has no gradient.*occlusion"):
        ssplain.explain.make("saliency", load(file)).attribute(IMAGES)


def test_several_outputs_have_names(tmp_path: Path) -> None:
    model = load(write_lenet(tmp_path / "two.onnx", second=True))
    with pytest.raises(SSplainError, match="'classes', 'mean'"):
        SSplain(model).attribute(IMAGES)
    maps = ssplain.explain.make("occlusion", model, output="classes", window=14, stride=14)
    assert maps.attribute(IMAGES[:1]).shape == (1, 1, 28, 28)


def test_a_fingerprint_follows_the_file(file: Path, tmp_path: Path) -> None:
    other = write_lenet(tmp_path / "other.onnx", name="lenet5-fmnist")
    assert fingerprint(load(file)) == fingerprint(load(file))
    assert fingerprint(load(file)) != fingerprint(load(other))


def test_bad_files_are_told(tmp_path: Path) -> None:
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"not a model")
    with pytest.raises(SSplainError, match=r"broken\.onnx is not a readable ONNX model"):
        load(broken)
    with pytest.raises(SSplainError, match="There is no ONNX file"):
        load(tmp_path / "missing.onnx")


def test_without_onnxruntime_the_extra_is_named(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(SSplainError, match=r"pip install 'ssplain\[onnx\]'"):
        load(file)


def test_a_function_of_arrays_is_wrapped_as_it_is() -> None:
    """As scikit-learn's `predict_proba` is: arrays in double precision, not tensors."""

    def answer(images: torch.Tensor) -> np.ndarray[Any, Any]:
        probabilities: np.ndarray[Any, Any] = net(images.double()).softmax(1).numpy()
        return probabilities

    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(784, 3)).double()
    found, expected = (
        ssplain.explain.make("occlusion", model).attribute(IMAGES, 1)
        for model in (QueryOnly(answer), QueryOnly(lambda x: torch.from_numpy(answer(x))))
    )
    assert torch.equal(found, expected)
    assert SSplain(QueryOnly(answer), iterations=1, queries=2).attribute(IMAGES).any()
    for bare in (answer, lambda x: torch.as_tensor(x.flatten(1).numpy())):  # array, and on the way
        with pytest.raises(SSplainError, match=r"wrap it in ssplain\.models\.QueryOnly"):
            SSplain(bare).attribute(IMAGES)
