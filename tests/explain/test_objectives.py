"""What each objective asks of a mask, against formulas written out and against what it leads to."""

import math

import pytest
import torch
from scipy.ndimage import gaussian_filter
from torch import Tensor, nn

import ssplain
from ssplain import SSplain, SSplainError, preset
from ssplain.ask.adapter import Classifier
from ssplain.explain.objectives import (
    ClassLoss,
    RankingLoss,
    RemovalLoss,
    log_of_others,
    share_schedule,
)
from ssplain.metrics import insertion_deletion
from tests.explain.small import sparse_images, tiny


class Sums(nn.Module):
    """Two classes: the sum of the first column against that of the last."""

    def forward(self, x: Tensor) -> Tensor:
        return 3 * torch.stack([x[:, 0, :, 0].sum(1), x[:, 0, :, -1].sum(1)], 1)


def about(model: nn.Module, images: Tensor, target: int) -> tuple[Classifier, Tensor, Tensor]:
    classifier = Classifier(model, output_kind="logits")
    classes = classifier.log_probabilities(images).shape[1]
    weights = torch.zeros(len(images), classes)
    weights[:, target] = 1
    return classifier, images, weights


class TestTerms:
    def test_removal_is_the_cross_entropy_of_everything_else(self) -> None:
        images, model = sparse_images(), tiny()
        masks = torch.rand(images.shape, generator=torch.Generator().manual_seed(1))
        p = model(images * (1 - masks)).softmax(1)
        found = RemovalLoss(*about(model, images, 2)).value(masks)
        torch.testing.assert_close(found, -torch.log(p[:, 0] + p[:, 1]))

    def test_dual_is_the_sum_of_the_other_two(self) -> None:
        images, model = sparse_images(), tiny()
        run = {
            objective: SSplain(model, objective=objective, iterations=1).explain(images, 1).history
            for objective in ("preserve", "delete", "dual")
        }
        loss, removal = run["preserve"].terms["loss"], run["delete"].terms["removal"]
        assert set(run["preserve"].terms) == {"loss", "total_variation"}
        assert set(run["delete"].terms) == {"removal", "total_variation"}
        torch.testing.assert_close(run["dual"].terms["loss"], loss)
        torch.testing.assert_close(run["dual"].terms["removal"], removal)

    def test_ranking_asks_about_what_is_kept_and_what_is_left_in_turn(self) -> None:
        """With a hard cut: the halved log-odds of the image with the top pixels, then without."""
        images, model = sparse_images(), tiny()
        inside = images > 0
        masks = torch.rand(images.shape, generator=torch.Generator().manual_seed(1))
        term = RankingLoss(*about(model, images, 1), inside, (0.5, 0.25), 1e-6)
        for iteration, share in ((0, 0.5), (1, 0.5), (2, 0.25), (3, 0.25), (4, 0.5)):
            expected = []
            for image, mask, own in zip(images, masks, inside, strict=True):
                order = mask[own].sort(descending=True).values
                count = share * len(order)
                # a share that falls on a pixel leaves it half in: take images where it does not
                expected.append(
                    math.nan
                    if count != round(count)
                    else self._tempered(
                        model, image, own & (mask >= order[int(count) - 1]), iteration
                    )
                )
            found = term.at(iteration).value(masks)
            known = ~torch.tensor(expected).isnan()
            assert bool(known.any())
            torch.testing.assert_close(found[known], torch.tensor(expected)[known])

    @staticmethod
    def _tempered(model: nn.Module, image: Tensor, kept: Tensor, iteration: int) -> float:
        shown = torch.where(kept == (iteration % 2 == 0), image, 0.0)
        q = (model(shown[None]).detach() / 2).softmax(1)[0, 1]
        return float(1 - q if iteration % 2 == 0 else q)

    def test_the_gradient_is_that_of_the_value(self) -> None:
        images, model = sparse_images().double(), tiny().double()
        masks = torch.rand(images.shape, generator=torch.Generator().manual_seed(1)).double()
        classifier, _, weights = about(model, images, 1)
        three = (
            ClassLoss(classifier, images, weights.double()),
            RemovalLoss(classifier, images, weights.double()),
            RankingLoss(classifier, images, weights.double(), images > 0, (0.4,), 0.1),
        )
        for term in three:
            torch.manual_seed(0)
            gradient = term.value_and_gradient(masks)[1]
            # the level of a share counts as given, so a common shift is no direction to try
            direction = torch.randn_like(masks) * 1e-6
            if isinstance(term, RankingLoss):
                held = ssplain.prox.share_threshold(masks, images > 0, 0.4)
                direction[(masks - held).abs() < 0.1] = 0
            change = term.value(masks + direction) - term.value(masks - direction)
            torch.testing.assert_close(
                change, 2 * (gradient * direction).flatten(1).sum(1), rtol=1e-3, atol=1e-11
            )

    def test_images_leave_with_all_that_is_theirs(self) -> None:
        images, model = sparse_images(), tiny()
        masks = torch.rand(images.shape, generator=torch.Generator().manual_seed(1))
        term = RankingLoss(*about(model, images, 1), images > 0, (0.3,), 0.1)
        rows = torch.tensor([3, 1])
        torch.testing.assert_close(term.take(rows).value(masks[rows]), term.value(masks)[rows])

    def test_the_complement_of_a_certain_class_keeps_its_digits(self) -> None:
        logits = torch.tensor([[30.0, 0.0, -2.0]], requires_grad=True)
        found = log_of_others(logits.log_softmax(1))
        expected = math.log((1 + math.exp(-2)) / (math.exp(30) + 1 + math.exp(-2)))
        assert found[0, 0].item() == pytest.approx(expected, rel=1e-6)
        found[0, 0].backward()  # type: ignore[no-untyped-call]
        assert bool(torch.isfinite(logits.grad).all())  # type: ignore[arg-type]


