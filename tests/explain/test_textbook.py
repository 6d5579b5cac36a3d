"""The batched explainer against Algorithm 1 for one image."""

import copy

import pytest
import torch
from torch import Tensor, nn

import ssplain
from ssplain import SSplain, preset
from ssplain.bench.textbook import textbook


@pytest.fixture(scope="module", params=["mnist", "fmnist"])
def dataset(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def tie_free(dataset: str, count: int, *, fill_background: bool) -> tuple[Tensor, Tensor]:
    """Return bundled images with every pixel value made unique by a little seeded noise."""
    images, labels = ssplain.data.bundled(dataset)
    noise = torch.rand(images[:count].shape, generator=torch.Generator().manual_seed(0))
    shaken = images[:count] * 0.9 + 0.1 * noise
    background = 0.1 * noise if fill_background else torch.zeros_like(noise)
    return torch.where(images[:count] > 0, shaken, background), labels[:count]


def settings(dataset: str, norm: str) -> dict[str, object]:
    chosen: dict[str, object] = {**preset(dataset), "norm": norm}
    del chosen["start"], chosen["support"]
    return chosen


@pytest.mark.parametrize("norm", ["l0", "l1"])
@pytest.mark.parametrize("use_support", [True, False])
def test_equals_algorithm_1(dataset: str, norm: str, use_support: bool) -> None:
    images, labels = tie_free(dataset, 5, fill_background=not use_support)
    single = ssplain.models.load(f"lenet5-{dataset}")
    double = copy.deepcopy(single).double()
    chosen = settings(dataset, norm)
    support = "nonzero" if use_support else None
    ours64 = SSplain(double, **chosen, support=support).explain(images.double(), labels)  # type: ignore[arg-type]
    ours32 = SSplain(single, **chosen, support=support).explain(images, labels)  # type: ignore[arg-type]
    for i, (image, label) in enumerate(zip(images, labels, strict=True)):
        expected = textbook(
            double,
            image[0].double(),
            int(label),
            use_support=use_support,
            **chosen,  # type: ignore[arg-type]
        )
        inside = ours64.support[i, 0]
        got64, got32 = ours64.scores[i, 0][inside], ours32.scores[i, 0][inside]
        torch.testing.assert_close(got64, expected[inside], rtol=0, atol=1e-9)
        torch.testing.assert_close(got32.double(), expected[inside], rtol=0, atol=1e-4)


@pytest.mark.parametrize("batch_size", [1, 3, 8])
def test_does_not_depend_on_the_batch(dataset: str, batch_size: int) -> None:
    images, labels = ssplain.data.bundled(dataset)
    model = ssplain.models.load(f"lenet5-{dataset}")
    together = SSplain(model, **preset(dataset)).attribute(images[:40], labels[:40])
    for at in (0, 17):
        some = slice(at, at + 10)
        explainer = SSplain(model, **preset(dataset), batch_size=batch_size)
        apart = explainer.attribute(images[some], labels[some])
        torch.testing.assert_close(apart, together[some], rtol=0, atol=1e-5)


def test_does_not_depend_on_the_batch_with_small_gradients() -> None:
    """A model that is certain has gradients near the rounding error; the map must not care."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Flatten(), nn.Linear(12 * 10, 32), nn.Tanh(), nn.Linear(32, 3))
    with torch.no_grad():
        model[-1].weight *= 60  # type: ignore[operator,assignment]
    images = torch.rand(33, 1, 12, 10)
    together = SSplain(model).explain(images)
    assert float(together.probabilities.max(1).values.max()) > 1 - 1e-6
    apart = torch.cat([SSplain(model).attribute(image) for image in images])
    torch.testing.assert_close(apart, together.scores, rtol=0, atol=1e-5)
