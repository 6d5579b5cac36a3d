import numpy as np
import pytest
import torch

from ssplain import SSplainError
from ssplain.explain.compare import Compared
from ssplain.explain.registry import method
from ssplain.report.compare import comparison


def test_two_rows_per_image_and_a_column_per_explainer() -> None:
    images = torch.rand(2, 1, 10, 20)
    maps = torch.arange(400.0).view(2, 1, 10, 20) - 100
    compared = [
        Compared(method("saliency"), maps, 0.1),
        Compared(method("deep-shap"), None, 0.0, "cannot"),
        Compared(method("integrated-gradients"), -maps, 0.1),
    ]
    drawing = comparison(images, compared, ["first", "second"])
    grid = np.array(drawing.axes).reshape(4, 3)
    assert [ax.get_title() for ax in grid[0]] == ["image", "Saliency", "Integrated\nGradients"]
    assert "highest of each map" in drawing.get_supxlabel()
    assert [grid[row, 0].get_ylabel() for row in (0, 2)] == ["first", "second"]
    # 5 % of 200 pixels: the last ten of the first explainer, the first ten of the other
    purple = np.array([68, 1, 84])
    for column, rows in ((1, slice(190, 200)), (2, slice(0, 10))):
        for row in (1, 3):
            shown = np.asarray(grid[row, column].images[0].get_array()).reshape(200, 3)
            kept = (shown != purple).any(1)
            assert kept[rows].all()
            assert kept.sum() == 10
    # what speaks against the class is as dark as what says nothing
    scores = np.asarray(grid[0, 1].images[0].get_array()).reshape(200, 3)
    assert (scores[:101] == scores[0]).all()
    assert scores[199].sum() > scores[110].sum() > scores[0].sum()


def test_dark_means_nothing_in_every_panel() -> None:
    silent, even = torch.zeros(1, 1, 4, 4), torch.full((1, 1, 4, 4), 0.5)
    even[..., 0, 0] = 1.0
    compared = [Compared(method(n), m, 0.1) for n, m in (("lime", silent), ("random", even))]
    _, lime, random = comparison(torch.rand(1, 1, 4, 4), compared).axes[:3]
    dark = np.asarray(lime.images[0].get_array()).reshape(16, 3)
    half = np.asarray(random.images[0].get_array()).reshape(16, 3)
    assert (dark == dark[0]).all()
    assert dark[0].sum() < half[1].sum() < half[0].sum()


def test_nothing_to_compare_is_said() -> None:
    with pytest.raises(SSplainError, match="nothing to compare"):
        comparison(torch.rand(1, 1, 4, 4), [Compared(method("lime"), None, 0.0, "cannot")])