class TestShares:
    def test_fill_the_range_evenly_and_small_ones_more_often(self) -> None:
        shares = torch.tensor(share_schedule("spread", 200))
        assert len(shares) == 100
        roots = shares[shares > 0.021].sqrt()
        counts = torch.histc(roots, bins=4, min=0.0, max=1.0)
        assert float(shares.median()) == pytest.approx(0.25, abs=0.02)
        assert int(counts[1:].min()) >= 24

    def test_random_ones_follow_the_seed(self) -> None:
        assert share_schedule("random", 8, seed=1) == share_schedule("random", 8, seed=1)
        assert share_schedule("random", 8, seed=1) != share_schedule("random", 8, seed=2)

    @pytest.mark.parametrize("shares", ["even", [], [0.5, 1.5], ["a"]])
    def test_others_are_answered_with_what_works(self, shares: object) -> None:
        with pytest.raises(SSplainError, match="'spread', 'random', or numbers between 0 and 1"):
            SSplain(tiny(), shares=shares)  # type: ignore[arg-type]


class TestWhatTheyLeadTo:
    def test_deletion_and_preservation_differ_where_two_parts_suffice(self) -> None:
        """Either of two columns keeps the class; only both of them remove it."""

        class Either(nn.Module):
            def forward(self, x: Tensor) -> Tensor:
                columns = torch.stack([x[:, 0, :, 0].mean(1), x[:, 0, :, -1].mean(1)])
                return torch.stack([8 * columns.amax(0) - 4, torch.zeros(x.shape[0])], 1)

        image = torch.ones(1, 1, 6, 5)
        start = torch.full((6, 5), 0.5)
        start[:, 0] = 0.6  # the left one is ahead
        maps = {
            objective: SSplain(
                Either(), objective=objective, start=start, tv_weight=0.0, rho=0.0, iterations=10
            ).attribute(image, 0)[0, 0]
            for objective in ("preserve", "delete")
        }
        assert float(maps["preserve"][:, 0].mean()) > 1 > float(maps["preserve"][:, -1].mean())
        assert float(maps["delete"][:, -1].mean()) > 1

    def test_the_ranking_puts_for_before_neither_before_against(self) -> None:
        images = torch.ones(2, 1, 5, 6)
        settings = preset("mnist", "ranking")
        settings["tv_weight"] = settings["rho"] = 0.0
        maps = SSplain(Sums(), **settings).attribute(images, torch.tensor([0, 1]))
        for image, (own, other) in zip(maps[:, 0], ((0, -1), (-1, 0)), strict=True):
            assert float(image[:, own].min()) > float(image[:, 1:-1].max())
            assert float(image[:, other].max()) < float(image[:, 1:-1].min())

    @pytest.mark.parametrize("dataset", ["mnist", "fmnist"])
    def test_it_leads_its_own_start_and_the_papers_objective_in_both(self, dataset: str) -> None:
        model = ssplain.models.load(f"lenet5-{dataset}")
        images, labels = (part[:60] for part in ssplain.data.bundled(dataset))
        areas = {}
        for name in ("ssplain-0", "ssplain-ranking", "intensity"):
            maps = ssplain.explain.make(name, model, dataset).attribute(images, labels)
            curves = insertion_deletion(model, images, labels, maps, axis="support", points=26)
            areas[name] = (curves.insertion.area, curves.deletion.area)
        for other in ("ssplain-0", "intensity"):
            assert areas["ssplain-ranking"][0] > areas[other][0]
            assert areas["ssplain-ranking"][1] < areas[other][1] - 0.08

    def test_batches_and_neighbours_change_nothing(self) -> None:
        model = ssplain.models.load("lenet5-mnist")
        images, labels = (part[:12] for part in ssplain.data.bundled("mnist"))
        settings = preset("mnist", "ranking")
        together = SSplain(model, **settings).attribute(images, labels)
        apart = SSplain(model, **settings, batch_size=5).attribute(images[3:], labels[3:])
        torch.testing.assert_close(apart, together[3:], rtol=0, atol=1e-5)

    def test_settings_say_how_it_was_made(self) -> None:
        images = sparse_images()
        result = SSplain(tiny(), objective="ranking", shares=[0.2, 0.4]).explain(images)
        assert result.settings["explainer"] == "ssplain-ranking"
        assert result.settings["shares"] == [0.2, 0.4]
        assert result.history.terms["ranking"].shape == (len(images), 20)
        paper = SSplain(tiny()).explain(images).settings
        assert (paper["explainer"], paper["objective"]) == ("ssplain-0", "preserve")

    def test_unknown_ones_are_answered_with_the_known(self) -> None:
        with pytest.raises(SSplainError, match=r"'insert'.*preserve, delete, dual, ranking"):
            SSplain(tiny(), objective="insert")  # type: ignore[arg-type]
        with pytest.raises(SSplainError, match=r"'vessel'.*'grid' or 'support'"):
            SSplain(tiny(), tv_over="vessel")  # type: ignore[arg-type]
        with pytest.raises(SSplainError, match="from 0 to 1"):
            SSplain(tiny(), pooling=1.5)
        with pytest.raises(SSplainError, match="not for 'delete'"):
            preset("mnist", "delete")  # type: ignore[call-overload]


