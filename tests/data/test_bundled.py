import os
from pathlib import Path

import numpy as np
import pytest
import torch

from ssplain.data.bundle import bundle
from ssplain.data.bundled import ASSETS, bundled
from ssplain.data.idx import load
from ssplain.errors import SSplainError

# The labels that the published test sets are known to start with.
FIRST = {"mnist": [7, 2, 1, 0, 4, 1, 4, 9, 5, 9], "fmnist": [9, 2, 1, 1, 6, 1, 4, 6, 5, 7]}


@pytest.mark.parametrize("name", list(FIRST))
def test_bundled_images_are_the_first_of_the_test_set(name: str) -> None:
    images, labels = bundled(name)
    assert images.shape == (500, 1, 28, 28)
    assert images.dtype == torch.float32
    assert images.amin((1, 2, 3)).tolist() == [0.0] * 500  # every background is exactly zero
    assert images.max() == 1
    assert labels.dtype == torch.int64
    assert labels[:10].tolist() == FIRST[name]


@pytest.mark.parametrize("name", list(FIRST))
def test_bundled_values_are_whole_steps_of_one_byte(name: str) -> None:
    steps = bundled(name)[0] * 255
    torch.testing.assert_close(steps, steps.round(), rtol=0, atol=1e-4)


def test_assets_need_no_pickle() -> None:
    for name in FIRST:
        with np.load(ASSETS / f"{name}.npz", allow_pickle=False) as stored:
            assert {key: stored[key].dtype.str for key in stored} == {
                "images": "|u1",
                "labels": "|u1",
            }


def test_unknown_names_are_told() -> None:
    with pytest.raises(SSplainError, match=r"'emnist'.*mnist, fmnist"):
        bundled("emnist")


@pytest.mark.skipif("SSPLAIN_DATA" not in os.environ, reason="SSPLAIN_DATA names no full sets")
@pytest.mark.parametrize("name", list(FIRST))
def test_bundle_makes_the_files_that_are_shipped(tmp_path: Path, name: str) -> None:
    made = bundle(name, None, tmp_path)
    assert made.read_bytes() == (ASSETS / f"{name}.npz").read_bytes()
    images, labels = load(name, split="test")
    torch.testing.assert_close(bundled(name)[0][:, 0], images[:500].float() / 255)
    assert torch.equal(bundled(name)[1], labels[:500])
