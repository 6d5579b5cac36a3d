"""Every measure must call the better map better: each is shown a map that is good by design."""

from collections.abc import Iterator
from typing import get_args

import pytest
import torch
from torch import Tensor, nn

from ssplain.errors import SSplainError
from ssplain.metrics import MEASURES, Material, Measure, evaluate
from ssplain.metrics.measure import Kind
from ssplain.metrics.measures import settled
from ssplain.register import Register
from ssplain.vessels import trace

HIGH = {
    "insertion",
    "kappa",
    "connected",
    "gini",
    "precision-above-chance",
    "recall-above-chance",
    "pointing-above-chance",
    "average-precision-above-chance",
    "curvature",
    "dilation",
    "curvature-gain",
    "diameter-gain",
    "coverage",
    "sparsity",
    "seed-agreement",
    "overlap-1e-6",
    "overlap-1e-3",
    "ranks-1e-6",
    "ranks-1e-3",
}
LOW = {
    "deletion",
    "roughness",
    "settled",
    "background",
    "shown-roughness",
    "seconds",
    "max-sensitivity",
    "spearman",
    "spearman-absolute",
    "ssim",
    "hog",
    "spearman-start-fixed",
    "spearman-with-start",
}
NEITHER = {"tie-share", "agreement"}


def test_every_measure_says_which_way_is_better() -> None:
    said = {name: one.better for name, one in MEASURES.items()}
    expected = {**dict.fromkeys(HIGH, "high"), **dict.fromkeys(LOW, "low")}
    assert said == {**expected, **dict.fromkeys(NEITHER)}


def test_every_measure_is_of_a_known_kind() -> None:
    assert {one.kind for one in MEASURES.values()} <= set(get_args(Kind))


@pytest.mark.parametrize("name", MEASURES)
def test_every_record_is_complete(name: str) -> None:
    one = MEASURES[name]
    assert one.name == name
    assert one.words
    assert one.reference
    assert one.unit or not one.stepwise
    assert one.heading or not one.stepwise
    assert one.balanced == (name in ("insertion", "deletion"))


def test_the_sign_follows_the_direction() -> None:
    assert MEASURES["insertion"].sign == 1
    assert MEASURES["deletion"].sign == -1
    assert MEASURES["deletion"].is_better(0.1, 0.2)
    assert not MEASURES["insertion"].is_better(0.1, 0.2)
    assert MEASURES["kappa"].says("area") == "area, high is good"
    assert MEASURES["agreement"].says("area") == "area"
    with pytest.raises(SSplainError, match="neither high nor low"):
        _ = MEASURES["tie-share"].sign


class Left(nn.Module):
    """Says class 1 for images that are bright at the left of row 8."""

    def forward(self, images: Tensor) -> Tensor:
        seen = images[:, 0, 7:10, 2:8].mean((1, 2))
        return torch.stack([torch.full_like(seen, 0.5), seen], 1) * 20


def scene() -> tuple[Tensor, Tensor, Tensor]:
    """Return images with a bar that decides at the left, and two maps: of the bar, and not."""
    images = torch.zeros(2, 1, 24, 24)
    images[..., 7:10, 2:20] = 1.0
    rows, columns = torch.meshgrid(torch.arange(24.0), torch.arange(24.0), indexing="ij")
    good = torch.where(images > 0, 30.0 - columns, 0.0)
    bad = torch.where(images > 0, columns * ((rows + columns) % 2), 20.0 + rows)
    return images, good, bad


@pytest.mark.parametrize(
    "name",
    [
        "insertion",
        "deletion",
        "kappa",
        "connected",
        "roughness",
        "settled",
        "background",
        "sparsity",
        "shown-roughness",
    ],
)
def test_the_map_that_is_right_by_design_is_called_better(name: str) -> None:
    images, good, bad = scene()
    labels = torch.tensor([1, 1])
    ours, theirs = (
        evaluate(Left(), images, labels, maps, axis="all", points=25, measures=[name])
        for maps in (good, bad)
    )
    gain = ours.gain(theirs, name)
    assert gain.low > 0
    assert gain.value == pytest.approx(-theirs.gain(ours, name).value)


@pytest.mark.parametrize("name", sorted(name for name in HIGH if "above-chance" in name))
def test_a_map_of_the_disease_localises_better_than_its_opposite(name: str) -> None:
    images, good, _ = scene()
    truth = torch.zeros_like(images)
    truth[..., 7:10, 2:6] = 1.0
    ours, theirs = (
        evaluate(Left(), images, torch.tensor([1, 1]), maps, truth=truth, measures=[name])
        for maps in (good, -good)
    )
    assert ours.gain(theirs, name).low > 0


