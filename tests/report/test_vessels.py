from dataclasses import replace
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from ssplain.report.vessels import (
    Scale,
    branch_numbers,
    curvature_picture,
    curvature_scale,
    vessel_figure,
    width_picture,
    width_scale,
)
from ssplain.vessels import VesselTree, trace


@pytest.fixture(scope="module")
def tree() -> VesselTree:
    """A wide bar, a thin bar, and a ring."""
    row, column = np.mgrid[:100, :120]
    image = np.zeros((100, 120))
    image[5:13, 5:115] = 1
    image[20:22, 5:115] = 1
    image[np.abs(np.hypot(row - 65, column - 60) - 20) <= 2] = 1
    return trace(image)


def brightness(colour: np.ndarray) -> float:
    return float(colour @ np.array([0.299, 0.587, 0.114]))


def test_wider_branches_are_brighter(tree: VesselTree) -> None:
    scale = width_scale([tree])
    picture = width_picture(tree, scale)
    assert picture.shape == (100, 120, 3)
    assert picture.dtype == np.uint8
    assert not picture[tree.labels == 0].any()
    assert len({tuple(colour) for colour in picture[tree.labels > 0].tolist()}) == 3
    assert brightness(picture[9, 60]) > brightness(picture[65, 40]) > brightness(picture[20, 60])
    assert (scale.low, scale.high) == pytest.approx((2, 8), rel=0.05)


def test_bent_vessels_are_brighter_and_unmeasured_ones_grey(tree: VesselTree) -> None:
    picture = curvature_picture(tree, curvature_scale([tree]))
    assert brightness(picture[65, 40]) > brightness(picture[9, 60])
    unmeasured = (tree.labels > 0) & ~tree.curvature.measured
    assert unmeasured.any()
    assert (picture[unmeasured] == 70).all()
    assert not picture[tree.labels == 0].any()


def test_no_colour_of_a_vessel_is_near_black(tree: VesselTree) -> None:
    for colours in ("viridis", "magma"):
        picture = width_picture(tree, Scale(100, 200, colours, "far below the scale"))
        assert picture[tree.labels > 0].max(axis=1).min() > 80


def test_one_scale_serves_many_trees(tree: VesselTree) -> None:
    thin = np.zeros((30, 90))
    thin[10:13, 5:85] = 1
    both = width_scale([tree, trace(thin)])
    assert (both.low, both.high) == (width_scale([tree]).low, width_scale([tree]).high)
    assert "robust" in curvature_scale([tree]).label
    assert "px" in both.label


def test_trees_without_branches_have_pictures_too() -> None:
    empty = trace(np.zeros((10, 12)))
    assert not width_picture(empty, width_scale([empty])).any()
    assert not curvature_picture(empty, curvature_scale([empty])).any()
    assert width_scale([]).high > width_scale([]).low


def test_numbers_stand_on_their_branches(tree: VesselTree) -> None:
    numbers = branch_numbers(tree, count=2)
    assert list(numbers) == ["1", "2"]
    for text, (row, column) in numbers.items():
        assert tree.labels[round(row), round(column)] == int(text)
    scale = width_scale([tree])
    figure = vessel_figure(width_picture(tree, scale), scale, numbers=numbers)
    written = {text.get_text(): text.get_position() for text in figure.axes[0].texts}
    assert written == {text: (column, row) for text, (row, column) in numbers.items()}


def test_the_bar_shows_that_larger_values_share_its_last_colour(tree: VesselTree) -> None:
    scale = curvature_scale([tree])
    assert scale.open_ended == (tree.curvature.values.max() > scale.high)
    for open_ended in (False, True):
        chosen = replace(scale, open_ended=open_ended)
        bar = vessel_figure(curvature_picture(tree, chosen), chosen).axes[1]
        # the arrow is drawn as a patch beside the bar
        assert bool(bar.patches) == open_ended


def test_the_figure_has_a_labelled_bar_and_keeps_the_pixels(tree: VesselTree) -> None:
    scale = width_scale([tree])
    picture = width_picture(tree, scale)
    figure = vessel_figure(picture, scale, "an eye", "a note")
    axes, bar = figure.axes
    assert np.array_equal(np.asarray(axes.images[0].get_array()), picture)
    assert (axes.get_title(), bar.get_ylabel()) == ("an eye", scale.label)
    file = BytesIO()
    figure.savefig(file, format="png")
    drawn = np.asarray(Image.open(file).convert("RGB"))
    assert (drawn == picture[9, 60]).all(axis=2).mean() > 0.03
