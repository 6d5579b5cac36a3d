"""What users of such tools ask for, where no other test has the whole answer: see docs/field.md."""

import inspect
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import ssplain
from ssplain import SSplain, metrics
from ssplain.explain.registry import METHODS, make, method, names
from ssplain.report import heat, overlay
from tests.explain.small import QUICK, pictures, small

TOP = Path(__file__).parents[1]
SIZE = (8, 16)
WINDOW = (slice(4, 8), slice(4, 8))  # far from itself when rows and columns change places


def explained(name: str, model: nn.Module, images: Tensor, **settings: Any) -> Tensor:  # noqa: ANN401
    return make(name, model, **{**QUICK.get(name, {}), **settings}).attribute(images, 1)


class Watch:
    """Sees every batch that reaches a convolution, in a model or a copy of it; small ones fit."""

    def __init__(self, patch: pytest.MonkeyPatch, room: int = 1000) -> None:
        self.seen: list[int] = []
        plain = nn.Conv2d.forward

        def forward(layer: nn.Conv2d, x: Tensor) -> Tensor:
            self.seen.append(len(x))
            if len(x) > room:
                raise torch.OutOfMemoryError("no room")
            return plain(layer, x)

        patch.setattr(nn.Conv2d, "forward", forward)


class Window(nn.Module):
    """Says class 1 for what is bright in one window; looks nowhere else."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 1, 1, bias=False)
        self.relu = nn.ReLU()
        nn.init.ones_(self.conv.weight)

    def forward(self, x: Tensor) -> Tensor:
        seen = self.relu(self.conv(x))[:, 0, *WINDOW].flatten(1).mean(1)
        return torch.stack([0.5 - seen, seen - 0.5], 1)


def blocks(images: Tensor) -> Tensor:
    """Return squares of 4 x 4 pixels as features."""
    rows, columns = (torch.arange(side) // 4 for side in images.shape[-2:])
    return rows[:, None] * 100 + columns


@pytest.mark.parametrize("name", names())
class TestEveryExplainer:
    @pytest.mark.parametrize("size", [2, 4])
    def test_no_call_brings_more_images_than_asked_for(
        self,
        name: str,
        size: int,
        monkeypatch: pytest.MonkeyPatch,
        capfd: pytest.CaptureFixture[str],
    ) -> None:
        watch = Watch(monkeypatch)
        explained(name, small(), pictures(5), batch_size=size)
        assert 0 < max(watch.seen) <= size
        assert capfd.readouterr() == ("", "")  # a library shows no bar unasked

    def test_a_full_memory_is_said_and_changes_nothing(
        self, name: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        expected = explained(name, small(), pictures(6))
        watch = Watch(monkeypatch, room=4)
        with pytest.warns(ResourceWarning, match="Out of memory: going on with"):
            found = explained(name, small(), pictures(6))
        assert max(watch.seen) > 4  # by default they go together
        torch.testing.assert_close(found, expected, atol=2e-5, rtol=1e-4)

    @pytest.mark.parametrize("fill", [None, (0.1, 0.2, 0.3), "mean", "blur"])
    def test_no_channel_is_hidden_otherwise_than_the_others(
        self,
        name: str,
        fill: Any,  # noqa: ANN401
    ) -> None:
        """Channels in another order, for a network that takes them so, give the same map."""
        turned, first, second = [2, 0, 1], small(channels=3).double(), small(channels=3).double()
        with torch.no_grad():
            second.conv.weight.copy_(first.conv.weight[:, turned])
        images = pictures(2, 3).double()
        other = [fill[i] for i in turned] if isinstance(fill, tuple) else fill
        expected = explained(name, first, images, fill=fill)
        found = explained(name, second, images[:, turned], fill=other)
        torch.testing.assert_close(found, expected, atol=1e-6, rtol=1e-5)

    def test_rows_and_columns_keep_their_places(self, name: str) -> None:
        if method(name).family == "control":
            pytest.skip("does not ask the model")
        clear: dict[str, dict[str, Any]] = {
            "lime": {"segments": blocks, "samples": 60},
            "kernel-shap": {"segments": blocks, "samples": 60},
            "regions": {"segments": blocks},
            "rise": {"samples": 400},
            "occlusion": {"window": 2, "stride": 2},
        }
        images = torch.ones(2, 1, *SIZE)
        maps = explained(name, Window().eval(), images, **clear.get(name, {}))
        inside = torch.zeros(SIZE, dtype=torch.bool)
        inside[WINDOW] = True
        for one in maps[:, 0]:
            assert float(one[inside].mean()) > float(one[~inside].mean() + one.std())


class Told:
    """Two classes, by brightness; knows how many images each call brought."""

    def __init__(self) -> None:
        self.seen: list[int] = []

    def __call__(self, images: Tensor) -> Tensor:
        self.seen.append(len(images))
        total = images.mean((1, 2, 3))
        return torch.stack([0.5 - total, total - 0.5], 1) * 9


class TestMeasures:
    def test_images_and_steps_go_through_the_model_together(self) -> None:
        """A loop over images or over steps would need more calls."""
        model, images = Told(), pictures(6)
        curves = metrics.insertion_deletion(model, images, 1, images, points=21, batch_size=64)
        assert curves.forwards > 100
        first, *rest = model.seen  # the whole images, before anything is hidden
        assert first == 6
        assert len(rest) == math.ceil(curves.forwards / 64)

    @pytest.mark.parametrize("side", [8, 64])
    def test_steps_and_not_pixels_set_the_cost(self, side: int) -> None:
        images = 0.1 + torch.rand(2, 1, side, side, generator=torch.Generator().manual_seed(0))
        curves = metrics.insertion_deletion(Told(), images, 1, images, points=11)
        assert curves.forwards == 2 * (11 + 9)  # both curves share their ends

    @pytest.mark.parametrize("baseline", ["black", "mean", "blur"])
    def test_no_channel_is_hidden_otherwise_than_the_others(self, baseline: Any) -> None:  # noqa: ANN401
        turned, images = [2, 0, 1], pictures(2, 3)
        maps = torch.rand(2, 1, 12, 10, generator=torch.Generator().manual_seed(0))
        seen: dict[bool, list[Tensor]] = {False: [], True: []}

        def model(x: Tensor, change: bool) -> Tensor:
            back = x[:, [turned.index(i) for i in range(3)]] if change else x
            seen[change].extend(back)
            return (back * torch.tensor([1.0, 2.0, -3.0])[:, None, None]).mean((2, 3))

        for change, given in ((False, images), (True, images[:, turned])):
            metrics.insertion_deletion(
                lambda x, change=change: model(x, change), given, 0, maps, baseline=baseline,
                points=9,
            )  # fmt: skip
        torch.testing.assert_close(torch.stack(seen[True]), torch.stack(seen[False]))


class TestPictures:
    INSIDE = torch.tensor([[[True, True], [True, False]]])

    @pytest.mark.parametrize("low", [None, 0.0])
    @pytest.mark.parametrize("value", [0.0, 1e-30, -2.0, 7.0])
    def test_constant_maps_have_one_colour(self, value: float, low: float | None) -> None:
        picture = heat(torch.full((1, 2, 2), value), self.INSIDE, low)
        assert len(np.unique(picture[self.INSIDE[0].numpy()], axis=0)) == 1
        assert not picture[1, 1].any()

    def test_maps_below_zero_keep_their_order(self) -> None:
        scores = torch.tensor([[[-1.0, -2.0], [-3.0, -9.0]]])
        light = heat(scores, self.INSIDE).sum(2)
        assert light[0, 0] > light[0, 1] > light[1, 0] > light[1, 1] == 0
        # measured from zero, nothing speaks for the class
        assert len(np.unique(heat(scores, self.INSIDE, 0.0)[self.INSIDE[0].numpy()], axis=0)) == 1

    def test_an_empty_support_shows_the_image_alone(self) -> None:
        image, nowhere = torch.full((1, 2, 2), 0.5), torch.zeros(1, 2, 2, dtype=torch.bool)
        assert not heat(image, nowhere).any()
        assert len(np.unique(overlay(image, image, nowhere))) == 1


class TestMethod:
    def test_no_hook_is_ever_set(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """What hooks get wrong in other tools cannot go wrong here."""
        model, images = small(), pictures()
        expected = SSplain(model, iterations=3).explain(images, 1)

        def refuse(*_: object, **__: object) -> None:
            raise AssertionError("a hook")

        for owner in (nn.Module, Tensor):
            for name in dir(owner):
                if name.startswith("register_") and name.endswith("_hook"):
                    monkeypatch.setattr(owner, name, refuse)
        found = SSplain(model, iterations=3).explain(images, 1)
        assert torch.equal(found.scores, expected.scores)

    def test_nothing_is_shown_where_the_image_is_empty(self) -> None:
        """What is asked of SHAP and LIME in vain: first pixels on the object, and connected."""
        model = ssplain.models.load("lenet5-mnist")
        images, labels = (values[:10] for values in ssplain.data.bundled("mnist"))
        found = {}
        for name in ("ssplain-0", "lime", "kernel-shap"):
            maps = make(name, model, "mnist").attribute(images, labels)
            scored = metrics.evaluate(
                model, images, labels, maps, measures=["background", "connected"], axis="all"
            )
            found[name] = [scored.summary(m).value for m in ("background", "connected")]
        assert found["ssplain-0"][0] == 0
        for rival in ("lime", "kernel-shap"):
            assert found[rival][0] > 0.3
            assert found["ssplain-0"][1] > found[rival][1] + 0.1


# a new default makes other maps without a word: change one only with an entry in CHANGELOG.md
SOLVER: dict[str, object] = {
    "budget": 0.25,
    "norm": "l0",
    "tv_weight": 0.001,
    "rho": 0.01,
    "lr": 0.1,
    "iterations": 20,
    "start": "intensity",
    "support": "nonzero",
    "dual_step": None,
    "inner_steps": 1,
    "tolerance": None,
    "objective": "preserve",
    "tv_over": "grid",
    "shares": "spread",
    "softness": 0.1,
    "coarse": 0,
    "joining": 0.0,
    "spread": 0.0,
    "pooling": 0.0,
    "stable": False,
    "segments": None,
    "constraints": (),
    "terms": (),
    "queries": None,
}
DEFAULTS: dict[str, dict[str, object]] = {
    "ssplain-0": SOLVER,
    "ssplain-1": SOLVER | {"norm": "l1"},
    "ssplain-ranking": SOLVER
    | {
        "tv_weight": 0.0005,
        "rho": 0.001,
        "iterations": 39,
        "start": "gradient",
        "objective": "ranking",
        "tv_over": "support",
        "softness": 0.14,
        "pooling": 0.75,
    },
    "integrated-gradients": {"steps": 50},
    "guided-grad-cam": {"layer": None},
    "deep-shap": {"baselines": None},
    "occlusion": {"window": 1, "stride": 1},
    "lime": {"samples": 200, "segments": None, "alpha": 0.01},
    "kernel-shap": {"samples": 200, "segments": None},
    "extremal-perturbation": {
        "budget": 0.5,
        "iterations": 400,
        "objective": "dual",
        "perturbation": "blur",
        "step": 7,
        "sigma": 21.0,
        "smooth": 0.0,
        "area_reduction": "mean",
        "support": "nonzero",
    },
    "integrated-gradients-complete": {"tolerance": 0.02, "first": 50, "most": 1600},
    "igos": {
        "iterations": 15,
        "points": 20,
        "size": 28,
        "baseline": "blur",
        "sparsity": 1.0,
        "smoothness": 20.0,
        "noise": 0.0,
    },
    "regions": {"segments": "superpixels", "support": "nonzero"},
    "rise": {"samples": 1000, "cells": 7, "keep": 0.5},
}
CURVE: dict[str, object] = {"axis": "all", "points": 101, "support": "nonzero", "seed": 0}
MEASURED: dict[str, dict[str, object]] = {
    "insertion_deletion": CURVE | {"baseline": "black"},
    "kappa": CURVE,
    "connected": CURVE | {"rule": "foreground"},
    "max_sensitivity": {"radius": 0.02, "draws": 10, "support": "nonzero", "seed": 0},
    "paired": {"balanced": True, "level": 0.95, "resamples": 2000, "seed": 0},
    "interval": {"balanced": True, "level": 0.95, "resamples": 2000, "seed": 0},
}


def defaults(of: Any) -> dict[str, object]:  # noqa: ANN401 - a class or a function
    """Return what is taken where nothing is said, by a class or those that it builds on."""
    makers = (
        [vars(c).get("__init__") for c in reversed(of.__mro__)] if inspect.isclass(of) else [of]
    )
    return {
        one.name: one.default
        for maker in makers
        if inspect.isfunction(maker)
        for one in inspect.signature(maker).parameters.values()
        if one.default is not one.empty
    }


class TestPages:
    @pytest.mark.parametrize("name", names())
    def test_defaults_of_explainers_stay(self, name: str) -> None:
        known = METHODS[name]
        found = {**defaults(known.builder()), **known.default}
        assert found.pop("seed", 0) == 0
        assert found == DEFAULTS.get(name, {})

    @pytest.mark.parametrize("name", MEASURED)
    def test_defaults_of_measures_stay(self, name: str) -> None:
        assert defaults(getattr(metrics, name)) == MEASURED[name]

    def test_the_page_lists_who_draws_at_random(self) -> None:
        text = (TOP / "docs" / "explainers.md").read_text(encoding="utf-8")
        table = text[text.index("| draws at random |") :].split("\n\n")[0]
        said = {}
        for first, last in re.findall(r"^\| (.*?) \|.*\| ([^|]*) \|$", table, re.MULTILINE):
            for name in re.findall(r"`([\w-]+)`", first):
                said[name] = "random" in name if last == "the random ones" else last == "yes"
        assert said == {name: not method(name).deterministic for name in names()}