@pytest.mark.parametrize("name", ["diameter-gain", "coverage"])
def test_a_map_of_wide_vessels_is_called_better(name: str) -> None:
    images = torch.zeros(2, 1, 40, 60)
    images[..., 8:11, 5:55] = 1.0
    images[..., 26:33, 5:55] = 1.0
    wide_first = torch.arange(40.0)[:, None].expand_as(images)
    trees = [trace(image) for image in images]
    labels = torch.tensor([0, 0])
    ours, theirs = (
        evaluate(Left(), images, labels, maps, points=11, trees=trees, measures=[name])
        for maps in (wide_first, -wide_first)
    )
    assert ours.gain(theirs, name).low > 0


def test_channels_are_joined_as_the_paper_joins_them() -> None:
    """Connected parts, curvature and dilation take the mean of the channels, the rest the max."""
    images, good, bad = scene()
    both = torch.cat([good, bad / 2, bad / 3], 1)
    labels, trees = torch.tensor([1, 1]), [trace(image) for image in images]

    def measured(maps: Tensor) -> dict[str, Tensor]:
        return dict(evaluate(Left(), images, labels, maps, points=9, trees=trees).values)

    joined = measured(both)
    highest, mean = measured(both.amax(1, keepdim=True)), measured(both.mean(1, keepdim=True))
    by_mean = {"connected", "curvature", "dilation", "curvature-gain", "diameter-gain", "coverage"}
    for name, values in joined.items():
        expected = (mean if name in by_mean else highest)[name]
        torch.testing.assert_close(values, expected, equal_nan=True)
    assert not torch.equal(mean["connected"], highest["connected"])


def test_what_is_lacking_is_asked_for() -> None:
    images, good, _ = scene()
    with pytest.raises(SSplainError, match="'curvature' needs trees"):
        evaluate(Left(), images, 1, good, measures=["curvature"])
    with pytest.raises(SSplainError, match="'seconds' needs elsewhere"):
        evaluate(Left(), images, 1, good, measures=["seconds"])
    with pytest.raises(SSplainError, match="no measure 'accuracy'; choose one of: insertion, del"):
        evaluate(Left(), images, 1, good, measures=["accuracy"])
    with pytest.raises(SSplainError, match="not taken from finished maps"):
        MEASURES["seconds"].compute(Material(Left(), images, 1, good, "all", 3))


class Highest(Measure):
    name, words, better = "highest", "the highest score", "low"

    def compute(self, material: Material) -> Tensor:
        return material.joined("max").flatten(1).amax(1)


@pytest.fixture
def highest() -> Iterator[Measure]:
    yield MEASURES.add(Highest)
    MEASURES.remove("highest")


def test_a_measure_of_ones_own_is_one_small_class(highest: Measure) -> None:
    images, good, _ = scene()
    found = evaluate(Left(), images, torch.tensor([1, 1]), good, points=3)
    assert list(found.values)[-1] == highest.name
    assert found.summary("highest").value == 28
    assert found.gain(evaluate(Left(), images, 1, good * 2, points=3), "highest").value == 28
    with pytest.raises(SSplainError, match="The measure 'highest' is there already"):
        MEASURES.add(Highest())


def test_only_measures_are_registered() -> None:
    with pytest.raises(SSplainError, match=r"instance of ssplain\.metrics\.measure\.Measure"):
        MEASURES.add("highest")  # type: ignore[arg-type]
    empty: Register[Measure] = Register("measure", "nobody.at.home", Measure)
    assert len(empty) == 0
    assert empty.get("kappa") is None


def test_settled_is_the_last_change_of_the_verdict() -> None:
    right = torch.tensor([[0, 1, 1, 1], [1, 0, 0, 0], [0, 1, 0, 1], [0, 0, 0, 0]]) > 0
    grid = torch.linspace(0, 1, 4)
    assert settled(right, grid).tolist() == pytest.approx([1 / 3, 1 / 3, 1, 0])


def looks(images: Tensor, maps: Tensor, reference: Tensor) -> dict[str, float]:
    names = ["background", "sparsity", "agreement"]
    found = evaluate(
        Left(), images, torch.zeros(1).long(), maps, measures=names, reference=reference
    )
    return {name: values.item() for name, values in found.values.items()}


def test_the_background_among_the_first_pixels_is_counted() -> None:
    image = torch.zeros(1, 1, 10, 10)
    image[..., :4] = 1.0  # the support has 40 pixels, of which 5 are looked at
    score = torch.zeros(1, 1, 10, 10)
    score[0, 0, 0, [0, 1, 2, 8, 9]] = torch.tensor([5.0, 4.0, 3.0, 2.0, 1.0])
    found = looks(image, score, image + score)
    assert found["background"] == pytest.approx(2 / 5)
    assert found["sparsity"] > 0.9
    below = looks(image, torch.where(image > 0, score, -9.0), score)
    assert below["agreement"] == pytest.approx(1)
    assert below["sparsity"] > 0.9  # what lies below zero says nothing for the class


def test_a_small_support_bounds_the_pixels_that_are_looked_at() -> None:
    image = torch.zeros(1, 1, 10, 10)
    image[0, 0, 0, :2] = 1.0
    assert looks(image, image, image)["background"] == 0
