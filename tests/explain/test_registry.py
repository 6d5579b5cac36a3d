"""The contract that every explainer of the registry keeps."""

import gc
from typing import Any

import pytest
import torch
from torch import Tensor

import ssplain
from ssplain import SSplainError, preset
from ssplain.explain.registry import METHODS, make, method, names
from tests.explain.small import QUICK, Pair, Small, pictures, small

# those that score each channel of a pixel; the others score pixels
PER_CHANNEL = {
    "saliency",
    "input-x-gradient",
    "integrated-gradients",
    "integrated-gradients-complete",
    "guided-grad-cam",
    "deep-shap",
}


def maps_of(name: str, model: Any, images: Tensor, target: Any = 1, **settings: Any) -> Tensor:  # noqa: ANN401
    return make(name, model, **{**QUICK.get(name, {}), **settings}).attribute(images, target)


class SingleAnswer(Small):
    """Computes in the precision of its weights and answers in 32 bits, as under autocast."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x).float()


@pytest.mark.parametrize("name", names())
class TestContract:
    @pytest.mark.parametrize("channels", [1, 3])
    def test_one_map_of_the_images_size_for_each(self, name: str, channels: int) -> None:
        images = pictures(2, channels, (33, 57))
        maps = maps_of(name, small(channels=channels), images, [0, 2])
        assert maps.shape == (2, 1, 33, 57)
        assert maps.dtype == torch.float32
        assert bool(torch.isfinite(maps).all())
        assert float(maps.std()) > 0

    def test_a_grey_image_in_a_colour_model_gives_one_map(self, name: str) -> None:
        assert maps_of(name, small(channels=3), pictures(2)).shape == (2, 1, 12, 10)

    def test_images_do_not_influence_each_other(self, name: str) -> None:
        images = pictures()
        together = maps_of(name, small(), images, [0, 1, 2])
        alone = torch.cat([maps_of(name, small(), images[i], i) for i in range(3)])
        torch.testing.assert_close(together, alone, atol=2e-5, rtol=1e-4)

    @pytest.mark.parametrize("batch_size", [1, 2, 7])
    def test_the_batch_size_changes_nothing(self, name: str, batch_size: int) -> None:
        expected = maps_of(name, small(), pictures())
        maps = maps_of(name, small(), pictures(), batch_size=batch_size)
        torch.testing.assert_close(maps, expected, atol=2e-5, rtol=1e-4)

    def test_a_model_may_answer_in_another_precision(self, name: str) -> None:
        maps = maps_of(name, small(SingleAnswer).double(), pictures().double())
        assert maps.dtype == torch.float64
        assert bool(torch.isfinite(maps).all())

    def test_double_precision_stays(self, name: str) -> None:
        maps = maps_of(name, small().double(), pictures().double())
        assert maps.dtype == torch.float64
        single = maps_of(name, small(), pictures())
        torch.testing.assert_close(maps.float(), single, atol=1e-3, rtol=1e-3)

    def test_a_tuple_is_picked_from(self, name: str) -> None:
        maps = maps_of(name, small(Pair), pictures(), output=1)
        torch.testing.assert_close(maps, maps_of(name, small(), pictures()))
        with pytest.raises(SSplainError, match="tuple of 2, not a tensor"):
            maps_of(name, small(Pair), pictures())

    def test_the_seed_decides(self, name: str) -> None:
        first, again, other = (maps_of(name, small(), pictures(), seed=s) for s in (5, 5, 6))
        assert torch.equal(first, again)
        assert torch.equal(first, other) == method(name).deterministic

    def test_the_global_random_state_is_left_alone(self, name: str) -> None:
        torch.manual_seed(11)
        expected = torch.rand(1)
        model = small()
        torch.manual_seed(11)
        maps_of(name, model, pictures())
        assert torch.equal(torch.rand(1), expected)

    def test_the_target_matters_to_all_but_the_controls(self, name: str) -> None:
        model, images = small(), pictures()
        same = torch.equal(maps_of(name, model, images, 0), maps_of(name, model, images, 2))
        assert same == (method(name).family == "control")
        predicted = model(images).argmax(1)
        assert torch.equal(
            maps_of(name, model, images, None), maps_of(name, model, images, predicted)
        )

    def test_the_model_comes_back_as_it_went_in(self, name: str) -> None:
        model = small()
        model.train()
        model.relu2.eval()
        model.conv.weight.requires_grad = False
        state = {key: value.clone() for key, value in model.state_dict().items()}
        before = _look(model)
        maps = maps_of(name, model, pictures())
        assert _look(model) == before
        assert all(torch.equal(value, state[key]) for key, value in model.state_dict().items())
        assert not maps.requires_grad
        assert all(p.grad is None for p in model.parameters())

    def test_the_images_come_back_as_they_went_in(self, name: str) -> None:
        images = pictures()
        maps_of(name, small(), images)
        assert torch.equal(images, pictures())

    def test_nothing_is_left_behind(self, name: str) -> None:
        explainer = make(name, small(), **QUICK.get(name, {}))
        images = pictures(1, shape=(6, 5))
        for _ in range(3):
            explainer.attribute(images, 1)
        gc.collect()
        gc.freeze()  # what there is now is not looked at again
        try:
            for _ in range(10):
                explainer.attribute(images, 1)
            gc.collect()
            left = [thing for thing in gc.get_objects() if issubclass(type(thing), Tensor)]
        finally:
            gc.unfreeze()
        assert not left

    def test_the_progress_runs_to_its_end_and_never_back(self, name: str) -> None:
        explainer = make(name, small(), **QUICK.get(name, {}), batch_size=2)
        told: list[tuple[int, int]] = []
        explainer.attribute(pictures(), 1, progress=lambda *at: told.append(at))
        assert told == sorted(told)
        if method(name).family != "control":
            assert told[-1][0] == told[-1][1]
            assert len({of for _, of in told}) == 1

    def test_the_channel_rule_is_one_keyword_for_all(self, name: str) -> None:
        explainer = make(name, small(channels=3), **QUICK.get(name, {}))
        images = pictures(2, 3)
        highest, mean = (explainer.attribute(images, 1, over=rule) for rule in ("max", "mean"))
        assert highest.shape == mean.shape == (2, 1, 12, 10)
        assert bool((highest >= mean).all())
        assert torch.equal(highest, mean) == (name not in PER_CHANNEL)
        with pytest.raises(SSplainError, match=r"over='sum' .*use 'max' or 'mean'"):
            explainer.attribute(images, 1, over="sum")  # type: ignore[arg-type]

    def test_a_wrong_target_is_named(self, name: str) -> None:
        with pytest.raises(SSplainError, match="Target 9 is out of range: the model has 3"):
            maps_of(name, small(), pictures(), 9)

    def test_a_wrong_setting_is_named(self, name: str) -> None:
        with pytest.raises(SSplainError, match=r"does not take these settings.*colour"):
            make(name, small(), colour="red")


def _look(model: Small) -> list[object]:
    modules = [
        (type(m), m.training, len(m._forward_hooks), len(m._backward_hooks), vars(m).keys())
        for m in model.modules()
    ]
    inplace = [m.inplace for m in (model.relu1, model.relu2)]
    return [modules, inplace, [p.requires_grad for p in model.parameters()]]


class TestRegistry:
    def test_unknown_names_are_answered_with_the_known_ones(self) -> None:
        with pytest.raises(SSplainError, match=r"'gradcam'.*ssplain-0, .*random"):
            make("gradcam", small())
        with pytest.raises(SSplainError, match=r"'cifar'.*rop, mnist, fmnist"):
            make("saliency", small(), dataset="cifar")

    def test_settings_go_before_the_papers(self) -> None:
        explainer = make("ssplain-1", small(), dataset="rop", budget=0.1)
        assert isinstance(explainer, ssplain.SSplain)
        assert (explainer.norm, explainer.budget, explainer.solver.iterations) == ("l1", 0.1, 50)

    def test_everything_is_said_of_every_method(self) -> None:
        assert list(METHODS) == list(names())
        for known in METHODS.values():
            assert known.reference
            assert known.title
            assert set(known.paper) <= {"mnist", "fmnist", "rop", "photograph"}

    def test_which_methods_need_no_gradient(self) -> None:
        assert {name for name, known in METHODS.items() if not known.needs_gradient} == {
            "occlusion",
            "lime",
            "kernel-shap",
            "regions",
            "rise",
            "intensity",
            "random-in-support",
            "random",
        }

    @pytest.mark.parametrize("name", [n for n in names() if not method(n).needs_gradient])
    def test_methods_without_gradient_take_models_without(self, name: str) -> None:
        def closed(x: Tensor) -> Tensor:
            with torch.no_grad():
                return torch.cat([x.mean((1, 2, 3))[:, None], x.flatten(1)[:, :2]], 1)

        assert maps_of(name, closed, pictures()).shape == (3, 1, 12, 10)


def test_settings_are_those_that_the_paper_names() -> None:
    """Section 4.1 and the appendices, written down a second time."""
    digits: dict[str, object] = {
        "budget": 0.25,
        "iterations": 200,
        "smooth": 0.0001,
        "step": 1,
        "sigma": 1.0,
    }
    paper: dict[str, dict[str, dict[str, object]]] = {
        "occlusion": {
            "mnist": {"window": 1, "stride": 1},
            "fmnist": {"window": 1, "stride": 1},
            "rop": {"window": 16, "stride": 4},
        },
        "extremal-perturbation": {
            "mnist": digits,
            "fmnist": digits,
            "rop": {"budget": 0.5, "iterations": 400, "smooth": 0.05, "step": 7, "sigma": 21.0},
        },
        "lime": {key: {"samples": 200} for key in ("mnist", "fmnist", "rop")},
        "kernel-shap": {key: {"samples": 200} for key in ("mnist", "fmnist", "rop")},
        "guided-grad-cam": {"rop": {"layer": "inception5b"}},
        "saliency": {},
        "input-x-gradient": {},
        "integrated-gradients": {},
        "deep-shap": {},
    }
    for name, expected in paper.items():
        assert {d: dict(own) for d, own in METHODS[name].paper.items()} == expected, name
    for name, norm in (("ssplain-0", "l0"), ("ssplain-1", "l1")):
        for dataset, budget, iterations in (("mnist", 0.25, 20), ("rop", 0.5, 50)):
            own = METHODS[name].paper[dataset]
            assert (own["norm"], own["budget"], own["iterations"]) == (norm, budget, iterations)


def test_of_a_photograph_what_is_hidden_shows_its_mean() -> None:
    settings = preset("photograph")
    assert settings["support"] is None  # black is a colour like any other
    assert settings["fill"] == "mean"
