"""SSplain in the hands of Captum: its wrappers and its measures, called as its users call them."""

import warnings
from typing import Any

import captum.attr
import captum.metrics
import pytest
import torch
from torch import Tensor, nn

import ssplain
from ssplain import SSplain, SSplainError
from tests.explain.small import QUICK, pictures, small


def explainer(channels: int = 1, **settings: Any) -> SSplain:  # noqa: ANN401
    return SSplain(small(channels=channels), iterations=3, **settings)


def made(name: str, *args: Any, **settings: Any) -> Any:  # noqa: ANN401 - all of them take more
    return ssplain.explain.make(name, *args, **settings)


class TestTuples:
    def test_a_tuple_gives_a_tuple(self) -> None:
        images = pictures()
        (maps,) = explainer().attribute((images,), target=1)
        assert torch.equal(maps, explainer().attribute(images, target=1))

    def test_more_than_one_image_tensor_is_refused_by_name(self) -> None:
        images = pictures()
        with pytest.raises(SSplainError, match="There are 2 inputs;"):
            explainer().attribute((images, images), 1)
        with pytest.raises(SSplainError, match="There are 2 baselines;"):
            explainer().attribute((images,), 1, baselines=(0.5, 0.5))

    def test_baselines_in_a_tuple_belong_to_their_input(self) -> None:
        images = pictures() + 0.5
        (maps,) = explainer().attribute((images,), 1, baselines=(0.5,))
        assert torch.equal(maps, explainer().attribute(images, 1, baselines=0.5))

    def test_two_inputs_are_refused_with_the_way_out(self) -> None:
        with pytest.raises(SSplainError, match=r"2 inputs.*additional_forward_args"):
            explainer().attribute((pictures(), pictures()), target=1)


class Shifted(nn.Module):
    """Takes more than an image: a row per image, and a number for all."""

    def __init__(self) -> None:
        super().__init__()
        self.net = small()

    def forward(self, x: Tensor, shift: Tensor, scale: float) -> Tensor:
        assert len(shift) == len(x)
        values: Tensor = self.net(x * (1 + shift)[:, None, None, None]) * scale
        return values


@pytest.mark.parametrize(
    "name", [n for n in ssplain.explain.names() if n not in ("guided-grad-cam", "deep-shap")]
)
def test_further_arguments_go_with_their_images(name: str) -> None:
    """Each image with its own row must give what a model with that row built in gives."""
    chosen = QUICK.get(name, {})
    model, images, shift = Shifted(), pictures(), torch.tensor([0.0, 0.5, -0.7])
    found = made(name, model, batch_size=2, **chosen).attribute(
        images, [0, 1, 2], additional_forward_args=(shift, 2.0)
    )
    for i in range(3):

        def own(x: Tensor, i: int = i) -> Tensor:
            values: Tensor = model(x, shift[i].expand(len(x)), 2.0)
            return values

        alone = made(name, own, **chosen).attribute(images[i], i)
        torch.testing.assert_close(found[i : i + 1], alone, atol=2e-5, rtol=1e-4)


class TestBaselines:
    def test_hidden_pixels_show_the_baseline(self) -> None:
        """The same as the model on a background of its own, which is a class of its own."""
        images, net = pictures(3, 3) + 0.25, small(channels=3)
        found = SSplain(net, iterations=3).attribute(images, 1, baselines=[0.25, 0.25, 0.25])
        wrapped = ssplain.models.OnBackground(net, 0.25)
        expected = SSplain(wrapped, iterations=3).attribute(images - 0.25, 1)
        torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)

    @pytest.mark.parametrize("name", ["ssplain-0", "integrated-gradients", "occlusion"])
    def test_one_baseline_per_image_stays_with_its_image(self, name: str) -> None:
        images = pictures(3, 3)
        ground = images.flip(-1)
        found = made(name, small(channels=3), batch_size=2).attribute(images, 1, baselines=ground)
        for i in range(3):
            alone = made(name, small(channels=3)).attribute(images[i], 1, baselines=ground[i])
            torch.testing.assert_close(found[i : i + 1], alone, atol=2e-5, rtol=1e-4)

    def test_integrated_gradients_equal_captums(self) -> None:
        images, net = pictures(3, 3), small(channels=3)
        ground = images.flip(-1)
        theirs = captum.attr.IntegratedGradients(net).attribute(images, ground, target=1)
        ours = made("integrated-gradients", net)
        found = ours.attribute(images, 1, baselines=ground, over="each")
        torch.testing.assert_close(found, theirs.float(), atol=1e-5, rtol=1e-3)

    def test_a_baseline_that_does_not_fit_is_named(self) -> None:
        with pytest.raises(SSplainError, match=r"baseline.*shape \(2, 3, 12, 10\)"):
            explainer().attribute(pictures(), 1, baselines=torch.zeros(2, 3, 12, 10))


class TestTheirTools:
    def test_noise_tunnel(self) -> None:
        images = pictures(2)
        tunnel = captum.attr.NoiseTunnel(explainer())
        torch.manual_seed(0)
        maps = tunnel.attribute(images, nt_samples=4, stdevs=0.05, target=torch.tensor([1, 2]))
        assert maps.shape == images.shape
        still = tunnel.attribute(images, nt_samples=3, stdevs=0.0, target=torch.tensor([1, 2]))
        torch.testing.assert_close(still, explainer().attribute(images, [1, 2]))
        assert not torch.equal(maps, still)

    @pytest.mark.parametrize("channels", [1, 3])
    def test_infidelity(self, channels: int) -> None:
        images, net = pictures(2, channels), small(channels=channels)
        maps = SSplain(net, iterations=3).attribute(images, 1, over="each")
        assert maps.shape == images.shape

        def noise(x: Tensor) -> tuple[Tensor, Tensor]:
            drawn = 0.1 * torch.randn_like(x)
            return drawn, x - drawn

        found = captum.metrics.infidelity(net, noise, images, maps, target=1, n_perturb_samples=5)
        assert found.shape == (2,)
        assert bool((found >= 0).all())

    def test_sensitivity_max(self) -> None:
        torch.manual_seed(0)
        images = pictures(2)
        support = pictures(2)[:1] != 0  # noise must not widen it
        found = captum.metrics.sensitivity_max(
            SSplain(small(), iterations=3, support=support).attribute,
            images,
            perturb_radius=0.01,
            n_perturb_samples=3,
            target=1,
        )
        assert found.shape == (2,)
        assert bool((found > 0).all())

    def test_visualisation(self) -> None:
        image = pictures(1, 3)
        maps = explainer(3).attribute(image, 1, kind="mask", over="each")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            figure, _ = captum.attr.visualization.visualize_image_attr(
                maps[0].permute(1, 2, 0).numpy(),
                image[0].permute(1, 2, 0).numpy(),
                method="blended_heat_map",
                use_pyplot=False,
            )
        assert figure.axes


class TestKinds:
    def test_the_mask_is_the_results_own(self) -> None:
        images = pictures()
        one = explainer()
        result = one.explain(images, 1)
        assert torch.equal(one.attribute(images, 1, kind="mask"), result.mask)
        assert torch.equal(one.attribute(images, 1, kind="scores"), result.scores)

    def test_who_makes_none_says_so(self) -> None:
        saliency = made("saliency", small())
        with pytest.raises(SSplainError, match="Saliency ranks pixels and makes no mask"):
            saliency.attribute(pictures(), 1, kind="mask")

    def test_other_kinds_are_refused(self) -> None:
        with pytest.raises(SSplainError, match="use 'scores' or 'mask'"):
            explainer().attribute(pictures(), kind="heat")  # type: ignore[arg-type]
