import math

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr

from ssplain.errors import SSplainError
from ssplain.metrics.order import AXES, steps
from ssplain.metrics.similarity import vessel_similarity
from ssplain.vessels import trace


def two_bars() -> torch.Tensor:
    """A thin vessel above a wide one; both straight and 50 px long."""
    image = torch.zeros(1, 1, 40, 60)
    image[..., 8:11, 5:55] = 1.0
    image[..., 26:33, 5:55] = 1.0
    return image


def ring_and_bar() -> torch.Tensor:
    """A bent vessel beside a straight one, with soft edges."""
    row, column = np.mgrid[:64, :120].astype(float)
    ring = np.exp(-((np.hypot(row - 32, column - 32) - 18) ** 2) / 8)
    bar = np.exp(-((column - 90) ** 2) / 8) * ((row > 6) & (row < 58))
    soft = np.maximum(ring, bar)
    return torch.from_numpy(np.where(soft > 0.4, soft, 0)).float()[None, None]


@pytest.mark.parametrize("axis", AXES)
def test_against_the_formulas_step_by_step(axis: str) -> None:
    image = ring_and_bar()
    maps = torch.rand(image.shape, generator=torch.Generator().manual_seed(3))
    found = vessel_similarity(image, maps, axis=axis, points=9)  # type: ignore[arg-type]
    order, counts = steps(image, maps, axis, 9)  # type: ignore[arg-type]
    tree = trace(image[0])
    X, C = image[0, 0].double().numpy(), tree.curvature.values
    D = tree.diameters()
    size = np.bincount(tree.labels.ravel())[1:]
    for s in range(1, 9):
        kept = (order.rank[0] < counts[0, s]).view(64, 120).numpy()
        X_s = X * kept
        D_s = tree.diameters(kept & (X > 0))
        cosine = (X_s * C).sum() / np.linalg.norm(X_s) / np.linalg.norm(C)
        assert found.curvature.observed[0, s].item() == pytest.approx(cosine)
        dilation = D_s @ D / np.linalg.norm(D_s) / np.linalg.norm(D)
        assert found.dilation.observed[0, s].item() == pytest.approx(dilation)
        covered = np.bincount(tree.labels[kept & (X > 0)], minlength=len(D) + 1)[1:] / size
        if np.ptp(covered) > 0 and np.ptp(D) > 0:
            expected = spearmanr(covered, D).statistic
            assert found.coverage[0, s].item() == pytest.approx(expected)
        bends = C[kept & (X > 0) & tree.curvature.measured]
        assert found.mean_curvature.observed[0, s].item() == pytest.approx(bends.mean())
        width = np.concatenate([[0], D])[tree.labels[kept & (tree.labels > 0) & (X > 0)]]
        assert found.mean_diameter.observed[0, s].item() == pytest.approx(width.mean())
    assert found.curvature.observed[0, 0] == found.dilation.observed[0, 0] == 0
    assert found.dilation.oracle[0, 0] == 0
    assert bool((found.dilation.oracle[0, 1:] == 1).all())
    assert found.inserted[0, -1] == 1


def test_by_hand_on_two_bars() -> None:
    """Half way through the support, thin first: all 150 thin pixels and 100 of the 350 wide."""
    image = two_bars()
    thin_first = -torch.arange(40.0)[:, None].expand(1, 1, 40, 60)
    found = vessel_similarity(image, thin_first, axis="support", points=3)
    tree = trace(image[0])
    thin, wide = sorted(tree.diameters())
    half = np.array([thin, wide * 100 / 350])
    expected = half @ [thin, wide] / (np.linalg.norm(half) * math.hypot(thin, wide))
    assert found.dilation.observed[0, 1].item() == pytest.approx(expected)
    assert found.coverage[0].tolist() == [0, -1, 0]
    mean = (150 * thin + 100 * wide) / 250
    assert found.mean_diameter.observed[0, 1].item() == pytest.approx(mean)
    assert found.mean_diameter.normalised.item() < -0.2


