"""Tests of the simulated data set."""

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from ssplain.data.simulated import SERIES, SimulatedROP, in_steps, read_mask
from ssplain.errors import SSplainError
from ssplain.simulate.eye import simulate


def test_items_and_tensors_agree() -> None:
    images = SimulatedROP("validation", 4)
    stored = images.examples()
    assert len(images) == 4
    for i in range(4):
        image, label = images[i]
        assert torch.equal(stored.images[i].float() / 255, image)
        assert label == stored.labels[i] == i % 3
        truth = images.truth(i)
        assert stored.amounts[i] == pytest.approx(truth.amount)
        planted = torch.from_numpy(truth.relevance).clamp(max=255 / 128)
        assert torch.allclose(stored.relevance[i, 0] / 128, planted, atol=1 / 256)


def test_processes_do_not_change_the_images() -> None:
    one, two = (SimulatedROP("train", 3).examples(workers=workers) for workers in (1, 2))
    assert all(torch.equal(a, b) for a, b in zip(one, two, strict=True))


def test_series_can_be_joined() -> None:
    one, two = SimulatedROP("test", 2).examples(), SimulatedROP("train", 1).examples()
    both = one.and_then(two)
    assert len(both.images) == len(both.labels) == len(both.amounts) == len(both.relevance) == 3
    assert torch.equal(both.images[2], two.images[0])


def test_splits_share_no_image() -> None:
    first = [SimulatedROP(split, 1)[0][0] for split in SERIES]
    assert len(set(SERIES.values())) == len(SERIES)
    assert not any(torch.equal(a, b) for i, a in enumerate(first) for b in first[:i])


def test_kept_images_are_read_again_only_if_they_are_the_same(tmp_path: Path) -> None:
    keep = tmp_path / "images.npz"
    made: list[int] = []
    first = SimulatedROP("test", 2).examples(keep, progress=made.append)
    again = SimulatedROP("test", 2).examples(keep, progress=made.append)
    assert made == [1, 2]
    assert torch.equal(first[0], again[0])
    assert torch.equal(first[1], again[1])
    assert len(SimulatedROP("test", 3).examples(keep)[1]) == 3
    other = SimulatedROP("train", 3).examples(keep)[0]
    assert torch.equal(other[0].float() / 255, SimulatedROP("train", 1)[0][0])
    assert list(tmp_path.iterdir()) == [keep]


def test_mistakes_are_named() -> None:
    with pytest.raises(SSplainError, match="no split 'dev'; choose one of: train, validation"):
        SimulatedROP("dev", 3)
    with pytest.raises(SSplainError, match="Cannot simulate 0 images"):
        SimulatedROP("test", 0)
    with pytest.raises(IndexError):
        SimulatedROP("test", 3)[3]


@pytest.fixture
def trees(tmp_path: Path) -> Path:
    folder = tmp_path / "masks"
    folder.mkdir()
    for i in range(5):
        mask = (255 * (simulate(seed=1, index=i).image > 0)).astype(np.uint8)
        Image.fromarray(mask[28:196]).save(folder / f"{i}.png")
    return folder


def test_no_tree_is_in_two_splits(trees: Path) -> None:
    masks = {split: SimulatedROP(split, 3, (trees,))._masks for split in SERIES}
    assert {split: len(found) for split, found in masks.items()} == {
        "train": 3,
        "validation": 1,
        "test": 1,
    }
    every = [mask.tobytes() for found in masks.values() for mask in found]
    assert len(set(every)) == 5


def test_every_class_is_planted_on_every_tree(trees: Path) -> None:
    images, labels, *_ = SimulatedROP("train", 9, (trees,)).examples()
    assert labels.tolist() == [0, 1, 2] * 3
    first, second = images[0] > 0, images[3] > 0
    # Normal and Pre-plus of one tree lie mostly on each other, those of two trees do not.
    assert (first & (images[1] > 0)).sum() > 2 * (first & second).sum()


def test_kept_images_of_trees_are_not_taken_for_others(trees: Path, tmp_path: Path) -> None:
    keep = tmp_path / "images.npz"
    grown = SimulatedROP("test", 1).examples(keep)[0]
    assert not torch.equal(grown, SimulatedROP("test", 1, (trees,)).examples(keep)[0])


def test_folders_without_masks_are_named(tmp_path: Path) -> None:
    with pytest.raises(SSplainError, match="There is no folder"):
        SimulatedROP("test", 1, (tmp_path / "none",)).truth(0)
    with pytest.raises(SSplainError, match=r"holds 0 masks .* give at least 5"):
        SimulatedROP("test", 1, (tmp_path,)).truth(0)


def test_masks_keep_their_shape_and_colour_is_refused(tmp_path: Path) -> None:
    wide = np.zeros((480, 640), np.uint8)
    wide[230:250] = 255
    Image.fromarray(wide).save(tmp_path / "wide.png")
    mask = read_mask(tmp_path / "wide.png")
    assert np.flatnonzero(mask.any(axis=1)).tolist() == list(range(108, 116))
    Image.new("RGB", (64, 64), (255, 0, 0)).save(tmp_path / "red.png")
    with pytest.raises(SSplainError, match="has colours"):
        read_mask(tmp_path / "red.png")


def test_strength_is_stored_in_steps_and_cut_off_where_bytes_end() -> None:
    assert in_steps(np.array([0, 1 / 128, 1, 5], np.float32)).tolist() == [0, 1, 128, 255]