def test_the_gradient_start_tilts_the_intensity_towards_the_class() -> None:
    images = torch.rand(2, 1, 5, 6, generator=torch.Generator().manual_seed(0)) + 0.1
    start = SSplain(Sums(), start="gradient", iterations=1, lr=1e-9).attribute(images, 0)
    bright = images / images.amax((1, 2, 3), keepdim=True)
    tilt = (start - bright)[:, 0]
    assert float(tilt[..., 0].min()) > 0.1
    assert float(tilt[..., -1].max()) < -0.1
    torch.testing.assert_close(tilt.mean((1, 2)), torch.zeros(2), atol=1e-5, rtol=0)


def test_the_sensitivity_start_is_the_blurred_size_of_the_masks_gradient() -> None:
    generator = torch.Generator().manual_seed(0)
    images = torch.rand(2, 3, 16, 24, generator=generator)
    weights = torch.randn(2, images[0].numel(), generator=generator)

    def model(x: Tensor) -> Tensor:
        return x.flatten(1) @ weights.T

    start = SSplain(model, start="sensitivity", support=None, iterations=1, lr=1e-9)
    found = start.attribute(images, 0)
    # the log-odds of two classes are the difference of the logits
    slope = (weights[0] - weights[1]).view(3, 16, 24)
    for image, one in zip(images, found, strict=True):
        size = (slope * image).sum(0).abs().numpy()
        soft = gaussian_filter(size, 16 / 8, mode="nearest", truncate=4.0)
        expected = torch.from_numpy(soft / soft.max())[None]
        torch.testing.assert_close(one, expected, atol=1e-4, rtol=0)
