"""Tests of the simulated data set."""

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from ssplain.data.simulated import SERIES, SimulatedROP, read_mask, turn_and_flip
from ssplain.errors import SSplainError
from ssplain.simulate.eye import simulate


def test_items_and_tensors_agree() -> None:
    images = SimulatedROP("validation", 4)
    stored, labels = images.tensors()
    assert len(images) == 4
    for i in range(4):
        image, label = images[i]
        assert torch.equal(stored[i].float() / 255, image)
        assert label == labels[i] == i % 3


def test_processes_do_not_change_the_images() -> None:
    one, _ = SimulatedROP("train", 3).tensors(workers=1)
    two, _ = SimulatedROP("train", 3).tensors(workers=2)
    assert torch.equal(one, two)


def test_splits_share_no_image() -> None:
    first = [SimulatedROP(split, 1)[0][0] for split in SERIES]
    assert len(set(SERIES.values())) == len(SERIES)
    assert not any(torch.equal(a, b) for i, a in enumerate(first) for b in first[:i])


def test_kept_images_are_read_again_only_if_they_are_the_same(tmp_path: Path) -> None:
    keep = tmp_path / "images.npz"
    made: list[int] = []
    first = SimulatedROP("test", 2).tensors(keep, progress=made.append)
    again = SimulatedROP("test", 2).tensors(keep, progress=made.append)
    assert made == [1, 2]
    assert torch.equal(first[0], again[0])
    assert torch.equal(first[1], again[1])
    assert len(SimulatedROP("test", 3).tensors(keep)[1]) == 3
    other = SimulatedROP("train", 3).tensors(keep)[0]
    assert torch.equal(other[0].float() / 255, SimulatedROP("train", 1)[0][0])
    assert list(tmp_path.iterdir()) == [keep]


def test_mistakes_are_named() -> None:
    with pytest.raises(SSplainError, match="no split 'dev'; choose one of: train, validation"):
        SimulatedROP("dev", 3)
    with pytest.raises(SSplainError, match="Cannot simulate 0 images"):
        SimulatedROP("test", 0)
    with pytest.raises(IndexError):
        SimulatedROP("test", 3)[3]


def test_turning_and_flipping_gives_all_eight_symmetries_and_nothing_else() -> None:
    image = torch.arange(9.0).reshape(1, 1, 3, 3)
    turned = turn_and_flip(image.repeat(200, 1, 1, 1), torch.Generator().manual_seed(0))
    plane = image[0, 0].numpy()
    expected = {np.rot90(side, turns).tobytes() for side in (plane, plane.T) for turns in range(4)}
    assert {one[0].numpy().tobytes() for one in turned} == expected


def test_turning_and_flipping_repeats_with_its_generator_and_keeps_the_input() -> None:
    images = torch.rand(6, 1, 5, 5)
    before = images.clone()
    one, two = (turn_and_flip(images, torch.Generator().manual_seed(3)) for _ in range(2))
    assert torch.equal(one, two)
    assert torch.equal(images, before)


@pytest.fixture
def trees(tmp_path: Path) -> Path:
    folder = tmp_path / "masks"
    folder.mkdir()
    for i in range(5):
        mask = np.rint(255 * simulate(seed=1, index=i).image).astype(np.uint8)
        Image.fromarray(mask[28:196]).save(folder / f"{i}.png")
    return folder


def test_no_tree_is_in_two_splits(trees: Path) -> None:
    masks = {split: SimulatedROP(split, 3, trees)._masks for split in SERIES}
    assert {split: len(found) for split, found in masks.items()} == {
        "train": 3,
        "validation": 1,
        "test": 1,
    }
    every = [mask.tobytes() for found in masks.values() for mask in found]
    assert len(set(every)) == 5


def test_every_class_is_planted_on_every_tree(trees: Path) -> None:
    images, labels = SimulatedROP("train", 9, trees).tensors()
    assert labels.tolist() == [0, 1, 2] * 3
    first, second = images[0] > 0, images[3] > 0
    # Normal and Pre-plus of one tree lie mostly on each other, those of two trees do not.
    assert (first & (images[1] > 0)).sum() > 2 * (first & second).sum()


def test_kept_images_of_trees_are_not_taken_for_others(trees: Path, tmp_path: Path) -> None:
    keep = tmp_path / "images.npz"
    grown = SimulatedROP("test", 1).tensors(keep)[0]
    assert not torch.equal(grown, SimulatedROP("test", 1, trees).tensors(keep)[0])


def test_folders_without_masks_are_named(tmp_path: Path) -> None:
    with pytest.raises(SSplainError, match="There is no folder"):
        SimulatedROP("test", 1, tmp_path / "none").truth(0)
    with pytest.raises(SSplainError, match=r"holds 0 masks .* give at least 5"):
        SimulatedROP("test", 1, tmp_path).truth(0)


def test_masks_keep_their_shape_and_colour_is_refused(tmp_path: Path) -> None:
    wide = np.zeros((480, 640), np.uint8)
    wide[230:250] = 255
    Image.fromarray(wide).save(tmp_path / "wide.png")
    mask = read_mask(tmp_path / "wide.png")
    assert np.flatnonzero(mask.any(axis=1)).tolist() == list(range(108, 116))
    Image.new("RGB", (64, 64), (255, 0, 0)).save(tmp_path / "red.png")
    with pytest.raises(SSplainError, match="has colours"):
        read_mask(tmp_path / "red.png")
