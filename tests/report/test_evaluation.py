import csv

import pytest
import torch

import ssplain
from ssplain.errors import SSplainError
from ssplain.metrics import Evaluation, evaluate
from ssplain.report.evaluation import TITLES, evaluation_csv, evaluation_figure


def two() -> dict[str, Evaluation]:
    model = ssplain.models.load("lenet5-mnist")
    images, labels = (part[:8] for part in ssplain.data.bundled("mnist"))
    noise = torch.rand(images.shape, generator=torch.Generator().manual_seed(0))
    maps = {"intensity": images, "random": noise}
    return {n: evaluate(model, images, labels, m, points=11) for n, m in maps.items()}


def test_the_table_holds_each_number_and_its_difference() -> None:
    found = two()
    lines = list(csv.reader(evaluation_csv(found).splitlines()))
    rows = {(row[0], row[1]): row[2:] for row in lines[1:]}
    assert len(rows) == 2 * len(found["random"].values)
    row = rows["random", "connected"]
    assert float(row[0]) == pytest.approx(found["random"].summary("connected").value, abs=1e-5)
    assert row[3] == "8"
    apart = float(row[0]) - float(rows["intensity", "connected"][0])
    assert float(row[4]) == pytest.approx(apart, abs=2e-5)
    assert [float(x) for x in rows["intensity", "insertion"][4:]] == [0, 0, 0]


def test_every_curve_is_drawn() -> None:
    found = two()
    drawing = evaluation_figure(found)
    measures = list(found["random"].curves)
    assert [axes.get_title() for axes in drawing.axes] == [TITLES[name] for name in measures]
    for axes, measure in zip(drawing.axes, measures, strict=True):
        for line, one in zip(axes.lines, found.values(), strict=True):
            drawn = torch.as_tensor(line.get_ydata())
            torch.testing.assert_close(drawn, one.curves[measure], check_dtype=False)


def test_nothing_is_named() -> None:
    with pytest.raises(SSplainError, match="nothing evaluated"):
        evaluation_csv({})
