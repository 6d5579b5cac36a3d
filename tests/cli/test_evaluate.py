import csv
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from ssplain.cli.evaluate import evaluate
from ssplain.errors import SSplainError

app = typer.Typer()
app.command()(evaluate)


def run(out: Path, *more: str) -> str:
    command = ["--dataset", "mnist", "--out", str(out), "--images", "12", "--points", "11", *more]
    result = CliRunner().invoke(app, command, catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


def kept(out: Path) -> dict[str, int]:
    """When each result that is kept was written."""
    return {path.name: path.stat().st_mtime_ns for path in (out / "kept").iterdir()}


def test_table_and_curves_are_written_and_nothing_is_computed_twice(tmp_path: Path) -> None:
    printed = run(tmp_path, "--explainers", "ssplain-0, intensity")
    assert "12 mnist images" in printed
    assert "intervals are too narrow" in printed
    assert "intensity" in printed
    rows = list(csv.DictReader((tmp_path / "evaluation.csv").read_text().splitlines()))
    assert {row["explainer"] for row in rows} == {"ssplain-0", "intensity"}
    assert {row["images"] for row in rows} == {"12"}
    assert (tmp_path / "curves.png").read_bytes()[1:4] == b"PNG"
    assert b"<svg" in (tmp_path / "curves.svg").read_bytes()
    before = kept(tmp_path)
    assert len(before) == 4  # maps and measures of two explainers
    assert run(tmp_path, "--explainers", "ssplain-0,intensity") == printed
    assert kept(tmp_path) == before
    run(tmp_path, "--explainers", "ssplain-0", "--axis", "kappa")
    assert len(kept(tmp_path)) == 5  # measured again, the maps are the same
    run(tmp_path, "--explainers", "ssplain-0", "--target", "predicted")
    assert len(kept(tmp_path)) == 5  # the model is right about these: the same classes


def test_a_stopped_call_makes_only_what_is_missing_or_broken(tmp_path: Path) -> None:
    printed = run(tmp_path, "--explainers", "intensity,saliency")
    before = kept(tmp_path)
    gone, broken = (
        next(name for name in before if name.startswith(start))
        for start in ("saliency-measured", "intensity-measured")
    )
    (tmp_path / "kept" / gone).unlink()
    (tmp_path / "kept" / broken).write_bytes(b"half a file")
    assert run(tmp_path, "--explainers", "intensity,saliency") == printed
    after = kept(tmp_path)
    assert set(after) == set(before)
    assert {name for name in after if after[name] != before[name]} == {gone, broken}


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--explainers", "tea-leaves"], "no explainer 'tea-leaves'"),
        (["--target", "guess"], "--target guess"),
        (["--axis", "depth"], "--axis depth does not work; choose one of: all, support, kappa"),
        (["--dataset", "cats"], "--dataset cats"),
        (["--baseline", "grey"], "--baseline grey does not work; choose one of: black, blur, mean"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, more: list[str], says: str) -> None:
    with pytest.raises(SSplainError, match=says):
        run(tmp_path, *more)
