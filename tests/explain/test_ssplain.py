"""Calling SSplain: presets, images, targets, starts, supports, own constraints, memory."""

import gc
import tracemalloc
from typing import Any

import pytest
import torch
from scipy import ndimage
from torch import Tensor, nn

import ssplain
from ssplain import SSplain, SSplainError, preset
from ssplain.models import OnBackground
from ssplain.solve import Constraint, L0Ball, Term
from tests.explain.small import small, sparse_images, tiny


class Unnormalised(nn.Module):
    """From images with mean and deviation 1/2 taken out to what they were."""

    def forward(self, x: Tensor) -> Tensor:
        return (x + 1) / 2


class TestPresets:
    def test_hold_the_papers_numbers(self) -> None:
        numbers = {
            name: tuple(preset(name)[key] for key in ("budget", "tv_weight", "lr", "iterations"))
            for name in ("rop", "mnist", "fmnist")
        }
        assert numbers == {
            "rop": (0.5, 1e-5, 0.01, 50),
            "mnist": (0.25, 1e-3, 0.1, 20),
            "fmnist": (0.25, 1e-4, 0.1, 20),
        }
        for name in numbers:
            assert preset(name)["rho"] == 0.01
            assert preset(name)["norm"] == "l0"
            assert preset(name)["start"] == "intensity"

    def test_changing_a_copy_changes_nothing(self) -> None:
        preset("mnist")["budget"] = 0.9
        assert preset("mnist")["budget"] == 0.25

    def test_unknown_name(self) -> None:
        with pytest.raises(SSplainError, match=r"'cifar'.*rop, mnist, fmnist"):
            preset("cifar")


