"""Tests of writing the bundled fundus images and reading their truth."""

from pathlib import Path

import numpy as np
import pytest

from ssplain.data import rop_truth
from ssplain.data.bundle_rop import bundle_rop
from ssplain.data.rop_truth import IMAGES, bundled_truth
from ssplain.data.simulated import SimulatedROP
from ssplain.errors import SSplainError


def test_what_is_written_is_what_was_simulated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle_rop(tmp_path, count=3)
    monkeypatch.setattr(rop_truth, "FOLDER", tmp_path)
    truth = bundled_truth("rop")
    with np.load(tmp_path / IMAGES) as stored:
        images, labels = stored["images"], stored["labels"]
    assert labels.tolist() == [0, 1, 2]
    for i in range(3):
        fundus = SimulatedROP("test", 3).truth(i)
        np.testing.assert_array_equal(images[i].astype(np.float32) / 255, fundus.image)
        np.testing.assert_array_equal(truth.branch_ids[i], fundus.branch_ids)
        np.testing.assert_allclose(truth.relevance[i, 0], fundus.relevance, atol=1 / 256)
        assert truth.eyes[i] == fundus.eye
        for read, known in zip(truth.branches[i], fundus.branches, strict=True):
            assert (read.kind, read.parent, read.quadrant) == (
                known.kind,
                known.parent,
                known.quadrant,
            )
            assert read.diseased == known.diseased
            assert read.arc_over_chord == pytest.approx(known.arc_over_chord, rel=1e-4)
            assert read.severity == pytest.approx(known.severity, rel=1e-4)


def test_the_bundled_truth_belongs_to_the_bundled_images() -> None:
    truth = bundled_truth("rop")
    with np.load(rop_truth.FOLDER / IMAGES) as stored:
        images, labels = stored["images"], stored["labels"]
    assert np.bincount(labels).tolist() == [34, 33, 33]
    vessels, lit = truth.branch_ids.numpy() >= 0, images > 0
    assert lit[vessels].all()
    assert 0 < (lit & ~vessels).sum() < 0.05 * lit.sum()  # clutter, as segmentations have it
    assert not truth.relevance[images[:, None] == 0].any()
    ill = truth.relevance.flatten(1).any(dim=1).numpy()
    assert ill[labels > 0].all()


def test_only_simulated_images_have_a_truth() -> None:
    with pytest.raises(SSplainError, match="no truth about 'mnist'"):
        bundled_truth("mnist")
