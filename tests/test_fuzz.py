"""Whatever comes in, out comes a result or one sentence, and no foreign file is touched."""

import json
import tempfile
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor

from ssplain import SSplain, SSplainError
from ssplain.data import read_image
from ssplain.files import whole_folder
from ssplain.names import Folders, Source, common_folder
from tests.test_files import snapshot

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # Pillow's, of damaged tags

NAMES = st.text(st.characters(exclude_characters="/\0"), min_size=1, max_size=60)
HEADS = (b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0", b"II*\0", b"BM", b"MM\0*")
CONTENT = st.tuples(st.sampled_from(HEADS), st.binary(max_size=200)).map(b"".join)
TYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.bool)
SHAPES = st.lists(st.integers(0, 6), min_size=0, max_size=5)
ENDS = ("plain", "nan", "one", "none", "text", "three", "few", "raises", "detached", "probs")


def check_file(name: str, content: bytes) -> None:
    """Read a file of any name and content, and write a result for it beside a canary."""
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        canary = home / "out" / "canary"
        canary.mkdir(parents=True)
        (canary / "thesis.txt").write_text("years of work")
        (home / "in").mkdir()
        path = home / "in" / name
        try:
            path.write_bytes(content)
        except (OSError, UnicodeError):
            return  # the system itself does not take this name
        before = snapshot(home)
        try:
            assert read_image(path).dim() == 3
        except SSplainError as error:
            assert str(error)  # noqa: PT017 - either way is right
        try:
            source = Source.of(path)
            folder = Folders(home / "out", common_folder([path])).of(source)
            with whole_folder(folder) as temporary:
                (temporary / "manifest.json").write_text(json.dumps({"source": source.about()}))
            assert folder.parent == home / "out"
        except SSplainError as error:
            assert "canary" in str(error)  # noqa: PT017
        after = snapshot(home)
        assert {key: after.get(key) for key in before} == before


def model_that(end: str, images: Tensor) -> object:
    """Return what a model of some sort says."""
    values = images.flatten(1)[:, :3] * 7 - 2
    if end == "raises":
        raise ValueError("no")
    found: dict[str, object] = {
        "plain": values,
        "nan": values * float("nan"),
        "one": values[:, :1],
        "none": None,
        "text": "cat",
        "three": values[..., None],
        "few": values[:1],
        "detached": values.detach(),
        "probs": values.float().softmax(1),
    }
    return found[end]


def check_tensor(shape: list[int], kind: torch.dtype, end: str, scale: float) -> None:
    """Explain a tensor of any shape and type by a model of any sort."""
    images = (torch.ones(shape) * scale).to(kind)
    try:
        result = SSplain(lambda x: model_that(end, x), iterations=1).explain(images)
    except SSplainError as error:
        assert str(error)  # noqa: PT017
    else:
        assert bool(torch.isfinite(result.scores).all())


FILES = given(NAMES, CONTENT)
TENSORS = given(
    SHAPES,
    st.sampled_from(TYPES),
    st.sampled_from(ENDS),
    st.sampled_from((0.0, 0.5, 1.0, 255.0, -1.0, float("inf"))),
)
QUIET = {"deadline": None, "suppress_health_check": list(HealthCheck)}


@settings(max_examples=100, **QUIET)  # type: ignore[arg-type]
@FILES
def test_files(name: str, content: bytes) -> None:
    check_file(name, content)


@settings(max_examples=100, **QUIET)  # type: ignore[arg-type]
@TENSORS
def test_tensors(shape: list[int], kind: torch.dtype, end: str, scale: float) -> None:
    check_tensor(shape, kind, end, scale)


@pytest.mark.slow
@settings(max_examples=1000, **QUIET)  # type: ignore[arg-type]
@FILES
def test_many_files(name: str, content: bytes) -> None:
    check_file(name, content)


@pytest.mark.slow
@settings(max_examples=1000, **QUIET)  # type: ignore[arg-type]
@TENSORS
def test_many_tensors(shape: list[int], kind: torch.dtype, end: str, scale: float) -> None:
    check_tensor(shape, kind, end, scale)
