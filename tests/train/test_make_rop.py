"""Test of the whole way from simulation to weights on disk, very small."""

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file

from ssplain.data import bundled
from ssplain.data.simulated import SimulatedROP
from ssplain.errors import SSplainError
from ssplain.models.card import WEIGHTS, card
from ssplain.models.googlenet import GoogLeNet
from ssplain.sheets import bent as bending
from ssplain.sheets import paintings
from ssplain.sheets.bent import BentROP
from ssplain.sheets.paintings import PaintedROP
from ssplain.sheets.shot import Shot
from ssplain.simulate.ground import Ground
from ssplain.train import make_rop as making
from ssplain.train.loop import Settings, Step
from ssplain.train.make_rop import make_rop, simulated
from ssplain.train.rop import Stage, judge
from tests.fundus.eyes import blank_eye, painted_eye

COUNTS = {"train": 6, "validation": 3, "test": 6}


@pytest.mark.slow
def test_weights_on_disk_do_what_the_card_says_and_a_second_run_only_writes(tmp_path: Path) -> None:
    stages = [Stage(Settings(epochs=1, batch_size=3), draws=6)]
    steps: list[tuple[int, Step]] = []
    examples = {split: SimulatedROP(split, n).examples()[:2] for split, n in COUNTS.items()}

    def make(out: Path) -> float:
        return make_rop(
            examples,
            tmp_path / "work",
            out,
            name="tiny",
            origin="simulated images",
            stages=stages,
            progress=lambda stage, step: steps.append((stage, step)),
        ).balanced_accuracy

    reached = make(tmp_path / "one")
    assert len(steps) == 2
    about = card(tmp_path / "one")
    assert about.accuracy == reached
    assert about.classes == ("Normal", "Pre-plus", "Plus")
    assert (about.name, about.dataset) == ("tiny", "rop")
    assert "Trained on 6 simulated images" in about.note
    assert (about.architecture, about.channels, about.size) == ("googlenet", 1, (224, 224))
    weights = load_file(tmp_path / "one" / WEIGHTS)
    assert weights["fc.weight"].dtype == torch.float16
    model = GoogLeNet(3)
    model.load_state_dict(weights)
    assert judge(model, *examples["test"]).balanced_accuracy == reached
    assert make(tmp_path / "two") == reached
    assert len(steps) == 2
    assert card(tmp_path / "two").sha256 == about.sha256


def test_simulated_images_of_all_splits_are_kept_and_mixed_with_real_courses(
    tmp_path: Path,
) -> None:
    masks = tmp_path / "masks"
    masks.mkdir()
    for i, image in enumerate(bundled("rop")[0][:5]):
        mask = 255 * (image[0].numpy() > 0)
        Image.fromarray(mask.astype(np.uint8)).save(masks / f"{i}.png")
    counts = {"train": 9, "validation": 3, "test": 3}
    images, known = simulated(counts, tmp_path, [masks], workers=1)
    assert {split: len(labels) for split, (_, labels) in images.items()} == counts
    assert images["train"][1].tolist() == [0, 1, 2] * 3
    on_masks = SimulatedROP("train", 3, (masks,)).examples()
    assert torch.equal(images["train"][0][6:], on_masks.images)
    assert torch.equal(known.relevance[6:], on_masks.relevance)
    assert len(known.amounts) == 9
    again, _ = simulated(counts, tmp_path, [masks], workers=1)
    assert torch.equal(again["train"][0], images["train"][0])


@pytest.mark.slow
def test_painted_photographs_are_mixed_in_as_reading_sees_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    photo = blank_eye()  # in place of a data set, whose photographs take long to be cleared
    inside = photo.max(axis=2) > 0.1
    contrast = np.broadcast_to(np.array([0.06, 0.25, 0.2], np.float32), photo.shape)
    ground = Ground(photo, inside, contrast, np.zeros(inside.shape, bool))
    monkeypatch.setattr(paintings, "_grounds", lambda _home, _split: (ground,))
    monkeypatch.setattr(making, "eyes", lambda *_: [])
    counts = {"train": 3, "validation": 3, "test": 3}
    images, known = simulated(counts, tmp_path, workers=1, painted=3)
    assert {split: len(labels) for split, (_, labels) in images.items()} == dict.fromkeys(counts, 6)
    image, _, amount, _ = PaintedROP("train", 3)[2]
    assert torch.equal(images["train"][0][5, 0], torch.from_numpy(np.rint(255 * image)).byte())
    assert images["train"][1].tolist() == [0, 1, 2] * 2
    assert float(known.amounts[5]) == pytest.approx(amount)
    assert len(known.relevance) == 6
    assert not torch.equal(images["test"][0][3:], images["train"][0][3:])


@pytest.mark.slow
def test_bent_photographs_are_mixed_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shot = Shot.of(painted_eye(label=0).photo)  # in place of a data set
    monkeypatch.setattr(bending, "_healthy", lambda _home, _split: (shot,))
    monkeypatch.setattr(making, "eyes", lambda *_: [])
    images, known = simulated({"train": 3, "test": 3}, tmp_path, workers=1, bent=3)
    image, _, amount, _ = BentROP("train", 3)[2]
    assert torch.equal(images["train"][0][5, 0], torch.from_numpy(np.rint(255 * image)).byte())
    assert images["train"][1].tolist() == [0, 1, 2] * 2
    assert float(known.amounts[5]) == pytest.approx(amount)
    assert known.relevance[5].any()
    assert not torch.equal(images["test"][0][3:], images["train"][0][3:])


def test_photographs_that_are_not_there_are_told_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(SSplainError, match="HVDROPDB"):
        simulated(COUNTS, tmp_path, painted=3, photographs=tmp_path / "none")
    assert not list(tmp_path.iterdir())