def test_random_order_is_as_predicted() -> None:
    """Random pixels reach the square root of their share in curvature, and nearly 1 in dilation."""
    found = vessel_similarity(ring_and_bar(), ring_and_bar(), axis="support", points=5, draws=50)
    last = found.curvature.random[0, -1]
    shares = found.inserted[0, 1:]
    torch.testing.assert_close(
        found.curvature.random[0, 1:], last * shares.sqrt(), rtol=0.02, atol=0
    )
    assert bool((found.dilation.random[0, 1:] > 0.99).all())


def test_ideal_orders_score_one_and_random_ones_about_zero() -> None:
    image = ring_and_bar()
    tree = trace(image[0])
    bent = torch.from_numpy(tree.curvature.values)[None, None]
    found = vessel_similarity(image, bent, axis="support")
    assert found.curvature.normalised.item() == pytest.approx(1, abs=0.01)
    assert found.mean_curvature.normalised.item() == pytest.approx(1, abs=0.01)
    noise = torch.rand(image.shape, generator=torch.Generator().manual_seed(7))
    random = vessel_similarity(image, noise, axis="support")
    assert abs(random.curvature.normalised.item()) < 0.1
    assert abs(random.mean_diameter.normalised.item()) < 0.1
    # the trap: the random order is just as good as the ideal one for the paper's dilation
    assert random.dilation.observed[0, 20:].mean() > 0.99


def test_background_pixels_do_not_matter_between_vessel_pixels() -> None:
    """Ranking the background first delays the paper's curve but not what it is normalised by."""
    image = ring_and_bar()
    maps = torch.rand(image.shape, generator=torch.Generator().manual_seed(1))
    late = torch.where(image > 0, maps, 2.0)
    delayed = vessel_similarity(image, late, axis="all", points=26)
    assert delayed.inserted[0, 10] == 0
    assert delayed.curvature.observed[0, 10] == 0
    assert abs(delayed.curvature.normalised.item()) < 0.15


def test_branches_too_short_to_have_a_diameter_are_left_out() -> None:
    image = torch.zeros(1, 1, 60, 60)
    image[..., 2:58, 30:33] = image[..., 25:28, 2:30] = image[..., 27:30, 30:58] = 1.0
    tree = trace(image[0])
    assert tree.counted.tolist() == [True] * 4 + [False]
    maps = torch.rand(image.shape, generator=torch.Generator().manual_seed(3))
    found = vessel_similarity(image, maps, points=9)
    order, counts = steps(image, maps, "all", 9)
    kept = (order.rank[0] < counts[0, 3]).view(60, 60).numpy() & (image[0, 0] > 0).numpy()
    D_s, D = tree.diameters(kept)[:4], tree.diameters()[:4]
    expected = D_s @ D / np.linalg.norm(D_s) / np.linalg.norm(D)
    assert found.dilation.observed[0, 3].item() == pytest.approx(expected, rel=1e-12)
    inside = kept & (tree.labels > 0) & (tree.labels < 5)
    mean = np.concatenate([[0], D])[tree.labels[inside]].mean()
    assert found.mean_diameter.observed[0, 3].item() == pytest.approx(mean, rel=1e-12)


def test_images_without_bends_or_branches_have_no_score() -> None:
    speck = torch.zeros(1, 1, 30, 30)
    speck[..., 10:12, 10:12] = 1.0
    found = vessel_similarity(speck, speck, points=4)
    assert found.coverage.tolist() == [[0.0] * 4]
    assert found.dilation.observed.tolist() == [[0.0] * 4]
    assert math.isnan(found.mean_diameter.normalised.item())
    assert found.inserted.tolist()[0][-1] == 1.0


def test_given_trees_are_used_and_counted() -> None:
    image = two_bars()
    tree = trace(image[0])
    maps = torch.rand(image.shape, generator=torch.Generator().manual_seed(1))
    given = vessel_similarity(image, maps, trees=[tree], points=5)
    own = vessel_similarity(image, maps, points=5)
    assert torch.equal(given.dilation.observed, own.dilation.observed)
    with pytest.raises(SSplainError, match="2 trees for 1 images"):
        vessel_similarity(image, maps, trees=[tree, tree])
