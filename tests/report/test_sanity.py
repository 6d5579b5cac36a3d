import pytest
import torch

import ssplain
from ssplain.errors import SSplainError
from ssplain.metrics import Sanity, sanity_check
from ssplain.report.sanity import sanity_figure


def check(*, start: bool) -> Sanity:
    model = ssplain.models.load("lenet5-mnist")
    images, labels = (part[:2] for part in ssplain.data.bundled("mnist"))
    return sanity_check(
        lambda m, x: ssplain.SSplain(m, iterations=5).attribute(x, labels),
        model,
        images,
        start=images if start else None,
        seeds=[0],
        measures=["spearman", "ssim"],
    )


def test_every_stage_has_its_map_and_every_measure_its_line() -> None:
    found = check(start=True)
    upper, lower = sanity_figure(found, 1).subfigs
    shown = [axes for axes in upper.axes if axes.images]
    assert [axes.get_title() for axes in shown] == [
        "image",
        "trained",
        *(f"{name} random" for name in ("full3", "full2", "full1", "conv2", "conv1")),
    ]
    lines = {line.get_label(): line for line in lower.axes[0].lines}
    assert "spearman, M0 held fixed" in lines
    expected = found.change_likeness["ssim"].mean((1, 2))
    drawn = torch.as_tensor(lines["ssim of M - M0"].get_ydata())
    torch.testing.assert_close(drawn, expected)


def test_without_a_start_only_likeness_is_drawn() -> None:
    _, lower = sanity_figure(check(start=False)).subfigs
    legend = lower.axes[0].get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["spearman", "ssim"]


def test_an_image_that_is_not_there_is_named() -> None:
    with pytest.raises(SSplainError, match="no image 2"):
        sanity_figure(check(start=False), 2)
