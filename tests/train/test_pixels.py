from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.ndimage import label

from ssplain.data.hvdropdb import Eye
from ssplain.errors import SSplainError
from ssplain.models.unet import UNet
from ssplain.sheets.sheet import Pool, as_sheet, patches
from ssplain.sheets.snap import snapped
from ssplain.sheets.strokes import painted_sheet, prepare, stroke_sheet
from ssplain.sheets.wear import worn
from ssplain.train.disc import disc_loss
from ssplain.train.pixels import Batch, Plan, fit
from ssplain.train.vessels import vessel_loss
from tests.fundus.eyes import painted_eye


def stripes(epoch: int) -> Iterator[Batch]:
    rng = np.random.default_rng(epoch)
    while True:
        target = np.zeros((4, 1, 32, 32), np.float32)
        for one in target:
            at = int(rng.integers(4, 28))
            one[:, at : at + 2] = 1
        image = target + 0.2 * rng.standard_normal(target.shape)
        ones = np.ones_like(target)
        yield tuple(torch.from_numpy(x).float() for x in (image, target, ones, 0 * ones))


def build() -> UNet:
    return UNet(1, (8, 12))


def test_a_network_learns_and_a_stopped_run_goes_on_to_the_same_weights(tmp_path: Path) -> None:
    plan = Plan(epochs=4, steps=15, lr=0.02, memory=10)
    losses: list[float] = []
    whole = fit(build, stripes, disc_loss, plan, progress=lambda r: losses.append(r.loss))
    assert losses[-1] < 0.5 * losses[0]

    class StoppedError(Exception):
        pass

    def stop(done: object) -> None:
        if getattr(done, "number", 0) == 2:
            raise StoppedError

    path = tmp_path / "checkpoint.safetensors"
    with pytest.raises(StoppedError):
        fit(build, stripes, disc_loss, plan, checkpoint=path, progress=stop)
    again = fit(build, stripes, disc_loss, plan, checkpoint=path)
    for a, b in zip(whole.state_dict().values(), again.state_dict().values(), strict=True):
        assert torch.equal(a, b)


def test_bfloat16_computes_coarsely_and_keeps_single_precision_weights() -> None:
    plan = Plan(epochs=4, steps=15, lr=0.02, memory=10)
    losses: list[float] = []
    exact = fit(build, stripes, disc_loss, plan)
    coarse = fit(
        build,
        stripes,
        disc_loss,
        replace(plan, bfloat16=True),
        progress=lambda r: losses.append(r.loss),
    )
    assert losses[-1] < 0.5 * losses[0]
    pairs = list(zip(exact.state_dict().values(), coarse.state_dict().values(), strict=True))
    assert all(a.dtype == b.dtype for a, b in pairs)
    assert not all(torch.equal(a, b) for a, b in pairs)


def test_a_checkpoint_of_another_plan_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.safetensors"
    fit(build, stripes, disc_loss, Plan(epochs=1, steps=1), checkpoint=path)
    with pytest.raises(SSplainError):
        fit(build, stripes, disc_loss, Plan(epochs=2, steps=1), checkpoint=path)
    with pytest.raises(SSplainError, match="at least 1"):
        Plan(epochs=0, steps=1)


def batch(target: torch.Tensor, weight: torch.Tensor, line: torch.Tensor) -> Batch:
    return torch.zeros(1), target, weight, line


def test_a_stroke_asks_for_a_vessel_but_not_for_its_width() -> None:
    none = torch.zeros(1, 2, 40, 40)
    line = torch.zeros(1, 1, 40, 40)
    line[..., 20, :] = 1
    stroke = torch.ones_like(none)
    stroke[..., 14:27, :] = 0  # nothing is said beside the stroke

    def cost(first: int, last: int) -> float:
        logits = torch.full_like(none, -8)
        logits[:, 0, first:last] = 8
        return float(vessel_loss(logits, batch(none, stroke, line)))

    missed, thin, wide, elsewhere = (cost(*rows) for rows in ((0, 0), (20, 22), (18, 23), (30, 32)))
    assert thin < 0.01
    for row in (18, 21):  # strokes stray from their vessel
        assert cost(row, row + 2) == pytest.approx(thin, abs=0.01)
    for row in (16, 23):
        assert cost(row, row + 2) == pytest.approx(missed, rel=0.01)
    assert wide == pytest.approx(thin, abs=0.01)
    assert missed > 20 * thin
    assert elsewhere > missed


