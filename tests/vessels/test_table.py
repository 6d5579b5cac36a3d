from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from ssplain.errors import SSplainError
from ssplain.vessels import trace
from ssplain.vessels.table import Truth, branch_rows, planted_rows


@pytest.fixture
def truth(phantoms: SimpleNamespace) -> Truth:
    """A trunk that a side branch leaves half-way: two planted branches, three traced ones."""
    trunk = phantoms.stroke((20, 100), (200, 100), 6)
    side = phantoms.stroke((110, 100), (60, 180), 3) & ~trunk
    ids = np.full(trunk.shape, -1, dtype=np.int32)
    ids[side], ids[trunk] = 1, 0
    return Truth(ids, {"width": np.array([6.0, 3.0]), "curvature": np.array([0.0, 0.01])})


def test_planted_branches_gather_their_traced_parts(truth: Truth) -> None:
    tree = trace(truth.branch_ids >= 0)
    assert len(tree.branches) == 3
    trunk, side = planted_rows(tree, truth)
    assert len(str(trunk["branches"]).split()) == 2
    assert len(str(side["branches"]).split()) == 1
    assert trunk["asd_px"] == pytest.approx(7, rel=0.05)  # drawn around a pixel column
    assert side["asd_px"] == pytest.approx(3, rel=0.08)
    assert trunk["length_px"] == pytest.approx(186, rel=0.02)
    assert (side["planted"], side["planted_width"], side["planted_curvature"]) == (1, 3, 0.01)
    assert min(float(str(row["overlap"])) for row in (trunk, side)) > 0.95


def test_a_planted_branch_that_was_not_traced_has_no_row(truth: Truth) -> None:
    (row,) = planted_rows(trace(truth.branch_ids == 0), truth)
    assert row["planted"] == 0


def test_truth_survives_a_file(truth: Truth, tmp_path: Path) -> None:
    truth.save(tmp_path / "truth.npz")
    again = Truth.load(tmp_path / "truth.npz")
    assert np.array_equal(again.branch_ids, truth.branch_ids)
    assert {name: value.tolist() for name, value in again.columns.items()} == {
        "width": [6, 3],
        "curvature": [0, 0.01],
    }


def test_bad_truth_is_refused_in_one_sentence(truth: Truth, tmp_path: Path) -> None:
    (tmp_path / "text.npz").write_text("no archive")
    with pytest.raises(SSplainError, match="cannot be read as planted truth"):
        Truth.load(tmp_path / "text.npz")
    with pytest.raises(SSplainError, match="cannot be read as planted truth"):
        Truth.load(tmp_path / "missing.npz")
    np.savez(tmp_path / "other.npz", branch_ids=truth.branch_ids)
    with pytest.raises(SSplainError, match="no array curvature, width"):
        Truth.load(tmp_path / "other.npz")
    with pytest.raises(SSplainError, match=r"\(224, 224\), the image \(20, 20\)"):
        planted_rows(trace(np.eye(20)), truth)


def test_a_row_has_every_measure_and_none_for_what_is_not_measured(
    phantoms: SimpleNamespace,
) -> None:
    tree = trace(phantoms.ring(20, 2), variant="raw", disc=(112, 112, 5))
    (row,) = branch_rows(tree)
    (branch,) = tree.branches
    assert row["length_px"] == pytest.approx(branch.length, abs=0.01)
    assert row["asd_px"] == pytest.approx(branch.asd, abs=0.001)
    assert row["mean_curvature_per_px"] == pytest.approx(branch.mean_curvature, abs=1e-5)
    assert row["tortuosity"] is None
    assert (row["curvature_variant"], row["generation"]) == ("raw", 1)
