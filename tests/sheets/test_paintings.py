import os
from pathlib import Path

import numpy as np
import pytest
import torch

from ssplain.errors import SSplainError
from ssplain.fundus.segment import SURE, segment
from ssplain.reading.eye import Reader
from ssplain.reading.image import look, open_image
from ssplain.sheets.paintings import PaintedROP, as_graded
from tests.fundus.eyes import painted_eye

HAS_DATA = (Path(os.environ.get("SSPLAIN_DATA", "/none")) / "hvdropdb").is_dir()


def test_a_painted_photograph_is_graded_on_the_picture_that_reading_gives() -> None:
    painted = painted_eye(label=2)
    image, relevance = as_graded(painted)
    seen = look(open_image(painted.photo))
    assert np.array_equal(seen.vessels, segment(painted.photo, least=SURE))
    shown = Reader.of("googlenet-rop").frame(seen).to_network(seen.vessels)
    assert torch.equal(shown[0], torch.from_numpy(image))
    assert image.shape == relevance.shape == (224, 224)
    assert (relevance[image == 0] == 0).all()


def test_disease_lies_on_the_vessels_that_carry_it() -> None:
    for label, share in ((0, 0.0), (2, 0.3)):
        painted = painted_eye(label=label)
        image, relevance = as_graded(painted)
        assert (relevance[image > 0] > 0.2).mean() >= share
        assert relevance.max() <= painted.relevance.max() + 1e-5
        mean = painted.relevance[painted.vessels > 0].mean()
        assert relevance[image > 0].mean() == pytest.approx(mean, abs=0.15)


def test_unknown_splits_and_empty_ones_are_refused() -> None:
    with pytest.raises(SSplainError, match="choose one of: train, validation, test"):
        PaintedROP("other", 3)
    with pytest.raises(SSplainError, match="1 or more"):
        PaintedROP("train", 0)


@pytest.mark.slow
@pytest.mark.skipif(not HAS_DATA, reason="needs HVDROPDB")
def test_splits_share_no_photograph_and_are_the_same_each_time() -> None:
    splits = [PaintedROP(split, 3) for split in ("train", "validation", "test")]
    assert [len(split.grounds) for split in splits] == [56, 8, 16]
    prints = [{g.photo.tobytes()[:9999] for g in split.grounds} for split in splits]
    assert len(set().union(*prints)) == 80
    first, again = splits[2].examples(), PaintedROP("test", 3).examples()
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert first.labels.tolist() == [0, 1, 2]
    assert first.amounts[0] < first.amounts[1] < first.amounts[2]