def test_dots_are_no_vessel() -> None:
    # The first network found every stroke by dots on every fourth pixel of the whole photograph.
    none = torch.zeros(1, 2, 40, 40)
    line = torch.zeros(1, 1, 40, 40)
    line[..., 20, :] = 1
    dotted, vessel = torch.full_like(none, -4), torch.full_like(none, -4)
    dotted[:, 0, ::2, 1::2] = 4
    vessel[:, 0, 19:21] = 4
    nothing_else_asked = torch.zeros_like(none)
    missed, dots, found = (
        float(vessel_loss(logits, batch(none, nothing_else_asked, line)))
        for logits in (torch.full_like(none, -4), dotted, vessel)
    )
    assert dots > 0.7 * missed > 20 * found


def test_painted_truth_asks_for_the_width_and_doubt_asks_for_little() -> None:
    truth = torch.zeros(1, 2, 40, 40)
    truth[..., 19:22, :] = 1
    ones, none = torch.ones_like(truth), torch.zeros(1, 1, 40, 40)
    right = vessel_loss(16 * truth - 8, batch(truth, ones, none))
    wide = truth.clone()
    wide[..., 17:24, :] = 1
    assert right < 0.01 < vessel_loss(16 * wide - 8, batch(truth, ones, none))
    doubt = torch.where(wide > truth, 0.1, 1.0)
    assert vessel_loss(16 * wide - 8, batch(truth, doubt, none)) < 0.3 * vessel_loss(
        16 * wide - 8, batch(truth, ones, none)
    )


def test_sheets_say_what_is_known() -> None:
    painted = painted_eye(label=1)
    eye = prepare(Eye("retcam/99", painted.photo, painted.vessels > 0.3))
    rng = np.random.default_rng(0)
    stroke, paint = stroke_sheet(eye, rng), painted_sheet(eye, rng)
    assert stroke.line.any()
    assert not stroke.target[0].any()
    assert (stroke.weight[0][stroke.line] == 0).all()
    assert (stroke.target[1][stroke.line]).mean(dtype=np.float32) > 0.8
    assert not paint.line.any()
    vessel, course = paint.target
    assert vessel.max() == 1
    assert (paint.weight[:, vessel == 1] == 1).all()
    assert (course[vessel >= 0.5] == 1).all()
    assert 1.5 * (vessel >= 0.5).sum() < course.sum(dtype=np.float32)
    for sheet in (stroke, paint):
        assert sheet.image.shape == (3, *sheet.line.shape)
        assert (sheet.weight[:, 0] == 0).all()  # the rim of the field is not learned from
    image, target, weight, line = patches([stroke, paint], 6, 160, rng)
    assert image.shape == (6, 3, 160, 160)
    assert target.shape == weight.shape == (6, 2, 160, 160)
    assert line.shape == (6, 1, 160, 160)


def test_a_pool_renews_itself_and_repeats() -> None:
    made: list[int] = []

    def make(index: int) -> object:
        made.append(index)
        plane = np.full((8, 8), index % 5 / 4)
        return as_sheet(np.repeat(plane[..., None], 3, axis=2), [plane], [plane + 1], plane > 2)

    pool = Pool(make, 0, side=4, size=6, fresh=2, batch=3)  # type: ignore[arg-type]
    first = next(pool.batches(1))
    next(pool.batches(2))
    assert made == [2, 3, 4, 5, 6, 7, 8, 9]
    again = Pool(make, 0, side=4, size=6, fresh=2, batch=3)  # type: ignore[arg-type]
    assert all(torch.equal(a, b) for a, b in zip(first, next(again.batches(1)), strict=True))


def test_wear_leaves_the_surround_black_and_the_values_in_range() -> None:
    photo = painted_eye().photo
    for seed in range(6):
        other = worn(photo, np.random.default_rng(seed))
        assert other.min() >= 0
        assert other.max() <= 1
        assert other[:4, :4].mean() < 0.05


def test_a_stroke_is_snapped_to_the_dark_line_and_stays_in_one_piece() -> None:
    row, column = np.mgrid[:80, :120]
    middle = 40 + 6 * np.sin(column[0] / 12)
    strokes = np.abs(row - middle) < 5
    strokes[:, :6] = strokes[:, -6:] = False
    dark = np.exp(-((row - middle - 3) ** 2) / 4)  # the vessel lies 3 px beside the stroke's middle
    line = snapped(strokes, dark)
    assert label(line, np.ones((3, 3)))[1] == 1
    inner = line[:, 15:-15]
    at = (row[:, 15:-15] * inner).sum(axis=0) / inner.sum(axis=0)
    assert np.abs(at - middle[15:-15] - 3).mean() < 0.8
    assert inner.sum(axis=0).max() <= 3
