import csv

import pytest
import torch

import ssplain
from ssplain.errors import SSplainError
from ssplain.metrics import MEASURES, Evaluation, evaluate
from ssplain.report.evaluation import evaluation_csv, evaluation_figure


def two() -> dict[str, Evaluation]:
    model = ssplain.models.load("lenet5-mnist")
    images, labels = (part[:8] for part in ssplain.data.bundled("mnist"))
    noise = torch.rand(images.shape, generator=torch.Generator().manual_seed(0))
    maps = {"intensity": images, "random": noise}
    return {n: evaluate(model, images, labels, m, points=11) for n, m in maps.items()}


def test_the_table_holds_each_number_and_its_difference() -> None:
    found = two()
    lines = csv.DictReader(evaluation_csv(found).splitlines())
    rows = {(row["explainer"], row["measure"]): row for row in lines}
    assert len(rows) == 2 * len(found["random"].values)
    row = rows["random", "connected"]
    expected = found["random"].summary("connected")
    for column, number in (("value", expected.value), ("low", expected.low)):
        assert float(row[column]) == pytest.approx(number, abs=1e-5)
    assert (row["images"], row["versus"]) == ("8", "intensity")
    apart = float(row["value"]) - float(rows["intensity", "connected"]["value"])
    assert float(row["difference"]) == pytest.approx(apart, abs=2e-5)
    paired = found["random"].against(found["intensity"], "connected").difference
    assert float(row["difference high"]) == pytest.approx(paired.high, abs=1e-5)
    assert float(rows["intensity", "insertion"]["difference"]) == 0


def test_every_curve_is_drawn() -> None:
    found = two()
    drawing = evaluation_figure(found)
    measures = list(found["random"].curves)
    assert [axes.get_title() for axes in drawing.axes] == [
        MEASURES[name].says(MEASURES[name].heading) for name in measures
    ]
    assert len({line.get_color() for line in drawing.axes[0].lines}) == len(found)
    for axes, measure in zip(drawing.axes, measures, strict=True):
        for line, one in zip(axes.lines, found.values(), strict=True):
            drawn = torch.as_tensor(line.get_ydata())
            torch.testing.assert_close(drawn, one.mean_curve(measure), check_dtype=False)


def test_a_log_axis_begins_at_the_first_step() -> None:
    found = two()
    for log, scale, first in ((False, "linear", 0.0), (True, "log", 0.1)):
        for axes in evaluation_figure(found, log=log).axes:
            assert axes.get_xscale() == scale
            assert axes.get_xlim() == pytest.approx((first, 1.0))


def test_nothing_is_named() -> None:
    with pytest.raises(SSplainError, match="nothing evaluated"):
        evaluation_csv({})
