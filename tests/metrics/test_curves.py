from typing import Any

import numpy as np
import pytest
import torch
from scipy.ndimage import gaussian_filter
from sklearn.metrics import balanced_accuracy_score
from torch import Tensor

import ssplain
from ssplain.errors import SSplainError
from ssplain.metrics.curves import canvas, insertion_deletion
from ssplain.metrics.order import AXES, Axis, steps


class Brightness:
    """Two classes: the second if the pixels sum to more than 2.5. Counts the images it sees."""

    def __init__(self) -> None:
        self.seen: list[Tensor] = []

    def __call__(self, images: Tensor) -> Tensor:
        self.seen.extend(images)
        total = images.sum((1, 2, 3))
        return torch.stack([torch.zeros_like(total), total - 2.5], 1)


X = torch.tensor([[[[0.0, 1.0, 2.0, 0.0]]], [[[1.0, 1.0, 0.0, 3.0]]]])
M = torch.tensor([[[[3.0, 2.0, 1.0, 0.0]]], [[[1.0, 2.0, 3.0, 0.0]]]])


def test_curves_by_hand_on_all_pixels() -> None:
    curves = insertion_deletion(Brightness(), X, torch.tensor([1, 1]), M, points=5)
    # inserted sums: 0 0 1 3 3 and 0 0 1 2 5; deleted sums: 3 3 2 0 0 and 5 5 4 3 0
    assert curves.insertion.correct.int().tolist() == [[0, 0, 0, 1, 1], [0, 0, 0, 0, 1]]
    assert curves.deletion.correct.int().tolist() == [[1, 1, 0, 0, 0], [1, 1, 1, 1, 0]]
    sums = torch.tensor([[0.0, 0, 1, 3, 3], [0, 0, 1, 2, 5]])
    torch.testing.assert_close(curves.insertion.probability, torch.sigmoid(sums - 2.5))
    assert curves.insertion.accuracy.tolist() == [0, 0, 0, 0.5, 1]
    assert curves.insertion.area == pytest.approx(0.25)
    assert curves.insertion.areas.tolist() == [0.375, 0.125]
    assert curves.deletion.area == pytest.approx((0.375 + 0.875) / 2)
    torch.testing.assert_close(
        curves.kappa,
        torch.tensor([[0, 0, 1, 3, 3], [0, 0, 1, 2, 5]]) / torch.tensor([[3.0], [5]]),
        check_dtype=False,
    )


def test_curves_by_hand_on_the_support() -> None:
    curves = insertion_deletion(
        Brightness(), X[:1], torch.tensor([1]), M[:1], points=3, axis="support"
    )
    assert curves.insertion.correct.int().tolist() == [[0, 0, 1]]  # 0 1 3
    assert curves.deletion.correct.int().tolist() == [[1, 0, 0]]  # 3 2 0


def test_curves_by_hand_over_brightness() -> None:
    curves = insertion_deletion(Brightness(), X, torch.tensor([1, 1]), M, points=3, axis="kappa")
    # reaching half of 3 takes 1 + 2, half of 5 takes 1 + 1 + 3
    assert curves.insertion.correct.int().tolist() == [[0, 1, 1], [0, 1, 1]]
    assert curves.deletion.correct.int().tolist() == [[1, 0, 0], [1, 0, 0]]
    torch.testing.assert_close(curves.kappa, torch.tensor([[0.0, 1, 1], [0, 1, 1]]).double())


def test_each_distinct_image_is_shown_once() -> None:
    model = Brightness()
    images = X * torch.tensor([1.0, 1.5]).view(2, 1, 1, 1)
    curves = insertion_deletion(model, images, torch.tensor([1, 1]), M, points=101)
    shown = model.seen[2:]  # the first two are the whole images, asked for once before
    # image 0 has 2 bright pixels: black, whole, and each half way; image 1 has 3
    assert curves.forwards == len(shown) == 4 + 6
    distinct = {(tuple(image.flatten().tolist())) for image in shown}
    assert len(distinct) == 9  # black is the same for both


def reference(model: Any, images: Tensor, maps: Tensor, axis: Axis) -> tuple[Tensor, Tensor]:  # noqa: ANN401
    """Loop over images and steps, one masked image at a time."""
    order, counts = steps(images, maps, axis, 26)
    guesses = torch.zeros(2, len(images), 26, dtype=torch.long)
    for i in range(len(images)):
        for s in range(26):
            shown, rest = torch.zeros_like(images[i]), images[i].clone()
            for pixel in order.pixels[i, : int(counts[i, s])].tolist():
                row, column = divmod(pixel, images.shape[-1])
                shown[:, row, column] = images[i, :, row, column]
                rest[:, row, column] = 0
            with torch.no_grad():
                guesses[:, i, s] = model(torch.stack([shown, rest])).argmax(1)
    return guesses[0], guesses[1]


