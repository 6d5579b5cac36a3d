import csv
from dataclasses import replace
from pathlib import Path

import pytest

from ssplain.explain.registry import METHODS
from ssplain.models import load
from ssplain.run.scene import Scene
from ssplain.study import TimesStudy, Variant, declared, read_results
from ssplain.study.times import COLUMNS, PAPER, Row, group, run_times, times_figure
from tests.study.tiny import digits

VARIANTS = (
    Variant("SSplain-0", "ssplain-0", {"iterations": 2}),
    Variant("LIME", "lime", {"samples": 5}),
    Variant("Saliency", "saliency"),
)


def test_times_are_taken_once_for_each_image(tmp_path: Path) -> None:
    study = declared("times")
    assert isinstance(study, TimesStudy)
    study = replace(study, variants=VARIANTS)
    scenes = {"mnist": digits(3)}
    record = run_times(study, scenes, tmp_path)
    assert record.settings == {"mnist": 3}
    assert record.images == 3
    assert [one.file for one in record.figures] == ["times.png"]
    rows = list(csv.DictReader((tmp_path / "times/times.csv").read_text().splitlines()))
    assert tuple(rows[0]) == COLUMNS
    assert {row["images"] for row in rows} == {"3"}
    assert [row["explainer"] for row in rows] == ["SSplain-0", "LIME", "Saliency"]
    found = read_results(tmp_path / "times", "times").found[group("mnist")]
    own, ours = (found[t].values["seconds"] for t in ("LIME", "SSplain-0"))
    assert float(rows[1]["ms per image"]) == pytest.approx(1e3 * float(own.mean()), rel=1e-3)
    assert float(rows[1]["times SSplain-0"]) == pytest.approx(float(own.mean() / ours.mean()), 1e-3)
    assert float(rows[1]["times SSplain in the paper"]) == pytest.approx(0.21 / 1.58, abs=1e-4)
    assert rows[2]["times SSplain in the paper"] == ""
    assert len(own) == 3
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "store").iterdir()}
    table = (tmp_path / "times/times.csv").read_bytes()
    run_times(study, scenes, tmp_path)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "store").iterdir()} == kept
    assert (tmp_path / "times/times.csv").read_bytes() == table
    run_times(study, {"mnist": digits(4)}, tmp_path)  # one image more
    after = {path: path.stat().st_mtime_ns for path in (tmp_path / "store").iterdir()}
    assert len(after) == len(kept) + len(VARIANTS)
    assert after.items() >= kept.items()


def test_the_figure_is_labelled() -> None:
    rows: list[Row] = [
        ("mnist", "SSplain-0", "ssplain", 3, 1.0, 0.0, 1.0, 1.0),
        ("mnist", "Saliency", "gradient", 3, 0.5, 0.0, 0.5, ""),
    ]
    drawing = times_figure(rows)
    (axes,) = drawing.axes
    assert axes.get_xscale() == "log"
    assert axes.get_title() == "MNIST"
    assert "SSplain-0" in axes.get_xlabel()
    assert [t.get_text() for t in drawing.legends[0].get_texts()] == ["here", "in the paper"]


def test_whatever_times_depend_on_is_timed_anew(tmp_path: Path) -> None:
    study = declared("times")
    assert isinstance(study, TimesStudy)
    scene = digits(1)

    def kept(variant: Variant = VARIANTS[0], scene: Scene = scene, seed: int = 0) -> int:
        one = replace(study, variants=(Variant("SSplain-0", variant.method, variant.settings),))
        run_times(one, {"mnist": scene}, tmp_path, seed=seed)
        return len(list((tmp_path / "store").iterdir()))

    assert kept() == kept() == 1
    assert kept(seed=1) == 2
    assert kept(Variant("", "ssplain-0", {"iterations": 3})) == 3
    assert kept(scene=replace(scene, network=load("lenet5-fmnist"))) == 4
    assert kept(scene=replace(scene, labels=scene.labels + 1)) == 5
    assert kept(scene=replace(scene, images=scene.images / 2)) == 6


def test_the_papers_times_are_those_of_its_table() -> None:
    """Copied a second time, row by row, from Table 1: ROP, MNIST, Fashion-MNIST."""
    table = {
        "KernelSHAP": (29.57, 0.23, 0.24),
        "LIME": (27.86, 0.21, 0.23),
        "Occlusion": (114.60, 0.64, 0.64),
        "Extremal Perturbation": (222.36, 15.13, 15.19),
        "SSplain-0": (29.91, 1.58, 1.59),
    }
    for title, seconds in table.items():
        assert tuple(PAPER[name][title] for name in ("rop", "mnist", "fmnist")) == seconds
    assert {len(own) for own in PAPER.values()} == {len(table)}
    assert set(table) <= {known.title for known in METHODS.values()}  # found by title
