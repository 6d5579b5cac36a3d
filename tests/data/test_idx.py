import gzip
import os
import struct
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from ssplain.data.idx import CLASSES, load, read_idx
from ssplain.errors import SSplainError


def pack(values: np.ndarray) -> bytes:
    """Write IDX as its description says, independently of the reader."""
    sizes = b"".join(struct.pack(">i", size) for size in values.shape)
    return b"\x00\x00\x08" + bytes([values.ndim]) + sizes + values.astype(np.uint8).tobytes("C")


def write_set(
    folder: Path, count: int = 6, prefix: str = "train", ending: str = "", seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    images = rng.integers(0, 256, (count, 28, 28), dtype=np.uint8)
    labels = rng.integers(0, 10, count, dtype=np.uint8)
    folder.mkdir(parents=True, exist_ok=True)
    for name, values in (("images-idx3", images), ("labels-idx1", labels)):
        content = gzip.compress(pack(values), mtime=0) if ending else pack(values)
        (folder / f"{prefix}-{name}-ubyte{ending}").write_bytes(content)
    return images, labels


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize(("split", "prefix"), [("train", "train"), ("test", "t10k")])
def test_load_returns_what_was_written(
    tmp_path: Path, ending: str, split: str, prefix: str
) -> None:
    images, labels = write_set(tmp_path, prefix=prefix, ending=ending)
    found_images, found_labels = load("mnist", tmp_path, split)  # type: ignore[arg-type]
    assert found_images.dtype == torch.uint8
    assert found_labels.dtype == torch.int64
    np.testing.assert_array_equal(found_images.numpy(), images)
    np.testing.assert_array_equal(found_labels.numpy(), labels)


def test_each_set_has_its_own_folder(tmp_path: Path) -> None:
    digits, _ = write_set(tmp_path / "mnist", seed=1)
    clothes, _ = write_set(tmp_path / "fashion-mnist", seed=2)
    np.testing.assert_array_equal(load("mnist", tmp_path)[0].numpy(), digits)
    np.testing.assert_array_equal(load("fmnist", tmp_path)[0].numpy(), clothes)


def test_folder_may_come_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    images, _ = write_set(tmp_path)
    monkeypatch.setenv("SSPLAIN_DATA", str(tmp_path))
    np.testing.assert_array_equal(load("mnist")[0].numpy(), images)
    monkeypatch.delenv("SSPLAIN_DATA")
    with pytest.raises(SSplainError, match="SSPLAIN_DATA"):
        load("mnist")


@given(arrays.arrays(np.uint8, arrays.array_shapes(min_dims=1, max_dims=3, max_side=4)))
def test_any_array_comes_back(tmp_path_factory: pytest.TempPathFactory, values: np.ndarray) -> None:
    path = tmp_path_factory.mktemp("idx") / "values"
    path.write_bytes(pack(values))
    np.testing.assert_array_equal(read_idx(path, values.ndim), values)


@given(data=st.data())
def test_a_file_cut_anywhere_is_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    whole = pack(np.arange(24).reshape(2, 3, 4))
    packed = data.draw(st.booleans())
    whole = gzip.compress(whole, mtime=0) if packed else whole
    path = tmp_path_factory.mktemp("idx") / "values"
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
    with pytest.raises(SSplainError, match="values"):
        read_idx(path, 3)


GOOD = pack(np.arange(10))
PACKED = gzip.compress(GOOD, mtime=0)  # without the time: test names must not depend on it


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "nothing instead of the two zero bytes"),
        (b"P5 28 28", "50 35 20 32 instead of the two zero bytes"),
        (b"\0\0\x0d" + GOOD[3:], "type 0x0d"),
        (pack(np.zeros((2, 2, 2))), "3 dimension"),
        (GOOD + b"!", "10 = 10 bytes of data but holds more"),
        (GOOD[:-1], "10 = 10 bytes of data but holds only 9"),
        (b"\0\0\x08\x01\xff\xff\xff\xff", "4294967295 bytes of data but holds only 0"),
        (PACKED[:-6], "damaged gzip"),
        (PACKED[:12] + b"????" + PACKED[16:], "damaged gzip"),
    ],
)
def test_each_fault_is_named_with_the_file(tmp_path: Path, content: bytes, complaint: str) -> None:
    path = tmp_path / "labels"
    path.write_bytes(content)
    with pytest.raises(SSplainError, match=complaint) as caught:
        read_idx(path, 1)
    assert str(path) in str(caught.value)
    assert str(caught.value).endswith(".")


def test_a_folder_in_place_of_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SSplainError, match="cannot be read"):
        read_idx(tmp_path, 1)


def test_counts_of_images_and_labels_must_agree(tmp_path: Path) -> None:
    write_set(tmp_path, count=6)
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(pack(np.zeros(5)))
    with pytest.raises(SSplainError, match=r"6 images but .* 5 labels"):
        load("mnist", tmp_path)


def test_an_empty_set_is_refused(tmp_path: Path) -> None:
    write_set(tmp_path, count=0)
    with pytest.raises(SSplainError, match="0 images"):
        load("mnist", tmp_path)


def test_other_image_sizes_are_refused(tmp_path: Path) -> None:
    write_set(tmp_path)
    (tmp_path / "train-images-idx3-ubyte").write_bytes(pack(np.zeros((6, 32, 28))))
    with pytest.raises(SSplainError, match="32x28"):
        load("mnist", tmp_path)


def test_labels_beyond_the_classes_are_refused(tmp_path: Path) -> None:
    write_set(tmp_path, count=1)
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(pack(np.array([10])))
    with pytest.raises(SSplainError, match="label 10"):
        load("mnist", tmp_path)


def test_unknown_names_and_missing_files_are_told(tmp_path: Path) -> None:
    with pytest.raises(SSplainError, match=r"'cifar'.*mnist, fmnist"):
        load("cifar", tmp_path)
    with pytest.raises(SSplainError, match=r"'validation'.*train, test"):
        load("mnist", tmp_path, "validation")  # type: ignore[arg-type]
    with pytest.raises(SSplainError, match=r"train-images-idx3-ubyte.*fashion-mnist"):
        load("fmnist", tmp_path)


@pytest.mark.skipif("SSPLAIN_DATA" not in os.environ, reason="SSPLAIN_DATA names no full sets")
@pytest.mark.parametrize("dataset", list(CLASSES))
def test_the_full_sets_are_whole(dataset: str) -> None:
    for split, count in (("train", 60_000), ("test", 10_000)):
        images, labels = load(dataset, split=split)  # type: ignore[arg-type]
        assert images.shape == (count, 28, 28)
        assert torch.unique(labels).tolist() == list(range(10))