@pytest.mark.parametrize("axis", AXES)
def test_against_a_plain_loop_and_scikit_learn(axis: Axis) -> None:
    model = ssplain.models.load("lenet5-mnist")
    images, labels = (part[:12] for part in ssplain.data.bundled("mnist"))
    maps = torch.randn(12, 1, 28, 28, generator=torch.Generator().manual_seed(0))
    curves = insertion_deletion(model, images, labels, maps, axis=axis, points=26)
    for curve, guesses in zip(
        (curves.insertion, curves.deletion), reference(model, images, maps, axis), strict=True
    ):
        assert torch.equal(curve.correct, guesses == labels[:, None])
        # scikit-learn warns of guesses that no label has; recall does not depend on them
        expected = [
            np.mean([(g[labels == c] == c).double().mean() for c in set(labels.tolist())])
            for g in guesses.T
        ]
        assert curve.balanced_accuracy.tolist() == pytest.approx(expected)
    last = balanced_accuracy_score(labels, model(images).argmax(1))
    assert float(curves.insertion.balanced_accuracy[-1]) == pytest.approx(last)


def test_deletion_is_pixel_flipping() -> None:
    """Pixel flipping as Bach et al. (PLoS ONE 2015) write it: 8 pixels at a time, to black."""
    model = ssplain.models.load("lenet5-mnist")
    images, labels = (part[:5] for part in ssplain.data.bundled("mnist"))
    maps = torch.randn(5, 1, 28, 28, generator=torch.Generator().manual_seed(0))
    curves = insertion_deletion(model, images, labels, maps, points=784 // 8 + 1)
    for i in range(5):
        flipped = images[i].clone().flatten()
        order = maps[i].flatten().argsort(descending=True)
        for step in range(784 // 8 + 1):
            with torch.no_grad():
                p = model(flipped.view(1, 1, 28, 28)).softmax(1)[0, labels[i]]
            assert curves.deletion.probability[i, step].item() == pytest.approx(p.item(), abs=1e-5)
            flipped[order[8 * step : 8 * step + 8]] = 0


@pytest.mark.filterwarnings("ignore:.*perturbed input:UserWarning")  # black pixels stay black
def test_deletion_is_quantus_pixel_flipping() -> None:
    quantus = pytest.importorskip(
        "quantus", reason="Quantus is not installed", exc_type=ImportError
    )
    model = ssplain.models.load("lenet5-mnist")
    images, labels = (part[:5] for part in ssplain.data.bundled("mnist"))
    maps = ssplain.explain.make("integrated-gradients", model, "mnist").attribute(images, labels)
    maps += 1e-6 * torch.randn(maps.shape, generator=torch.Generator().manual_seed(0))  # no ties
    flipping = quantus.PixelFlipping(features_in_step=8, normalise=False, disable_warnings=True)
    theirs = flipping(model, images.numpy(), labels.numpy(), maps.numpy(), softmax=True)
    ours = insertion_deletion(model, images, labels, maps, points=784 // 8 + 1)
    assert ours.tie_share.max() == 0
    np.testing.assert_allclose(ours.deletion.probability[:, 1:], theirs, atol=1e-5)


def test_black_images_give_chance() -> None:
    """At s = 0 all images are the same, so exactly one of ten classes has recall 1."""
    model = ssplain.models.load("lenet5-mnist")
    images, labels = ssplain.data.bundled("mnist")
    curves = insertion_deletion(model, images, labels, images, points=2)
    assert float(curves.insertion.balanced_accuracy[0]) == pytest.approx(0.1)
    assert float(curves.deletion.balanced_accuracy[-1]) == pytest.approx(0.1)
    assert torch.equal(curves.initially_correct, curves.insertion.correct[:, -1])


def test_channels_come_and_go_together() -> None:
    seen: list[Tensor] = []

    def model(images: Tensor) -> Tensor:
        seen.extend(images)
        return images.sum((2, 3))

    images = torch.rand(1, 3, 4, 4, generator=torch.Generator().manual_seed(0)) + 0.1
    maps = torch.rand(1, 1, 4, 4, generator=torch.Generator().manual_seed(1))
    insertion_deletion(model, images, torch.tensor([0]), maps, points=9)
    there = torch.stack(seen) != 0
    assert bool((there == there[:, :1]).all())
    assert len(there) > 15


def test_curves_by_hand_on_the_mean() -> None:
    """The first image has a mean of 0.75: its pixels come as 0, 1, 2, 0."""
    curves = insertion_deletion(
        Brightness(), X[:1], torch.tensor([1]), M[:1], points=5, baseline="mean"
    )
    inserted, deleted = torch.tensor([[3, 2.25, 2.5, 3.75, 3]]), [[3, 3.75, 3.5, 2.25, 3]]
    torch.testing.assert_close(curves.insertion.probability, torch.sigmoid(inserted - 2.5))
    expected = torch.sigmoid(torch.tensor(deleted) - 2.5)
    torch.testing.assert_close(curves.deletion.probability, expected)


def test_each_channel_has_its_own_mean() -> None:
    image = torch.tensor([[[[0.0, 1.0]], [[4.0, 2.0]]]])
    assert canvas(image, "mean").tolist() == [[[[0.5, 0.5]], [[3.0, 3.0]]]]


@pytest.mark.parametrize("baseline", ["blur", "mean"])
def test_other_baselines_start_from_their_canvas(baseline: Any) -> None:  # noqa: ANN401
    model = Brightness()
    insertion_deletion(model, X[1:], torch.tensor([1]), M[1:], points=5, baseline=baseline)
    base = canvas(X[1:], baseline)[0]
    assert any(torch.allclose(base, image) for image in model.seen)
    assert bool((base != 0).all())


def test_blur_is_scipys() -> None:
    image = torch.rand(16, 24, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    expected = gaussian_filter(image.numpy(), 2.0, mode="nearest", truncate=4.0)
    np.testing.assert_allclose(canvas(image[None, None], "blur")[0, 0], expected, atol=1e-12)


def test_results_do_not_depend_on_the_batch_size() -> None:
    model = ssplain.models.load("lenet5-mnist")
    images, labels = (part[:4] for part in ssplain.data.bundled("mnist"))
    one = insertion_deletion(model, images, labels, images, points=11, batch_size=3)
    two = insertion_deletion(model, images, labels, images, points=11)
    assert torch.equal(one.insertion.correct, two.insertion.correct)
    torch.testing.assert_close(one.deletion.probability, two.deletion.probability)


def test_constant_maps_are_scored_as_a_random_order() -> None:
    model = ssplain.models.load("lenet5-mnist")
    images, labels = (part[:30] for part in ssplain.data.bundled("mnist"))
    flat = torch.zeros_like(images)
    curves = insertion_deletion(model, images, labels, flat, axis="support", points=26)
    assert curves.tie_share.tolist() == [1.0] * 30
    noise = torch.rand(28, 28, generator=torch.Generator().manual_seed(9)).expand(30, 1, -1, -1)
    random = insertion_deletion(model, images, labels, noise, axis="support", points=26)
    assert curves.insertion.area == pytest.approx(random.insertion.area, abs=0.1)
    again = insertion_deletion(model, images, labels, flat - 7.0, axis="support", points=26)
    assert torch.equal(again.insertion.probability, curves.insertion.probability)


def test_a_subset_is_scored_by_itself() -> None:
    labels = torch.tensor([1, 0])
    curves = insertion_deletion(Brightness(), X, labels, M, points=5)
    assert curves.initially_correct.tolist() == [True, False]
    some = curves.insertion.take(curves.initially_correct)
    assert some.area == pytest.approx(0.375)
    assert curves.insertion.interval().value == pytest.approx(curves.insertion.area)


def test_predicted_labels_start_right() -> None:
    curves = insertion_deletion(Brightness(), X, None, M, points=5)
    assert curves.insertion.labels.tolist() == [1, 1]
    assert curves.initially_correct.all()


def test_black_images_are_scored_on_all_pixels() -> None:
    """Nothing can be inserted: the curve is flat, and the model is asked once."""
    curves = insertion_deletion(Brightness(), X[:1] * 0, torch.tensor([0]), M[:1], points=5)
    assert curves.forwards == 1
    assert curves.insertion.area == curves.deletion.area == 1.0


def test_mistakes_are_named() -> None:
    label = torch.tensor([1, 1])
    with pytest.raises(SSplainError, match="out of range"):
        insertion_deletion(Brightness(), X, torch.tensor([1, 2]), M)
    with pytest.raises(SSplainError, match="baseline='grey'"):
        insertion_deletion(Brightness(), X, label, M, baseline="grey")  # type: ignore[arg-type]
    with pytest.raises(SSplainError, match="Map 0 holds NaN"):
        insertion_deletion(Brightness(), X, label, M * torch.nan)
    with pytest.raises(SSplainError, match="one value per pixel"):
        insertion_deletion(Brightness(), X, label, M[:, :, :, :2])

    def broken(images: Tensor) -> Tensor:
        return (images / images.sum((1, 2, 3), keepdim=True)).flatten(1)

    with pytest.raises(SSplainError, match="use another baseline"):
        insertion_deletion(broken, X, label, M, output_kind="logits")
