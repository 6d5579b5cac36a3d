from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from ssplain.errors import SSplainError
from ssplain.simulate.eye import simulate
from ssplain.vessels import trace
from ssplain.vessels.table import Planted, branch_rows, planted_rows


@pytest.fixture
def truth(phantoms: SimpleNamespace) -> Planted:
    """A trunk that a side branch leaves half-way: two planted branches, three traced ones."""
    trunk = phantoms.stroke((20, 100), (200, 100), 6)
    side = phantoms.stroke((110, 100), (60, 180), 3) & ~trunk
    ids = np.full(trunk.shape, -1, dtype=np.int32)
    ids[side], ids[trunk] = 1, 0
    return Planted(ids, {"width": np.array([6.0, 3.0]), "curvature": np.array([0.0, 0.01])})


def test_planted_branches_gather_their_traced_parts(truth: Planted) -> None:
    tree = trace(truth.branch_ids >= 0)
    assert len(tree.branches) == 3
    trunk, side = planted_rows(tree, truth)
    assert len(str(trunk["branches"]).split()) == 2
    assert len(str(side["branches"]).split()) == 1
    assert trunk["asd_px"] == pytest.approx(7, rel=0.05)  # drawn around a pixel column
    assert side["asd_px"] == pytest.approx(3, rel=0.08)
    assert trunk["length_px"] == pytest.approx(186, rel=0.02)
    assert (trunk["calibre_px"], side["calibre_px"]) == (trunk["asd_px"], side["asd_px"])
    faint = trace(np.where(truth.branch_ids == 1, 0.5, truth.branch_ids == 0))
    trunk, side = planted_rows(faint, truth)
    assert side["calibre_px"] == pytest.approx(0.5 * float(str(side["asd_px"])), rel=0.08)
    assert trunk["calibre_px"] == pytest.approx(trunk["asd_px"], rel=0.02)
    assert (side["planted"], side["planted_width"], side["planted_curvature"]) == (1, 3, 0.01)
    assert min(float(str(row["overlap"])) for row in (trunk, side)) > 0.95


def test_a_planted_branch_that_was_not_traced_has_no_row(truth: Planted) -> None:
    (row,) = planted_rows(trace(truth.branch_ids == 0), truth)
    assert row["planted"] == 0


def test_planted_values_are_those_of_the_pixels_that_were_traced(truth: Planted) -> None:
    """The trunk gets wider downwards, and bent below its side branch."""
    row, _ = np.indices(truth.branch_ids.shape)
    width = np.linspace(4.0, 8.0, 224)[row]
    bend = np.where(row > 110, 0.03, 0.01)
    dilation = np.where(row > 150, 2.0, 1.0)
    mapped = replace(truth, maps={"width": width, "curvature": bend, "dilation": dilation})
    tree = trace(truth.branch_ids >= 0)
    rows = branch_rows(tree, mapped)
    assert len(rows) == 3
    for branch, found in zip(tree.branches, rows, strict=True):
        own = tree.labels == branch.label
        assert found["planted_width"] == pytest.approx(1 / (1 / width[own]).mean(), abs=1e-4)
        along = np.average(dilation[own], weights=1 / width[own])
        assert found["planted_dilation"] == pytest.approx(along, abs=1e-4)
        clear = own & tree.curvature.clear
        assert found["planted_curvature"] == pytest.approx(bend[clear].mean(), abs=1e-4)
    trunk, _ = planted_rows(tree, mapped)
    both = np.isin(tree.labels, [int(label) for label in str(trunk["branches"]).split()])
    assert trunk["planted_width"] == pytest.approx(1 / (1 / width[both]).mean(), abs=1e-4)
    expected = bend[both & tree.curvature.clear].mean()
    assert trunk["planted_curvature"] == pytest.approx(expected, abs=1e-4)
    assert "planted_width" not in branch_rows(tree, truth)[0]  # of a branch only maps can tell


def test_truth_of_a_simulated_image_survives_a_file(tmp_path: Path) -> None:
    fundus = simulate(seed=0, index=2)
    fundus.planted().save(tmp_path / "truth.npz")
    again = Planted.load(tmp_path / "truth.npz")
    assert np.array_equal(again.branch_ids, fundus.branch_ids)
    assert np.array_equal(again.maps["width"], fundus.width)
    assert np.array_equal(again.maps["curvature"], fundus.curvature)
    assert np.array_equal(again.maps["dilation"], fundus.dilation)
    assert again.columns["kind"].tolist() == [branch.kind for branch in fundus.branches]
    assert again.columns["dilation"].tolist() == [branch.dilation for branch in fundus.branches]


def test_truth_survives_a_file(truth: Planted, tmp_path: Path) -> None:
    truth.save(tmp_path / "truth.npz")
    again = Planted.load(tmp_path / "truth.npz")
    assert np.array_equal(again.branch_ids, truth.branch_ids)
    assert {name: value.tolist() for name, value in again.columns.items()} == {
        "width": [6, 3],
        "curvature": [0, 0.01],
    }


def test_bad_truth_is_refused_in_one_sentence(truth: Planted, tmp_path: Path) -> None:
    (tmp_path / "text.npz").write_text("no archive")
    with pytest.raises(SSplainError, match="cannot be read as planted truth"):
        Planted.load(tmp_path / "text.npz")
    with pytest.raises(SSplainError, match="cannot be read as planted truth"):
        Planted.load(tmp_path / "missing.npz")
    np.savez(tmp_path / "other.npz", branch_ids=truth.branch_ids)
    with pytest.raises(SSplainError, match="no array curvature, width"):
        Planted.load(tmp_path / "other.npz")
    with pytest.raises(SSplainError, match=r"\(224, 224\), the image \(20, 20\)"):
        planted_rows(trace(np.eye(20)), truth)
    with pytest.raises(SSplainError, match=r"\(224, 224\), the image \(20, 20\)"):
        branch_rows(trace(np.eye(20)), truth)


def test_a_row_has_every_measure_and_none_for_what_is_not_measured(
    phantoms: SimpleNamespace,
) -> None:
    tree = trace(phantoms.ring(20, 2), variant="raw", disc=(112, 112, 5))
    (row,) = branch_rows(tree)
    (branch,) = tree.branches
    assert row["length_px"] == pytest.approx(branch.length, abs=0.01)
    assert row["asd_px"] == pytest.approx(branch.asd, abs=0.001)
    assert row["calibre_px"] == pytest.approx(branch.calibre, abs=0.001)
    assert row["mean_curvature_per_px"] == pytest.approx(branch.mean_curvature, abs=1e-5)
    assert row["arc_over_chord"] is None
    assert row["tortuosity"] is None
    assert (row["curvature_variant"], row["generation"]) == ("raw", 1)
    assert (row["curvature_axis"], row["curvature_scale"], row["counted"]) == (
        "alg",
        "common",
        "yes",
    )
