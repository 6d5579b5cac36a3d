import math
from io import BytesIO

import numpy as np
import pytest
import torch

import ssplain
from ssplain.errors import SSplainError
from ssplain.metrics import Evaluation, evaluate
from ssplain.metrics.components import connected
from ssplain.metrics.curves import insertion_deletion
from ssplain.metrics.intervals import area
from ssplain.metrics.sparsity import kappa
from ssplain.vessels import trace

MODEL = ssplain.models.load("lenet5-mnist")
IMAGES, LABELS = (part[:20] for part in ssplain.data.bundled("mnist"))
NOISE = torch.rand(IMAGES.shape, generator=torch.Generator().manual_seed(0))


def test_numbers_are_those_of_the_single_measures() -> None:
    found = evaluate(MODEL, IMAGES, LABELS, NOISE, points=26)
    curves = insertion_deletion(MODEL, IMAGES, LABELS, NOISE, axis="support", points=26)
    assert found.summary("insertion").value == pytest.approx(curves.insertion.area)
    assert found.summary("deletion").value == pytest.approx(curves.deletion.area)
    for name, measure in (("kappa", kappa), ("connected", connected)):
        course = measure(IMAGES, NOISE, axis="support", points=26)
        torch.testing.assert_close(found.curves[name], course)
        torch.testing.assert_close(found.mean_curve(name), course.mean(0))
        expected = float(area(course, found.grid).mean())
        assert found.summary(name).value == pytest.approx(expected)
    torch.testing.assert_close(found.mean_curve("deletion"), curves.deletion.balanced_accuracy)


def test_ssplain_is_better_than_noise_in_pairs() -> None:
    maps = ssplain.SSplain(MODEL, **ssplain.preset("mnist")).attribute(IMAGES, LABELS)
    ours, noise = (evaluate(MODEL, IMAGES, LABELS, m, points=26) for m in (maps, NOISE))
    assert ours.against(noise, "insertion").difference.low > 0
    assert ours.against(noise, "connected").difference.low > 0
    assert ours.against(noise, "deletion").difference.high < 0


def test_truth_and_vessels_add_their_measures() -> None:
    image = torch.zeros(2, 1, 28, 28)
    image[..., 5:8, 2:26] = 1.0
    image[..., 16:22, 2:26] = 0.5
    truth = torch.zeros_like(image)
    truth[0, :, 16:22] = 1.0
    wide_first = torch.arange(28.0)[:, None].expand_as(image)
    trees = [trace(plane) for plane in image]
    labels = torch.tensor([3, 3])
    found = evaluate(MODEL, image, labels, wide_first, truth=truth, trees=trees, points=11)
    assert math.isnan(found.values["precision-above-chance"][1])
    assert found.summary("precision-above-chance").value == pytest.approx(1 - 2 / 3)
    assert found.summary("diameter-gain").value == pytest.approx(1, abs=0.05)
    assert found.curves["dilation"].shape == (2, 11)
    healthy = evaluate(MODEL, image, labels, wide_first, truth=truth * 0, points=11)
    assert math.isnan(healthy.summary("recall-above-chance").value)
    assert math.isnan(healthy.against(found, "recall-above-chance").share_above)


def test_constant_maps_are_scored_as_luck() -> None:
    found = evaluate(MODEL, IMAGES, LABELS, torch.full_like(IMAGES, -2.0), points=5)
    assert found.summary("tie-share").value == 1
    assert found.summary("gini").value == found.summary("roughness").value == 0
    other = evaluate(MODEL, IMAGES, LABELS, torch.zeros_like(IMAGES), points=5)
    reseeded = evaluate(MODEL, IMAGES, LABELS, torch.zeros_like(IMAGES), points=5, seed=1)
    for name in ("insertion", "deletion", "kappa", "connected"):
        assert torch.equal(other.values[name], found.values[name])
        assert not torch.equal(reseeded.values[name], found.values[name])


def test_only_the_order_of_negative_maps_counts() -> None:
    below, above = (evaluate(MODEL, IMAGES, LABELS, NOISE + by, points=5) for by in (-2, 2))
    for name in ("insertion", "deletion", "kappa", "connected", "tie-share"):
        assert torch.equal(below.values[name], above.values[name])


@pytest.mark.parametrize(
    ("maps", "says"),
    [
        (NOISE.masked_fill(IMAGES > 0.9, torch.nan), "Map 0 holds NaN"),
        (NOISE[:, :, 1:], "one value per pixel"),
        (NOISE[1:], "one value per pixel"),
    ],
)
def test_maps_that_cannot_be_scored_are_refused(maps: torch.Tensor, says: str) -> None:
    with pytest.raises(SSplainError, match=says):
        evaluate(MODEL, IMAGES, LABELS, maps, points=5)


def test_the_baseline_is_passed_on() -> None:
    found = evaluate(MODEL, IMAGES, LABELS, NOISE, points=5, baseline="mean")
    curves = insertion_deletion(
        MODEL, IMAGES, LABELS, NOISE, axis="support", points=5, baseline="mean"
    )
    torch.testing.assert_close(found.mean_curve("insertion"), curves.insertion.balanced_accuracy)
    black = evaluate(MODEL, IMAGES, LABELS, NOISE, points=5)
    assert not torch.equal(black.curves["insertion"], found.curves["insertion"])


def test_other_images_are_not_compared() -> None:
    few, more = (evaluate(MODEL, IMAGES[:n], LABELS[:n], IMAGES[:n], points=3) for n in (3, 4))
    with pytest.raises(SSplainError, match="different images"):
        few.against(more, "insertion")


def test_a_file_brings_everything_back_in_order() -> None:
    found = evaluate(MODEL, IMAGES, LABELS, NOISE, truth=NOISE > 0.9, points=5)
    file = BytesIO()
    np.savez(file, **found.arrays())  # type: ignore[arg-type]  # any name is a keyword
    file.seek(0)
    with np.load(file, allow_pickle=False) as stored:
        back = Evaluation.from_arrays(dict(stored))
    for before, after in ((found.values, back.values), (found.curves, back.curves)):
        assert list(before) == list(after)
        for name, tensor in before.items():
            torch.testing.assert_close(after[name], tensor, rtol=0, atol=0, equal_nan=True)
    assert torch.equal(back.grid, found.grid)
    assert torch.equal(back.labels, found.labels)
    assert str(back.summary("insertion")) == str(found.summary("insertion"))


def test_pairs_balance_accuracies_and_leave_out_images_without_a_score() -> None:
    labels, recall = torch.tensor([0, 0, 0, 1]), "recall-above-chance"
    scores = (
        {"insertion": torch.tensor([1.0, 1, 1, 0]), recall: torch.tensor([1, 0.5, math.nan, 1])},
        {"insertion": torch.zeros(4), recall: torch.tensor([0, math.nan, 0, 0.5])},
    )
    first, second = (Evaluation.of_values(values, labels) for values in scores)
    assert first.against(second, "insertion").difference.value == pytest.approx(0.5)
    assert first.against(second, recall).difference.value == pytest.approx(0.75)
