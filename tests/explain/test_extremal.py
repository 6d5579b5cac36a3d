import pytest
import torch
from torch import Tensor

import ssplain
from ssplain import SSplainError
from ssplain.explain.extremal import ExtremalMasks, ExtremalPerturbation, area_reference
from tests.explain.small import pictures, small


def corner(x: Tensor) -> Tensor:
    """A model that looks at the upper left quarter alone; class 1 wants it bright."""
    bright = x[:, 0, :6, :5].sum((1, 2))
    return torch.stack([-bright, bright], 1)


@pytest.mark.parametrize("variant", ["preserve", "delete", "dual"])
def test_finds_the_pixels_that_the_model_looks_at(variant: str) -> None:
    explainer = ExtremalPerturbation(
        corner,
        budget=0.25,
        iterations=300,
        variant=variant,  # type: ignore[arg-type]
        perturbation="fade",
        step=1,
        sigma=0.5,
        support=None,
    )
    result = explainer.explain(torch.ones(1, 1, 12, 10), 1)
    mask = result.masks[0, 0]
    outside = mask.clone()
    outside[:6, :5] = 0
    assert float(mask[:6, :5].mean()) > 0.95
    assert float(outside.sum() / 90) < 0.1
    assert float(result.wanted) == 0.25
    assert float(result.distance) < 0.1


def test_the_reference_is_that_of_sorting_with_equals_averaged() -> None:
    generator = torch.Generator().manual_seed(6)
    values = torch.randint(0, 30, (4, 200), generator=generator) / 40
    count = torch.tensor([1, 50, 199, 200])
    found = area_reference(values, count)
    for row, ones, reference in zip(values, count.tolist(), found, strict=True):
        order = row.argsort()
        plain = torch.zeros(200)
        plain[order[200 - ones :]] = 1.0
        for value in row.tolist():
            same = row == value
            torch.testing.assert_close(reference[same], plain[same].mean().expand(int(same.sum())))


@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_the_area_term_alone_decays_as_it_must(reduction: str) -> None:
    """Without opinion of the model, equal values fall towards their share of the area."""
    size, iterations = 24, 60
    result = without_opinion(size, 0.25, iterations, reduction)
    pull = 1 / size**2 if reduction == "mean" else 1 / 1024
    share = 0.25 * size**2 / (size + 4) ** 2  # two more pixels on each side
    value, velocity = 1.0, 0.0
    for k in range(iterations):
        slope = -2 * 300 * 1.0035**k * pull * (value - share)
        velocity = slope if k == 0 else 0.9 * velocity + 0.1 * slope
        value = min(max(value + 0.01 * velocity, 0.0), 1.0)
    assert 0.3 < value < 0.8
    torch.testing.assert_close(
        result.masks, torch.full_like(result.masks, value), atol=1e-3, rtol=0
    )
    # an even mask has the area, perhaps, but is far from ones and zeros
    expected = (0.25 * (1 - value) ** 2 + 0.75 * value**2) ** 0.5
    assert float(result.distance) == pytest.approx(expected, abs=1e-3)


def without_opinion(size: int, budget: float, iterations: int, reduction: str) -> ExtremalMasks:
    explainer = ExtremalPerturbation(
        lambda x: 0 * x.flatten(1)[:, :2],
        budget=budget,
        iterations=iterations,
        step=1,
        sigma=0.1,  # no pixel reaches another
        area_reduction=reduction,  # type: ignore[arg-type]
        output_kind="logits",
    )
    return explainer.explain(torch.ones(1, 1, size, size), 0)


def test_says_where_the_area_ended() -> None:
    images, labels = ssplain.data.bundled("mnist")
    explainer = ExtremalPerturbation(
        ssplain.models.load("lenet5-mnist"), budget=0.25, iterations=10, step=1, sigma=1
    )
    result = explainer.explain(images[:2], labels[:2])
    lit = (images[:2] != 0).sum((1, 2, 3))
    assert torch.equal(result.wanted, (lit * 0.25).floor() / 784)
    torch.testing.assert_close(result.area, result.masks.mean((1, 2, 3)))
    assert bool((result.area > 5 * result.wanted).all())


def test_the_sum_pulls_large_images_to_their_area() -> None:
    slow, quick = (without_opinion(64, 0.1, 200, how).area for how in ("mean", "sum"))
    assert float(slow) > 0.6
    assert float(quick) < 0.35


def test_smoothing_blurs_what_is_returned() -> None:
    settings = {"iterations": 5, "step": 1, "sigma": 1.0}
    plain = ExtremalPerturbation(small(), **settings).attribute(pictures(), 1)  # type: ignore[arg-type]
    same = ExtremalPerturbation(small(), smooth=0.0001, **settings).attribute(pictures(), 1)  # type: ignore[arg-type]
    blurred = ExtremalPerturbation(small(), smooth=0.2, **settings).attribute(pictures(), 1)  # type: ignore[arg-type]
    assert torch.equal(plain, same)
    assert float(blurred[0, 0, 0, 0]) < 0.5 * float(plain[0, 0, 0, 0])


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"variant": "hybrid"}, "variant='hybrid' is not known"),
        ({"perturbation": "noise"}, "perturbation='noise' is not known"),
        ({"area_reduction": "max"}, "area_reduction='max' is not known"),
        ({"budget": 0}, "budget=0 is not a share"),
        ({"step": 0}, "step=0 does not work"),
        ({"sigma": 0}, "sigma=0 does not work"),
    ],
)
def test_mistakes_are_named(settings: dict[str, object], says: str) -> None:
    with pytest.raises(SSplainError, match=says):
        ExtremalPerturbation(small(), **settings)  # type: ignore[arg-type]
