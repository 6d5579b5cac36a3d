"""Tests of reading a user's own ROP images: good ones, bad ones, and who goes on which side."""

import os
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from ssplain.data.rop_folder import ROPFolder, read_rop, read_segmentation
from ssplain.errors import SSplainError
from ssplain.simulate.eye import simulate

BYTES = [np.rint(255 * simulate(seed=2, index=i).image).astype(np.uint8) for i in range(3)]


def _save(values: np.ndarray, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(values).save(path)
    return path


@pytest.fixture
def good(tmp_path: Path) -> Path:
    for name, values in zip(("Normal", "pre_plus", "PLUS"), BYTES, strict=True):
        _save(values, tmp_path / name / "a.png")
    return tmp_path


def test_folders_name_the_classes_in_any_spelling(good: Path) -> None:
    read = read_rop(good)
    assert sorted(read.labels.tolist()) == [0, 1, 2]
    for image, label in zip(read.images, read.labels.tolist(), strict=True):
        np.testing.assert_array_equal(image[0], BYTES[label])
    assert read.refused == ()
    assert read.report() == "3 images of 3 infants read: 1 Normal, 1 Pre-plus, 1 Plus."


def test_folders_within_a_class_are_infants(tmp_path: Path) -> None:
    for path in ("plus/anna/od.png", "plus/anna/os.png", "normal/ben/od.png", "normal/x.png"):
        _save(BYTES[0], tmp_path / path)
    infants = dict(
        zip((str(p) for p in read_rop(tmp_path).paths), read_rop(tmp_path).infants, strict=True)
    )
    assert infants == {
        str(tmp_path / "plus/anna/od.png"): "anna",
        str(tmp_path / "plus/anna/os.png"): "anna",
        str(tmp_path / "normal/ben/od.png"): "ben",
        str(tmp_path / "normal/x.png"): str(tmp_path / "normal/x.png"),
    }


def test_a_table_gives_labels_infants_and_eyes(good: Path) -> None:
    table = good / "table.csv"
    table.write_text(
        "path,label,infant,eye\nNormal/a.png,normal,anna,left\nPLUS/a.png,2,anna,right\n",
        encoding="utf-8",
    )
    read = read_rop(table)
    assert read.labels.tolist() == [0, 2]
    assert read.infants == ("anna", "anna")
    assert read.eyes == ("left", "right")


def test_a_bad_row_is_named_and_the_rest_goes_on(good: Path) -> None:
    table = good / "table.csv"
    table.write_text(
        "path,label\nNormal/a.png,healthy\nnone.png,plus\nPLUS/a.png,plus\n", encoding="utf-8"
    )
    read = read_rop(table)
    assert read.labels.tolist() == [2]
    first, second = read.refused
    assert "line 2: the label 'healthy' is unknown" in first.reason
    assert "none.png does not exist" in second.reason
    assert "2 refused:" in read.report()


def test_each_bad_file_is_named_and_the_rest_goes_on(good: Path) -> None:
    whole = (good / "PLUS" / "a.png").read_bytes()
    (good / "PLUS" / "cut.png").write_bytes(whole[: len(whole) // 2])
    (good / "PLUS" / "empty.png").touch()
    (good / "PLUS" / "text.png").write_text("not an image", encoding="utf-8")
    (good / "PLUS" / "notes.txt").write_text("notes", encoding="utf-8")
    _save(np.zeros((50, 50), np.uint8), good / "PLUS" / "black.png")
    _save(np.full((50, 50, 3), (150, 80, 40), np.uint8), good / "PLUS" / "photograph.jpg")
    (good / "severe").mkdir()
    (good / "normal").mkdir(exist_ok=True)
    read = read_rop(good)
    assert len(read.labels) == 3
    reasons = {refused.path.name: refused.reason for refused in read.refused}
    expected = {
        "cut.png": "damaged",
        "empty.png": "is empty",
        "text.png": "is not an image",
        "notes.txt": "not an image of a known kind",
        "black.png": "black all over",
        "photograph.jpg": "looks like a fundus photograph; segment its vessels first",
        "severe": "names no class",
        "normal": "holds no images",
    }
    assert reasons.keys() == expected.keys()
    for name, reason in expected.items():
        assert reason in reasons[name]


def test_a_decompression_bomb_is_refused_without_being_opened(good: Path) -> None:
    bomb = good / "PLUS" / "bomb.png"
    Image.new("1", (20_000, 20_000)).save(bomb)
    (refused,) = read_rop(good).refused
    assert refused.path == bomb
    assert "million pixels" in refused.reason


def test_large_images_shrink_with_their_thin_vessels_and_black_ground(tmp_path: Path) -> None:
    large = np.zeros((896, 896), np.uint8)
    large[:, 400:404] = 255
    image = read_segmentation(_save(large, tmp_path / "a.tif"))
    assert image.shape == (1, 224, 224)
    assert (image[0, :, 100] > 150).all()
    assert (image[0, :, :98] == 0).all()
    assert (image[0, :, 104:] == 0).all()


def test_what_compression_leaves_on_the_ground_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    Image.fromarray(BYTES[0]).save(path, quality=90)
    stored = np.asarray(Image.open(path))
    assert ((stored > 0) & (BYTES[0] == 0)).mean() > 0.01  # JPEG has soiled the ground
    image = read_segmentation(path)[0].numpy()
    far = np.ones((224, 224), bool)
    row, column = np.nonzero(BYTES[0])
    for dy in range(-8, 9):
        for dx in range(-8, 9):
            far[np.clip(row + dy, 0, 223), np.clip(column + dx, 0, 223)] = False
    assert (image[far] == 0).all()


def test_coloured_vessels_on_black_are_refused(tmp_path: Path) -> None:
    red = np.zeros((64, 64, 3), np.uint8)
    red[30:33, :, 0] = 255
    with pytest.raises(SSplainError, match="has colours"):
        read_segmentation(_save(red, tmp_path / "red.png"))


def _infants(per_class: int) -> ROPFolder:
    """Three images of each infant; the first of each is less ill than the others."""
    labels = [max(0, c - (i == 0)) for c in range(3) for _ in range(per_class) for i in range(3)]
    names = [f"{c}-{n}" for c in range(3) for n in range(per_class) for _ in range(3)]
    count = len(names)
    return ROPFolder(
        images=torch.zeros(count, 1, 2, 2, dtype=torch.uint8),
        labels=torch.tensor(labels),
        infants=tuple(names),
        eyes=("",) * count,
        paths=(Path(),) * count,
        refused=(),
    )


def test_splits_cut_no_infant_in_two_and_have_every_class() -> None:
    folder = _infants(20)
    sides = folder.split((0.2, 0.1), seed=3)
    assert sorted(torch.cat(sides).tolist()) == list(range(180))
    owners = [{folder.infants[i] for i in side.tolist()} for side in sides]
    assert [len(owner) for owner in owners] == [42, 12, 6]
    assert not owners[0] & owners[1] | owners[0] & owners[2] | owners[1] & owners[2]
    for owner, each in zip(owners, (14, 4, 2), strict=True):
        assert [sum(name.startswith(str(c)) for name in owner) for c in range(3)] == [each] * 3
    assert all(torch.equal(a, b) for a, b in zip(sides, folder.split((0.2, 0.1), 3), strict=True))
    assert not torch.equal(sides[2], folder.split((0.2, 0.1), seed=4)[2])


def test_too_few_infants_are_named() -> None:
    with pytest.raises(SSplainError, match="3 infants are too few"):
        _infants(1).split()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: path / "none", "There is no folder or table"),
        (lambda path: path, "holds no image that can be used"),
    ],
)
def test_nothing_to_read_is_an_error(tmp_path: Path, make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(SSplainError, match=message):
        read_rop(make(tmp_path))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"file,grade\na.png,plus\n", "lacks the columns path and label"),
        (b"", "lacks the columns path and label"),
        (b"path,label\n\xff\xfe\x00", "is not a readable CSV table"),
    ],
)
def test_a_table_that_is_none_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    table = tmp_path / "table.csv"
    table.write_bytes(content)
    with pytest.raises(SSplainError, match=message):
        read_rop(table)


@pytest.mark.skipif("SSPLAIN_DATA" not in os.environ, reason="SSPLAIN_DATA names no data folder")
def test_real_masks_are_read_and_real_photographs_refused() -> None:
    home = Path(os.environ["SSPLAIN_DATA"]) / "hvdropdb"
    for path in sorted((home / "retcam_mask").glob("*.png"))[::10]:
        assert read_segmentation(path).any()
    for path in sorted((home / "retcam_rgb").glob("*.png")):
        with pytest.raises(SSplainError, match="looks like a fundus photograph"):
            read_segmentation(path)
