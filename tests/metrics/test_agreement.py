import numpy as np
import pytest
import torch
from scipy.stats import spearmanr
from skimage.feature import hog
from skimage.metrics import structural_similarity

from ssplain.errors import SSplainError
from ssplain.explain.stability import rank_correlation
from ssplain.metrics.agreement import hog_correlation, spearman, ssim


def two_maps(size: int = 32) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    first = torch.randn(4, 1, size, size, generator=generator)
    second = first + torch.randn(4, 1, size, size, generator=generator)
    return first.round(decimals=1), second, torch.rand(4, 1, size, size, generator=generator) > 0.5


@pytest.mark.parametrize("absolute", [False, True])
def test_spearman_is_scipys_on_the_support(absolute: bool) -> None:
    first, second, inside = two_maps()
    found = spearman(first, second, inside, absolute=absolute)
    for i in range(4):
        a, b = first[i][inside[i]].numpy(), second[i][inside[i]].numpy()
        if absolute:
            a, b = np.abs(a), np.abs(b)
        assert found[i].item() == pytest.approx(spearmanr(a, b).statistic)
    assert len(set(found.tolist())) == 4


def test_what_lies_outside_does_not_count() -> None:
    first, second, inside = two_maps()
    for measure in (spearman, ssim, hog_correlation):
        noisy = torch.where(inside, second, 100.0)
        assert torch.equal(measure(first, noisy, inside), measure(first, second, inside))


def test_flat_maps_agree_with_nothing() -> None:
    first, _, inside = two_maps()
    flat = torch.full_like(first, -2.0)
    assert spearman(first, flat, inside).tolist() == [0.0] * 4
    assert ssim(flat, flat, inside).tolist() == pytest.approx([1.0] * 4)
    assert rank_correlation(np.ones((1, 3)), np.ones((1, 3))).tolist() == [0.0]


def test_ssim_is_scikit_images_where_all_is_inside() -> None:
    first, second, _ = two_maps(64)
    first, second = (m[:1].double() for m in (first, second))
    everywhere = torch.ones_like(first, dtype=torch.bool)
    a, b = (((m - m.min()) / (m.max() - m.min()))[0, 0].numpy() for m in (first, second))
    _, local = structural_similarity(a, b, data_range=1, win_size=7, full=True)  # type: ignore[no-untyped-call]
    assert ssim(first, second, everywhere).item() == pytest.approx(local.mean())


def test_gradients_are_compared_in_cells_of_eight_pixels_and_nine_directions() -> None:
    first, second, _ = two_maps()
    everywhere = torch.ones_like(first, dtype=torch.bool)
    found = hog_correlation(first, second, everywhere)
    for i in range(4):
        pair = (first[i, 0], second[i, 0])
        scaled = [((m - m.min()) / (m.max() - m.min())).numpy() for m in pair]
        a, b = (hog(m, orientations=9, pixels_per_cell=(8, 8)) for m in scaled)
        assert found[i].item() == pytest.approx(np.corrcoef(a, b)[0, 1])


def test_likeness_falls_with_noise() -> None:
    first, _, inside = two_maps()
    noise = torch.randn(4, 1, 32, 32, generator=torch.Generator().manual_seed(5))
    for measure in (spearman, ssim, hog_correlation):
        near, far = measure(first, first + 0.1 * noise, inside), measure(first, noise, inside)
        assert bool((near > far + 0.2).all())
        assert measure(first, first, inside).tolist() == pytest.approx([1.0] * 4)


def test_the_outline_of_the_support_is_no_likeness() -> None:
    noise = torch.rand(2, 20, 1, 28, 28, generator=torch.Generator().manual_seed(0))
    disc = (
        torch.hypot(
            *torch.meshgrid(torch.arange(28.0) - 14, torch.arange(28.0) - 14, indexing="ij")
        )
        < 8
    )
    inside = disc.expand(20, 1, 28, 28)
    assert abs(float(ssim(noise[0], noise[1], inside).mean())) < 0.05


def test_mistakes_are_named() -> None:
    first, second, inside = two_maps()
    with pytest.raises(SSplainError, match="three of the same"):
        spearman(first, second[:2], inside)
    with pytest.raises(SSplainError, match="NaN"):
        ssim(first, second * torch.nan, inside)
    with pytest.raises(SSplainError, match="HOG needs 24"):
        hog_correlation(first[..., :20], second[..., :20], inside[..., :20])
