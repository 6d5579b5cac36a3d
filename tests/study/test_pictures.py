from itertools import combinations
from pathlib import Path

import numpy as np
import torch

from ssplain.metrics import Evaluation
from ssplain.study.declare import ALL, RIVALS
from ssplain.study.kinds import Variant
from ssplain.study.pictures import against_passes, curves, dots, map_grid
from ssplain.study.style import lines, save_figure, style

GRID = torch.linspace(0, 1, 3)
LABELS = torch.tensor([0, 0, 1, 1])


def found(value: float) -> Evaluation:
    values = torch.tensor([value, value, value + 0.2, value + 0.2]).double()
    curve = torch.tensor([0.0, value, 1.0]).expand(4, -1)
    names = ("insertion", "deletion")
    return Evaluation(dict.fromkeys(names, values), dict.fromkeys(names, curve), GRID, LABELS)


FOUND = {"all": {"first": found(0.2), "second": found(0.6)}}
PANELS = [("all", "deletion"), ("all", "insertion")]


def test_curves_say_what_they_show() -> None:
    with style():
        drawing = curves(FOUND, PANELS, "two images")
    assert drawing.get_suptitle() == "two images"
    assert [axes.get_title() for axes in drawing.axes] == [
        "Deletion, low is good",
        "Insertion, high is good",
    ]
    for axes in drawing.axes:
        assert axes.get_xlabel() == "share of all pixels s (%)"
        assert axes.get_ylabel() == "balanced accuracy"
        assert np.asarray(axes.lines[0].get_xdata()).tolist() == [0, 50, 100]
        assert len({line.get_color() for line in axes.lines}) == len(axes.lines) == 2
    (legend,) = drawing.legends
    assert [text.get_text() for text in legend.get_texts()] == ["first", "second"]


def test_the_best_is_on_top_with_its_interval() -> None:
    with style():
        deletion, insertion = dots(FOUND, PANELS, "").axes
    assert [t.get_text() for t in deletion.get_yticklabels()] == ["first", "second"]
    assert [t.get_text() for t in insertion.get_yticklabels()] == ["second", "first"]
    assert "all pixels" in insertion.get_xlabel()
    low, high = np.asarray(insertion.lines[0].get_xdata()).tolist()
    own = FOUND["all"]["second"].summary("insertion")
    assert (low, high) == (own.low, own.high)


def test_dots_are_hollow_where_lines_are_broken_and_the_first_is_largest() -> None:
    titles = [variant.title for variant in ALL]
    with style():
        (axes,) = dots({"all": {t: found(0.2) for t in titles}}, PANELS[:1], "").axes
    looks = lines(titles)
    drawn = dict(
        zip(titles, [line for line in axes.lines if line.get_marker() == "o"], strict=True)
    )
    for title, dot in drawn.items():
        filled = looks[title].linestyle == "-"
        assert dot.get_markerfacecolor() == (looks[title].color if filled else "white")
    sizes = [dot.get_markersize() for dot in drawn.values()]
    assert sizes[0] > max(sizes[1:])


def test_no_words_leave_the_drawing_or_run_into_others() -> None:
    measures = ("connected", "average-precision-above-chance", "precision-above-chance")
    values = dict.fromkeys(measures, torch.rand(4).double())
    curve = dict.fromkeys(measures, torch.rand(4, 3))
    shown = {"support": {v.title: Evaluation(values, curve, GRID, LABELS) for v in RIVALS}}
    for drawn, panels in ((curves, measures[:1] * 3), (dots, measures)):
        with style():
            drawing = drawn(shown, [("support", name) for name in panels], "")
            drawing.draw_without_rendering()
        texts = [text for axes in drawing.axes for text in (axes.title, axes.xaxis.label)]
        boxes = [text.get_window_extent() for text in texts if text.get_text()]
        boxes += [legend.get_window_extent() for legend in drawing.legends]
        for box in boxes:
            assert box.x0 >= 0
            assert box.x1 <= drawing.bbox.x1
        assert not [1 for a, b in combinations(boxes, 2) if a.overlaps(b)]
        for axes in drawing.axes:
            assert axes.title.get_window_extent().width <= axes.bbox.width


def test_passes_stand_beside_each_other_under_the_measures_name() -> None:
    given = {f"ours, {count} passes": found(count / 100) for count in (10, 40)}
    with style():
        drawing = against_passes(given, ("insertion", "deletion"), "")
    assert [axes.get_title() for axes in drawing.axes] == [
        "Insertion, high is good",
        "Deletion, low is good",
    ]
    assert [t.get_text() for t in drawing.axes[0].get_xticklabels()] == ["10", "40"]


def test_what_has_no_better_side_falls() -> None:
    shares = {
        title: Evaluation({"tie-share": torch.full((4,), share).double()}, {}, GRID, LABELS)
        for title, share in (("few", 0.1), ("many", 0.7))
    }
    with style():
        (axes,) = dots({"all": shares}, [("all", "tie-share")], "").axes
    assert [t.get_text() for t in axes.get_yticklabels()] == ["many", "few"]


def test_five_panels_take_two_rows_and_the_rest_is_empty() -> None:
    with style():
        drawing = dots(FOUND, [*PANELS, *PANELS, PANELS[0]], "")
    assert [axes.axison for axes in drawing.axes] == [True] * 5 + [False] * 3


def test_no_two_lines_look_the_same_and_the_first_is_thickest() -> None:
    titles = [variant.title for variant in ALL]
    looks = lines(titles)
    assert len({(look.color, str(look.linestyle)) for look in looks.values()}) == len(titles)
    for group in (titles, ["a", "b", "c", "d", "e"]):
        drawn = list(lines(group).values())
        assert drawn[0].linewidth == max(look.linewidth for look in drawn)


def test_grids_name_explainers_and_images() -> None:
    maps = {Variant("one way", "saliency"): torch.rand(2, 1, 8, 8)}
    with style():
        drawing = map_grid(torch.rand(2, 1, 8, 8), maps, ["a", "b"], "title")
    assert [axes.get_title() for axes in drawing.axes[:2]] == ["image", "one way"]
    assert [axes.get_ylabel() for axes in drawing.axes if axes.get_ylabel()] == ["a", "b"]


def test_a_figure_is_saved_twice_with_the_same_bytes(tmp_path: Path) -> None:
    kept = []
    for home in ("a", "b"):
        with style():
            assert save_figure(curves(FOUND, PANELS, ""), tmp_path / home, "c") == "c.png"
        kept.append((tmp_path / home / "c.svg").read_bytes())
    assert kept[0] == kept[1]
    assert b"<svg" in kept[0]


def test_lines_over_passes_run_from_few_to_many() -> None:
    by_title = {f"A, {count} passes": found(count / 100) for count in (40, 10, 20)}
    drawing = against_passes(by_title, ["insertion"], "note")
    line = drawing.axes[0].get_lines()[0]
    assert np.asarray(line.get_xdata()).tolist() == [10, 20, 40]
    assert (np.diff(np.asarray(line.get_ydata())) > 0).all()
