import itertools
import math
import warnings

import captum.attr
import pytest
import torch
from torch import Tensor

from ssplain import SSplainError
from ssplain.rivals.sampled import KernelShap, Lime, as_labels
from tests.explain.small import pictures, small


def captums(theirs: type, model: object, image: Tensor, target: int, labels: Tensor) -> Tensor:
    """Explain one image by Captum with the seed 5."""
    torch.manual_seed(5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found: Tensor = theirs(model).attribute(
            image[None], target=target, n_samples=60, feature_mask=labels[None, None]
        )
    return found[:, :1]


@pytest.mark.parametrize(
    ("ours", "theirs"), [(Lime, captum.attr.Lime), (KernelShap, captum.attr.KernelShap)]
)
@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("pixels", [True, False])
def test_a_seed_gives_captums_result(
    ours: type, theirs: type, channels: int, *, pixels: bool
) -> None:
    network, images, classes = small(channels=channels), pictures(3, channels), [0, 2, 1]

    def model(x: Tensor) -> Tensor:
        values: Tensor = 30 * network(x)  # so that the lasso's penalty leaves something
        return values

    blocks = (torch.arange(12)[:, None] // 4) * 2 + torch.arange(10) // 5
    labels = torch.arange(120).view(12, 10) if pixels else blocks
    explainer = ours(model, samples=60, seed=5, segments=None if pixels else blocks)
    maps = explainer.attribute(images, classes)
    for image, target, found in zip(images, classes, maps, strict=True):
        expected = captums(theirs, model, image, target, labels)
        assert float(expected.std()) > 0
        off = float((found - expected).abs().max() / expected.abs().max())
        # Captum solves in single precision, which costs digits where samples are fewer than pixels
        assert off < (2e-2 if ours is KernelShap and pixels else 2e-5)


def test_kernel_shap_finds_exact_shapley_values() -> None:
    def game(x: Tensor) -> Tensor:
        v = x.flatten(1)
        return (v[:, 0] * v[:, 1] + 2 * v[:, 2] - v[:, 1] * v[:, 2] * v[:, 3])[:, None]

    image = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    values = shapley(lambda kept: float(game((image.flatten() * torch.tensor(kept))[None])), 4)
    found = KernelShap(game, samples=4000, output_kind="logits").attribute(image, 1)
    assert found.flatten().tolist() == pytest.approx(values, abs=0.5)
    # they add up whatever the draws
    few = KernelShap(game, samples=12, output_kind="logits").attribute(image, 1)
    assert float(few.sum()) == pytest.approx(float(game(image[None])), abs=1e-3)


def shapley(worth: object, players: int) -> list[float]:
    """Average what each player adds, over all orders."""
    totals = [0.0] * players
    for order in itertools.permutations(range(players)):
        kept = [0.0] * players
        for player in order:
            before = worth(kept)  # type: ignore[operator]
            kept[player] = 1.0
            totals[player] += worth(kept) - before  # type: ignore[operator]
    return [total / math.factorial(players) for total in totals]


def test_lime_finds_the_coefficients_of_a_linear_model() -> None:
    true = torch.tensor([[[3.0, 0.0], [-2.0, 1.0]]])
    found = Lime(
        lambda x: (x * true).sum((1, 2, 3)), samples=400, alpha=1e-4, output_kind="logits"
    ).attribute(torch.ones(1, 1, 2, 2), 1)
    torch.testing.assert_close(found, true[None], atol=5e-3, rtol=0)


def test_segments_of_their_own_for_each_image() -> None:
    images = pictures(2, shape=(4, 4))
    halves = (torch.arange(4) // 2).expand(4, 4)
    quarters = halves + 2 * halves.T
    both = torch.stack([halves, quarters])[:, None]
    together = KernelShap(small(), samples=40, segments=both).attribute(images, 1)
    for i, segments in enumerate((halves, quarters)):
        alone = KernelShap(small(), samples=40, segments=segments).attribute(images[i], 1)
        torch.testing.assert_close(together[i], alone[0])
        assert len(set(alone.flatten().tolist())) == segments.max() + 1
    asked = KernelShap(small(), samples=40, segments=lambda x: both[: len(x)])
    torch.testing.assert_close(asked.attribute(images, 1), together)


def test_the_model_is_called_in_full_batches() -> None:
    calls: list[int] = []

    def counting(x: Tensor) -> Tensor:
        calls.append(len(x))
        return 9 * x.flatten(1)  # values that nobody takes for probabilities

    Lime(counting, samples=30, batch_size=25).attribute(pictures(2))
    assert calls == [2, 25, 25, 10]


def test_mistakes_are_named() -> None:
    with pytest.raises(SSplainError, match="samples=2 does not work"):
        Lime(small(), samples=2)
    with pytest.raises(SSplainError, match="alpha=0 does not work"):
        Lime(small(), alpha=0)
    with pytest.raises(SSplainError, match=r"float32 of shape \(3, 3\).*\(12, 10\)"):
        as_labels(torch.zeros(3, 3), pictures())
    with pytest.raises(SSplainError, match="at least two features"):
        KernelShap(small(), segments=torch.zeros(12, 10, dtype=torch.long)).attribute(pictures())