class TestCall:
    def test_attribute_gives_the_scores_alone(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The mask, and the fingerprint of all weights, are not made to be thrown away."""
        explainer = SSplain(tiny())
        images = sparse_images()
        result = explainer.explain(images, torch.tensor([0, 1, 2, 0]))
        monkeypatch.setattr(L0Ball, "project_with_box", None)
        monkeypatch.setattr(ssplain.explain.settings, "fingerprint", None)
        maps = explainer.attribute(images, target=torch.tensor([0, 1, 2, 0]))
        assert torch.equal(maps, result.scores)

    @pytest.mark.parametrize("shape", [(33, 57), (1, 33, 57), (3, 33, 57), (2, 3, 33, 57)])
    def test_accepts_images_of_any_form(self, shape: tuple[int, ...]) -> None:
        model = nn.Sequential(
            nn.Conv2d(3, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2)
        )
        images = torch.rand(shape, generator=torch.Generator().manual_seed(0))
        maps = SSplain(model, output_kind="logits").attribute(images)
        assert maps.shape == (shape[0] if len(shape) == 4 else 1, 1, 33, 57)

    def test_grey_in_a_colour_model_equals_the_repeated_image(self) -> None:
        grey = sparse_images()
        model = tiny(channels=3)
        colour = grey.repeat(1, 3, 1, 1)
        torch.testing.assert_close(
            SSplain(model).attribute(grey), SSplain(model).attribute(colour), rtol=0, atol=1e-5
        )

    def test_targets(self) -> None:
        images, model = sparse_images(), tiny()
        predicted = SSplain(model).explain(images)
        assert torch.equal(predicted.target, model(images).argmax(1))
        given = SSplain(model).explain(images, predicted.target.tolist())
        assert torch.equal(given.scores, predicted.scores)
        expected = SSplain(model).explain(images, "posterior")
        assert not torch.allclose(expected.scores, predicted.scores, atol=1e-3)

    def test_posterior_is_the_expected_loss(self) -> None:
        images, model = sparse_images(), tiny()
        start = images / images.amax((1, 2, 3), keepdim=True)
        posterior = model(images).softmax(1)
        loss = -(posterior * model(images * start).log_softmax(1)).sum(1)
        history = SSplain(model).explain(images, "posterior").history
        torch.testing.assert_close(history.terms["loss"][:, 0], loss.detach())

    def test_starts(self) -> None:
        images = sparse_images()
        maps = {
            start: SSplain(tiny(), start=start, iterations=1, lr=1e-9).attribute(images)
            for start in ("intensity", "minmax", "ones", "random")
        }
        inside = images > 0
        torch.testing.assert_close(
            maps["intensity"], images / images.amax((1, 2, 3), keepdim=True), rtol=0, atol=1e-6
        )
        for i in range(len(images)):
            stretched = maps["minmax"][i][inside[i]]
            assert float(stretched.min()) == pytest.approx(0, abs=1e-6)
            assert float(stretched.max()) == pytest.approx(1, abs=1e-6)
        assert bool((maps["ones"][inside] - 1 < 1e-6).all())
        given = torch.full((9, 7), 0.25)
        from_tensor = SSplain(tiny(), start=given, iterations=1, lr=1e-9).attribute(images)
        torch.testing.assert_close(from_tensor[inside], torch.full_like(from_tensor[inside], 0.25))

    def test_random_start_follows_the_seed_not_the_place(self) -> None:
        images = sparse_images()
        first = SSplain(tiny(), start="random", seed=1).attribute(images)
        again = SSplain(tiny(), start="random", seed=1).attribute(images[2])
        other = SSplain(tiny(), start="random", seed=2).attribute(images)
        torch.testing.assert_close(first[2:3], again, rtol=0, atol=1e-5)
        assert not torch.allclose(first, other)

    def test_constant_image_has_a_minmax_start(self) -> None:
        result = SSplain(tiny(), start="minmax", iterations=1).explain(torch.full((9, 7), 0.5))
        assert bool(torch.isfinite(result.scores).all())

    def test_supports(self) -> None:
        images = sparse_images()
        bright = SSplain(tiny(), support=0.5).explain(images)
        assert torch.equal(bright.support, images > 0.5)
        drawn = torch.zeros(9, 7)
        drawn[2:5] = 1
        assert torch.equal(
            SSplain(tiny(), support=drawn).explain(images).support[1, 0], drawn.bool()
        )
        function = SSplain(tiny(), support=lambda x: x > 0.3).explain(images)
        assert torch.equal(function.support, images > 0.3)
        everywhere = SSplain(tiny(), support=None).explain(images)
        assert bool(everywhere.support.all())

    def test_otsu_parts_each_image_at_its_own_level(self) -> None:
        """Two images of two groups each, the darker one's bright group below the other's dark."""
        high = sparse_images(2) > 0.5
        noise = 0.01 * torch.rand(high.shape, generator=torch.Generator().manual_seed(3))
        images = torch.where(high, 0.3, 0.05) + noise
        images[1] += 0.6
        assert torch.equal(SSplain(tiny(), support="otsu").explain(images).support, high)

    def test_a_background_that_is_not_zero(self) -> None:
        """Normalised images give the same mask as the images they were made from."""
        model, images = tiny(), sparse_images()
        expected = SSplain(model).explain(images, 0)
        normalised, black = 2 * images - 1, -1.0
        trained = nn.Sequential(Unnormalised(), model)
        seen = SSplain(OnBackground(trained, black), channels=1)
        found = seen.explain(normalised - black, 0)
        assert torch.equal(found.support, expected.support)
        torch.testing.assert_close(found.probabilities, expected.probabilities)
        torch.testing.assert_close(found.scores, expected.scores, rtol=0, atol=1e-4)

    def test_equal_values_keep_what_is_connected(self) -> None:
        """A flat bar is cut from its rim inwards, not from the bottom up."""
        image = torch.zeros(1, 1, 9, 7)
        image[0, 0, 1:8, 2:5] = 1.0
        model = nn.Sequential(nn.Flatten(), nn.Linear(63, 2))
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.zero_()
        result = SSplain(model, tv_weight=0.0, budget=0.3, output_kind="logits").explain(image)
        kept = result.mask[0, 0] > 0
        assert int(kept.sum()) == 6
        assert ndimage.label(kept.numpy())[1] == 1
        assert bool(kept[4, 3])  # the middle of the bar
        assert not bool(kept[1].any())  # row-major order would begin here

    def test_settings_say_all_that_a_map_depends_on(self) -> None:
        told = SSplain(small(), budget=0.3, lr=0.2, iterations=7, seed=3).settings()
        assert told.pop("model")["name"] == "tests.explain.small.Small"
        assert told == {
            "explainer": "ssplain-0",
            "objective": "preserve",
            "budget": 0.3,
            "norm": "l0",
            "tv_weight": 1e-3,
            "tv_over": "grid",
            "rho": 0.01,
            "lr": 0.2,
            "iterations": 7,
            "start": "intensity",
            "support": "nonzero",
            "dual_step": 0.01,
            "inner_steps": 1,
            "tolerance": None,
            "pooling": 0.0,
            "stable": False,
            "segments": None,
            "constraints": [],
            "terms": [],
            "output": None,
            "output_kind": "auto",
            "fill": None,
            "queries": None,
            "seed": 3,
        }

    def test_settings_of_a_ranking_hold_its_shares(self) -> None:
        common: dict[str, Any] = {"objective": "ranking", "iterations": 4, "softness": 0.2}
        named = SSplain(small(), **common).settings()
        given = SSplain(small(), **common, shares=[0.5, 0.25], dual_step=0.5).settings()
        assert (named["shares"], named["softness"]) == ("spread", 0.2)
        assert (given["shares"], given["dual_step"]) == ([0.5, 0.25], 0.5)

    def test_progress_counts_all_images(self) -> None:
        seen: list[tuple[float, float]] = []
        SSplain(tiny(), iterations=2, batch_size=3).explain(
            sparse_images(), progress=lambda done, total, *_: seen.append((done, total))
        )
        assert seen == [(3, 8), (6, 8), (7, 8), (8, 8)]

    def test_float64_model_and_images(self) -> None:
        maps = SSplain(tiny().double()).attribute(sparse_images().double())
        assert maps.dtype == torch.float64


class TestOwnConstraints:
    def test_quadrants(self) -> None:
        class PerQuadrant(Constraint):
            """At most k pixels in each quarter of the image."""

            name = "quadrants"

            def __init__(self, k: int) -> None:
                self.k = k

            def project(self, masks: Tensor) -> Tensor:
                height, width = masks.shape[-2] // 2, masks.shape[-1] // 2
                kept = masks.clone()
                for rows in (slice(None, height), slice(height, None)):
                    for columns in (slice(None, width), slice(width, None)):
                        part = kept[..., rows, columns]
                        k = torch.full((len(masks),), self.k)
                        part.copy_(ssplain.prox.project_l0(part.contiguous(), k))
                return kept

        quadrants = PerQuadrant(2)
        options = {"rho": 1.0, "dual_step": 1.0, "iterations": 60, "lr": 0.01, "inner_steps": 20}
        result = SSplain(tiny(), constraints=[quadrants], **options).explain(sparse_images())  # type: ignore[arg-type]
        gap = (result.scores - quadrants.project(result.scores))[result.support].abs()
        free = SSplain(tiny(), **options).explain(sparse_images())  # type: ignore[arg-type]
        free_gap = (free.scores - quadrants.project(free.scores))[free.support].abs()
        assert float(gap.mean()) < 0.2 * float(free_gap.mean())

    def test_symmetry_and_an_own_term(self) -> None:
        class Symmetric(Constraint):
            name = "symmetric"

            def project(self, masks: Tensor) -> Tensor:
                return (masks + masks.flip(-1)) / 2

        class Mean(Term):
            name = "mean"

            def value(self, masks: Tensor) -> Tensor:
                return 0.1 * masks.mean((1, 2, 3))

        images = torch.rand(2, 1, 9, 7, generator=torch.Generator().manual_seed(0))
        options = {"rho": 1.0, "dual_step": 1.0, "iterations": 30, "lr": 0.02, "inner_steps": 10}
        options |= {"budget": 1.0}
        result = SSplain(tiny(), constraints=[Symmetric()], terms=[Mean()], **options).explain(  # type: ignore[arg-type]
            images
        )
        free = SSplain(tiny(), **options).explain(images)  # type: ignore[arg-type]
        torch.testing.assert_close(result.scores, result.scores.flip(-1), rtol=0, atol=0.02)
        assert float((free.scores - free.scores.flip(-1)).abs().max()) > 0.1
        assert set(result.history.terms) == {"loss", "total_variation", "mean"}
        assert result.settings["constraints"] == ["symmetric"]


class TestMemory:
    def test_two_hundred_calls_leave_nothing_behind(self) -> None:
        images, model = sparse_images(), tiny()
        explainer = SSplain(model, iterations=2)

        def tensors() -> int:
            gc.collect()
            return sum(issubclass(type(o), Tensor) for o in gc.get_objects())

        for _ in range(5):
            explainer.explain(images)
        tracemalloc.start()
        before, bytes_before = tensors(), tracemalloc.get_traced_memory()[0]
        for _ in range(200):
            explainer.explain(images)
        after, bytes_after = tensors(), tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        assert after <= before
        assert bytes_after - bytes_before < 200_000  # a kept mask or graph would be 1 MB

    def test_out_of_memory_halves_the_batch(self) -> None:
        model = tiny()

        def small_only(x: Tensor) -> Tensor:
            if len(x) > 1:
                raise torch.OutOfMemoryError("no room")
            return model(x)  # type: ignore[no-any-return]

        with pytest.warns(ResourceWarning, match="batch_size="):
            maps = SSplain(small_only).attribute(sparse_images())
        torch.testing.assert_close(
            maps, SSplain(model).attribute(sparse_images()), rtol=0, atol=1e-5
        )
