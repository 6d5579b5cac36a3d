from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor

import ssplain
from ssplain.errors import SSplainError
from ssplain.explain import Explanation
from ssplain.report import (
    enlarge,
    figure,
    grey,
    heat,
    mask_view,
    overlay,
    save,
    top_view,
    write_png,
)
from ssplain.report.render import unit_scores

PURPLE = (68, 1, 84)


@pytest.fixture(scope="module")
def result() -> Explanation:
    images, labels = ssplain.data.bundled("mnist")
    model = ssplain.models.load("lenet5-mnist")
    return ssplain.SSplain(model, **ssplain.preset("mnist")).explain(images[:3], labels[:3])


def test_a_plane_is_an_image_of_one_channel_and_a_batch_is_none(result: Explanation) -> None:
    image, scores = result.images[0], result.scores[0]
    inside, mask = result.support[0], result.mask[0]
    for with_channel, plane in (
        (grey(image), grey(image[0])),
        (heat(scores, inside), heat(scores[0], inside[0])),
        (overlay(image, scores, inside), overlay(image[0], scores[0], inside[0])),
        (mask_view(image, mask), mask_view(image[0], mask[0])),
        (top_view(image, inside), top_view(image[0], inside[0])),
    ):
        assert np.array_equal(with_channel, plane)
    with pytest.raises(SSplainError, match=r"not of \(3, 1, 28, 28\); take one image"):
        grey(result.images)


def test_paper_view_shows_the_top_and_paints_the_rest_purple(result: Explanation) -> None:
    top = result.top(0.05)
    for i in range(3):
        picture = top_view(result.images[i], top[i])
        purple = (picture == PURPLE).all(2)
        assert np.array_equal(~purple, top[i, 0].numpy())
        assert int((~purple).sum()) == round(0.05 * 784)


def test_heat_is_black_outside_the_support_only(result: Explanation) -> None:
    picture = heat(result.scores[0], result.support[0])
    assert np.array_equal((picture != 0).any(2), result.support[0, 0].numpy())


def test_heat_brightens_with_the_score() -> None:
    scores = torch.linspace(-2, 3, 9).view(1, 1, 9)
    picture = heat(scores, torch.ones(1, 1, 9, dtype=torch.bool))
    light = picture.astype(float) @ [0.2126, 0.7152, 0.0722]
    assert bool((np.diff(light[0]) > 0).all())


def test_overlay_leaves_the_background_black(result: Explanation) -> None:
    picture = overlay(result.images[0], result.scores[0], result.support[0])
    assert int(picture[~result.support[0, 0].numpy()].max()) == 0
    best = np.unravel_index(int(result.scores[0, 0].argmax()), (28, 28))
    assert int(picture[best].max()) > 150


def test_mask_view_separates_kept_from_dropped(result: Explanation) -> None:
    picture = mask_view(result.images[0], result.mask[0]).max(2)
    kept = result.mask[0, 0].numpy() > 0
    assert picture[kept].min() > picture[~kept].max()


@pytest.mark.parametrize("scores", [torch.full((1, 2, 2), 0.7), torch.full((1, 2, 2), -1.0)])
def test_constant_maps_are_drawn_without_nan(scores: Tensor) -> None:
    inside = torch.tensor([[[True, True], [True, False]]])
    assert unit_scores(scores, inside).tolist() == [[0.5, 0.5], [0.5, 0.0]]


def test_grey_takes_colour_and_a_display_range() -> None:
    colour = torch.tensor([[[1.0]], [[0.0]], [[0.5]]])
    assert grey(colour)[0, 0].tolist() == [255, 0, 127]
    normalised = torch.tensor([[[-2.0, 2.0]]])
    assert grey(normalised, low=-2, high=2)[0, :, 0].tolist() == [0, 255]


def test_enlarging_repeats_pixels() -> None:
    small = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
    large = enlarge(small, 6)
    assert large.shape == (6, 6, 3)
    assert np.array_equal(large[::3, ::3], small)
    assert enlarge(np.zeros((500, 300, 3), np.uint8)).shape == (500, 300, 3)


def test_png_keeps_every_pixel(tmp_path: Path, result: Explanation) -> None:
    picture = grey(result.images[0])
    write_png(picture, tmp_path / "a.png")
    with Image.open(tmp_path / "a.png") as stored:
        assert np.array_equal(np.asarray(stored), picture)


def test_save_writes_arrays_manifest_and_pictures(tmp_path: Path, result: Explanation) -> None:
    save(result[1], tmp_path / "one", {"source": "two.png"})
    names = {p.name for p in (tmp_path / "one").iterdir()}
    pictures = {"overlay.png", "mask.png", "top5.png"}
    assert names == pictures | {"explanation.npz", "manifest.json"}
    assert '"source": "two.png"' in (tmp_path / "one" / "manifest.json").read_text()
    assert torch.equal(Explanation.load(tmp_path / "one").scores, result.scores[1:2])


def test_figure_has_a_row_per_image(tmp_path: Path, result: Explanation) -> None:
    drawing = figure(result, classes=[f"digit {i}" for i in range(10)])
    assert len(drawing.axes) == 12
    assert drawing.axes[0].get_ylabel().startswith("digit 7\np = ")
    drawing.savefig(tmp_path / "figure.png", dpi=40)
    assert (tmp_path / "figure.png").stat().st_size > 1000


def test_a_figure_shows_normalised_images_as_they_were() -> None:
    model = ssplain.models.load("lenet5-mnist")
    images, labels = (part[:1] for part in ssplain.data.bundled("mnist"))
    mean, std = 0.1307, 0.3081
    result = ssplain.SSplain(lambda x: model(x * std + mean), iterations=1, support=None).explain(
        (images - mean) / std, labels
    )
    shown = figure(result, denormalise=(mean, std)).axes[0].images[0].get_array()
    np.testing.assert_allclose(np.asarray(shown), grey(images[0]), atol=1)
    bare = figure(result).axes[0].images[0].get_array()
    assert not np.allclose(np.asarray(bare), grey(images[0]), atol=1)
