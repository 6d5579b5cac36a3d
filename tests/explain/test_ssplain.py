import gc
import json
import math
import tracemalloc
from pathlib import Path

import pytest
import torch
from captum.attr import PerturbationAttribution
from scipy import ndimage
from torch import Tensor, nn

import ssplain
from ssplain import Explanation, SSplain, SSplainError, preset
from ssplain.solve import Constraint, Term


def tiny(channels: int = 1, classes: int = 3, shape: tuple[int, int] = (9, 7)) -> nn.Module:
    torch.manual_seed(1)
    return nn.Sequential(
        nn.Conv2d(channels, 4, 3, padding=1),
        nn.ReLU(inplace=True),
        nn.Flatten(),
        nn.Linear(4 * shape[0] * shape[1], classes),
    )


def sparse_images(n: int = 4, channels: int = 1, shape: tuple[int, int] = (9, 7)) -> Tensor:
    generator = torch.Generator().manual_seed(2)
    images = torch.rand(n, channels, *shape, generator=generator)
    return images * (torch.rand(n, 1, *shape, generator=generator) > 0.5)


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


class TestResult:
    @pytest.mark.parametrize("norm", ["l0", "l1"])
    def test_mask_is_feasible(self, norm: str) -> None:
        images = sparse_images()
        result = SSplain(tiny(), norm=norm, budget=0.3).explain(images)  # type: ignore[arg-type]
        assert not bool((result.mask != 0)[~result.support].any())
        assert float(result.mask.min()) >= 0
        assert float(result.mask.max()) <= 1
        size = result.support.flatten(1).sum(1)
        if norm == "l0":
            assert bool(((result.mask != 0).flatten(1).sum(1) <= 0.3 * size).all())
        else:
            for scores, mask, inside in zip(
                result.scores, result.mask, result.support, strict=True
            ):
                largest = scores[inside].sort(descending=True).values
                radius = largest[: int(0.3 * int(inside.sum()))].sum().clamp(min=0)
                assert float(mask.sum()) <= float(radius) + 1e-4

    def test_everything_outside_the_support_ranks_last(self) -> None:
        result = SSplain(tiny(), lr=0.3).explain(sparse_images())
        for scores, inside in zip(result.scores, result.support, strict=True):
            assert float(scores[~inside].max()) < float(scores[inside].min())
        assert float(result.scores.min()) < 0  # the case where zero would not do

    def test_outside_is_zero_where_that_ranks_last(self) -> None:
        result = SSplain(tiny(), lr=1e-4, iterations=1).explain(sparse_images())
        assert float(result.scores[~result.support].abs().max()) == 0

    def test_top_marks_a_share_of_all_pixels_within_the_support(self) -> None:
        result = SSplain(tiny()).explain(sparse_images())
        top = result.top(0.1)
        assert top.flatten(1).sum(1).tolist() == [round(0.1 * 63)] * 4
        for chosen, scores in zip(top, result.scores, strict=True):
            assert float(scores[chosen].min()) >= float(scores[~chosen].max())
        assert torch.equal(result.top(1.0), result.support)
        with pytest.raises(SSplainError, match=r"share=1\.5"):
            result.top(1.5)

    def test_history_tells_objective_and_residuals(self) -> None:
        images = sparse_images()
        model = tiny()
        result = SSplain(model, iterations=7).explain(images, 1)
        history = result.history
        assert history.primal.shape == history.dual.shape == history.objective.shape == (4, 7)
        start = images / images.amax((1, 2, 3), keepdim=True)
        loss = nn.functional.cross_entropy(
            model(images * start), torch.ones(4, dtype=torch.long), reduction="none"
        )
        torch.testing.assert_close(history.terms["loss"][:, 0], loss.detach())
        total = history.terms["loss"] + history.terms["total_variation"]
        torch.testing.assert_close(history.objective, total)

    def test_save_and_load(self, tmp_path: Path) -> None:
        result = SSplain(tiny()).explain(sparse_images(), "posterior")
        result.save(tmp_path / "out")
        again = Explanation.load(tmp_path / "out")
        for name in ("images", "support", "scores", "mask", "target", "probabilities"):
            assert torch.equal(getattr(again, name), getattr(result, name))
        assert torch.equal(again.history.objective, result.history.objective)
        assert again.settings == result.settings
        assert again.settings["target"] == "posterior"
        assert sorted(p.name for p in tmp_path.rglob("*")) == [
            "explanation.npz",
            "manifest.json",
            "out",
        ]

    def test_same_call_gives_same_bytes(self, tmp_path: Path) -> None:
        for name in ("a", "b"):
            SSplain(tiny(), start="random", seed=3).explain(sparse_images()).save(tmp_path / name)
        for file in ("explanation.npz", "manifest.json"):
            assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()

    def test_manifest_changes_with_model_and_image(self) -> None:
        images = sparse_images()
        manifest = SSplain(tiny()).explain(images).manifest()
        other = tiny()
        with torch.no_grad():
            other[0].bias[0] += 1  # type: ignore[index]
        changed = SSplain(other).explain(images + (images > 0) * 0.01).manifest()
        assert manifest["settings"]["model"]["sha256"] != changed["settings"]["model"]["sha256"]
        assert set(manifest["images"]).isdisjoint(changed["images"])
        json.dumps(manifest)

    @pytest.mark.parametrize("damage", ["missing", "truncated", "manifest", "format"])
    def test_loading_damaged_folder_is_one_sentence(self, tmp_path: Path, damage: str) -> None:
        folder = tmp_path / "out"
        SSplain(tiny()).explain(sparse_images()).save(folder)
        if damage == "missing":
            (folder / "explanation.npz").unlink()
        elif damage == "truncated":
            content = (folder / "explanation.npz").read_bytes()
            (folder / "explanation.npz").write_bytes(content[: len(content) // 2])
        elif damage == "manifest":
            (folder / "manifest.json").write_text("{")
        else:
            (folder / "manifest.json").write_text('{"format": 99, "settings": {}}')
        with pytest.raises(SSplainError, match=r"explain(ed)? |explanation"):
            Explanation.load(folder)

    def test_one_of_many(self) -> None:
        result = SSplain(tiny()).explain(sparse_images())
        assert [float(r.scores.sum()) for r in result] == result.scores.flatten(1).sum(1).tolist()
        assert torch.equal(result[-1].mask, result.mask[3:])
        with pytest.raises(IndexError):
            result[4]


class TestCall:
    def test_is_a_captum_attribution(self) -> None:
        explainer = SSplain(tiny())
        assert isinstance(explainer, PerturbationAttribution)
        images = sparse_images()
        result = explainer.explain(images, torch.tensor([0, 1, 2, 0]))
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

    def test_progress_counts_all_images(self) -> None:
        seen: list[tuple[int, int]] = []
        SSplain(tiny(), iterations=2, batch_size=3).explain(
            sparse_images(), progress=lambda done, total: seen.append((done, total))
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
        options = {"rho": 1.0, "dual_step": 1.0, "iterations": 60, "lr": 0.01, "inner_steps": 20}
        options |= {"budget": 1.0}
        result = SSplain(tiny(), constraints=[Symmetric()], terms=[Mean()], **options).explain(  # type: ignore[arg-type]
            images
        )
        free = SSplain(tiny(), **options).explain(images)  # type: ignore[arg-type]
        torch.testing.assert_close(result.scores, result.scores.flip(-1), rtol=0, atol=0.02)
        assert float((free.scores - free.scores.flip(-1)).abs().max()) > 0.1
        assert set(result.history.terms) == {"loss", "total_variation", "mean"}
        assert result.settings["constraints"] == ["symmetric"]


class TestBadInput:
    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"budget": 0}, "budget=0 "),
            ({"budget": 1.2}, "budget=1.2"),
            ({"budget": math.nan}, "budget=nan"),
            ({"norm": "l2"}, "norm='l2'.*'l0' or 'l1'"),
            ({"lr": 0}, "lr=0.*above 0"),
            ({"lr": math.nan}, "lr=nan"),
            ({"rho": -1}, "rho=-1"),
            ({"tv_weight": -0.1}, "tv_weight=-0.1"),
            ({"iterations": 0}, "iterations=0.*whole number"),
            ({"iterations": 2.5}, "iterations=2.5.*whole number"),
            ({"inner_steps": 0}, "inner_steps=0"),
            ({"batch_size": 0}, "batch_size=0"),
            ({"tolerance": -1.0}, "tolerance=-1"),
            ({"dual_step": -1.0}, "dual_step=-1"),
            ({"output_kind": "odds"}, "output_kind is 'odds'"),
        ],
    )
    def test_settings(self, settings: dict[str, object], message: str) -> None:
        with pytest.raises(SSplainError, match=message):
            SSplain(tiny(), **settings)  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"start": "zeros"}, "start='zeros'.*intensity, minmax, ones, random"),
            ({"start": torch.zeros(3, 3)}, r"start has shape \(3, 3\).*\(9, 7\)"),
            ({"start": torch.full((9, 7), math.nan)}, "start holds NaN"),
            ({"support": "otsu"}, "support='otsu'"),
            ({"support": 2.0}, "Image 0 has an empty support"),
            ({"support": torch.ones(7, 9)}, r"support has shape \(7, 9\)"),
        ],
    )
    def test_settings_that_need_the_images(self, settings: dict[str, object], message: str) -> None:
        with pytest.raises(SSplainError, match=message):
            SSplain(tiny(), **settings).explain(sparse_images())  # type: ignore[arg-type]

    def test_empty_support_names_the_image(self) -> None:
        images = sparse_images()
        images[2] = 0
        with pytest.raises(SSplainError, match="Image 2 has an empty support"):
            SSplain(tiny()).explain(images)

    @pytest.mark.parametrize("bad", [math.nan, math.inf])
    def test_non_finite_pixels(self, bad: float) -> None:
        images = sparse_images()
        images[1, 0, 3, 3] = bad
        with pytest.raises(SSplainError, match="Image 1 holds NaN or infinite pixels"):
            SSplain(tiny()).explain(images)

    @pytest.mark.parametrize(
        ("images", "message"),
        [
            (torch.zeros(2, 2, 1, 9, 7), "shape"),
            (torch.zeros(0, 1, 9, 7), "shape"),
            (torch.zeros(9), "shape"),
            (torch.ones(1, 9, 7, dtype=torch.uint8), "uint8.*divide by 255"),
            ([[1.0]], "list"),
        ],
    )
    def test_images(self, images: Tensor, message: str) -> None:
        with pytest.raises(SSplainError, match=message):
            SSplain(tiny()).explain(images)

    @pytest.mark.parametrize(
        ("target", "message"),
        [
            (3, "Target 3 is out of range: the model has 3 classes, 0 to 2"),
            (-1, "Target -1 is out of range"),
            ([0, 1], "2 targets for 4 images"),
            ([0.5] * 4, "float32"),
            ("plus", "target='plus'"),
            (["a"] * 4, "not a whole number"),
        ],
    )
    def test_targets(self, target: object, message: str) -> None:
        with pytest.raises(SSplainError, match=message):
            SSplain(tiny()).explain(sparse_images(), target)  # type: ignore[arg-type]

    def test_model_without_gradient(self) -> None:
        model = tiny()
        with pytest.raises(SSplainError, match="no gradient"):
            SSplain(lambda x: model(x).detach()).explain(sparse_images())

    def test_model_that_turns_non_finite_on_masked_images(self) -> None:
        whole = sparse_images()

        def model(x: Tensor) -> Tensor:
            logits = x.flatten(1)[:, :3] + x.sum((1, 2, 3))[:, None]
            return logits / (1.0 if torch.equal(x.detach(), whole) else 0.0)

        with pytest.raises(SSplainError, match="'loss' is not finite for image 0 in iteration 1"):
            SSplain(model).explain(whole)


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
