from io import BytesIO

import pytest
from matplotlib.figure import Figure

import ssplain
from ssplain.explain.compare import compare
from ssplain.report import comparison, figure
from ssplain.report.labels import label

NAMES = ("left eye of the child " * 9, "眼底照片-左", "price $5 or $6", "two\nlines", "")
IMAGES, LABELS = (part[:5] for part in ssplain.data.bundled("mnist"))
MODEL = ssplain.models.load("lenet5-mnist")


def drawn(drawing: Figure) -> bytes:
    """Draw a figure; pytest makes an error of every warning of matplotlib's."""
    file = BytesIO()
    drawing.savefig(file, format="png", dpi=50)
    return file.getvalue()


def test_any_name_can_stand_beside_an_image() -> None:
    found = list(compare(MODEL, IMAGES, explainers=["intensity", "saliency"]))
    drawing = comparison(IMAGES, found, NAMES)
    assert drawn(drawing)[1:4] == b"PNG"
    beside = [axes.get_ylabel() for axes in drawing.axes if axes.get_ylabel()]
    assert beside[0].startswith("left eye")
    assert len(beside[0]) <= 18
    assert beside[1] == "image 2"
    assert beside[2:] == [r"price \$5 or \$6", "two lines", "image 5"]


def test_the_probability_is_whole_whatever_the_class_is_called() -> None:
    result = ssplain.SSplain(MODEL, iterations=1).explain(IMAGES, [0, 1, 2, 3, 4])
    drawing = figure(result, [*NAMES, *map(str, range(5, 10))])
    drawn(drawing)
    for i, axes in enumerate(drawing.axes[::4]):
        first, second = axes.get_ylabel().split("\n")
        assert second == f"p = {float(result.probabilities[i, i]):.2f}"
        assert len(first) <= 28
        # within its own row: what is longer would be cut or run into the next
        box = axes.yaxis.label.get_window_extent()
        assert box.height <= 1.15 * axes.get_window_extent().height


@pytest.mark.parametrize("longest", [8, 9, 24])
def test_a_long_name_keeps_both_ends(longest: int) -> None:
    name = "patient-0001-left-eye-of-the-second-visit-17.png"
    short = label(name, "image", longest)
    assert len(short) == longest
    first, last = short.split("…")
    assert name.startswith(first)
    assert name.endswith(last)
    assert last
