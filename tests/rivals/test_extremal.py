import math
from collections.abc import Callable

import pytest
import torch
from scipy import ndimage
from torch import Tensor

import ssplain
from ssplain import SSplainError
from ssplain.rivals.extremal import ExtremalMasks, ExtremalPerturbation, area_reference
from tests.explain.small import pictures, small


def corner(x: Tensor) -> Tensor:
    """A model that looks at the upper left quarter alone; class 1 wants it bright."""
    bright = x[:, 0, :6, :5].sum((1, 2))
    return torch.stack([-bright, bright], 1)


@pytest.mark.parametrize(
    ("objective", "perturbation", "step", "sigma"),
    [("dual", "blur", 1, 1.0), ("preserve", "fade", 2, 1.5), ("delete", "blur", 3, 4.0)],
)
def test_equals_the_definition_pixel_by_pixel(
    objective: str, perturbation: str, step: int, sigma: float
) -> None:
    network = small().double()

    def model(x: Tensor) -> Tensor:
        return 10 * network(x)  # type: ignore[no-any-return]

    images = pictures(2, shape=(6, 5)).double()
    explainer = ExtremalPerturbation(
        model,
        budget=0.4,
        iterations=3,
        objective=objective,  # type: ignore[arg-type]
        perturbation=perturbation,  # type: ignore[arg-type]
        step=step,
        sigma=sigma,
        area_reduction="sum",  # with the mean, so small an image is empty after two steps
    )
    found = explainer.explain(images, [0, 2]).masks
    for image, target, mask in zip(images, [0, 2], found, strict=True):
        expected = by_definition(
            model,
            image[0],
            target,
            objective=objective,
            perturbation=perturbation,
            step=step,
            sigma=sigma,
        )
        assert float(expected.std()) > 0.001  # the model has its say
        torch.testing.assert_close(mask[0], expected, atol=1e-10, rtol=0)


def by_definition(
    model: Callable[[Tensor], Tensor],
    image: Tensor,
    target: int,
    *,
    objective: str,
    perturbation: str,
    step: int,
    sigma: float,
) -> Tensor:
    """One mask, as the method is defined: loops, sorting, an optimiser of PyTorch."""
    height, width = image.shape
    reach = 1 + math.ceil(sigma / step)
    rows, columns = (math.ceil(size / step) + 2 * reach for size in image.shape)
    levels = []
    for level in range(8):
        blur = 20 * (1 - level / 7)
        blurred = ndimage.gaussian_filter(
            image.numpy(), max(blur, 1e-3), mode="constant", radius=math.ceil(4 * blur)
        )
        levels.append(torch.from_numpy(blurred) if perturbation == "blur" else image * (level / 7))

    def canvas_of(grid: Tensor) -> Tensor:
        wide = torch.nn.functional.pad(grid, (reach,) * 4)
        pixels = []
        for y in range(rows * step):
            for x in range(columns * step):
                row, column = y // step, x // step
                near = wide[row : row + 2 * reach + 1, column : column + 2 * reach + 1]
                down = (torch.arange(-reach, reach + 1) + row + 0.5) * step - 0.5 - y
                across = (torch.arange(-reach, reach + 1) + column + 0.5) * step - 0.5 - x
                apart = torch.hypot(down[:, None].double(), across.double()) / sigma
                z = near * torch.exp(-2 * (apart - 0.5).clamp(min=0) ** 2)
                pixels.append((z * (20 * z).flatten().softmax(0).view_as(z)).sum())
        return torch.stack(pixels).view(rows * step, columns * step)

    def answer(mask: Tensor) -> Tensor:
        perturbed = torch.zeros_like(image)
        for low in range(7):
            share = 7 * mask - low
            here = (share >= 0) & ((share < 1) | (low == 6))
            between = levels[low] + share * (levels[low + 1] - levels[low])
            perturbed = torch.where(here, between, perturbed)
        return model(perturbed[None, None])[0, target]

    edge = slice(reach * step, reach * step + height), slice(reach * step, reach * step + width)
    ones = int(0.4 * int((image != 0).sum()))
    grid = torch.ones(rows, columns, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.SGD([grid], lr=0.01, momentum=0.9, dampening=0.9, maximize=True)
    for iteration in range(3):
        canvas = canvas_of(grid)
        kept, removed = answer(canvas[edge]), answer(1 - canvas[edge])
        reward = {"preserve": kept, "delete": -removed, "dual": kept - removed}[objective]
        values = canvas.flatten()
        equal = (1000 * values.detach()).round()
        order = torch.zeros_like(values)
        order[equal.sort().indices[len(values) - ones :]] = 1
        reference = torch.stack([order[equal == one].mean() for one in equal])
        area = (values - reference).square().sum() / 1024
        grid.grad = torch.autograd.grad(reward - 300 * 1.0035**iteration * area, grid)[0]
        optimiser.step()
        with torch.no_grad():
            grid.clamp_(0, 1)
    return canvas_of(grid.detach())[edge]


@pytest.mark.parametrize("objective", ["preserve", "delete", "dual"])
def test_finds_the_pixels_that_the_model_looks_at(objective: str) -> None:
    explainer = ExtremalPerturbation(
        corner,
        budget=0.25,
        iterations=300,
        objective=objective,  # type: ignore[arg-type]
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
        ({"objective": "hybrid"}, "objective='hybrid' is not known"),
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
