"""Tests of the simulated data set."""

from pathlib import Path

import numpy as np
import pytest
import torch

from ssplain.data.simulated import SERIES, SimulatedROP, turn_and_flip
from ssplain.errors import SSplainError


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
