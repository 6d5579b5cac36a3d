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


def test_table_curves_and_maps_are_written_and_maps_are_used_again(tmp_path: Path) -> None:
    printed = run(tmp_path, "--explainers", "ssplain-0,intensity")
    assert "12 mnist images" in printed
    assert "intervals are too narrow" in printed
    assert "intensity" in printed
    rows = list(csv.DictReader((tmp_path / "evaluation.csv").read_text().splitlines()))
    assert {row["explainer"] for row in rows} == {"ssplain-0", "intensity"}
    assert {row["images"] for row in rows} == {"12"}
    assert (tmp_path / "curves.png").read_bytes()[1:4] == b"PNG"
    assert b"<svg" in (tmp_path / "curves.svg").read_bytes()
    kept = tmp_path / "maps" / "ssplain-0.npz"
    before = kept.stat().st_mtime_ns
    again = run(tmp_path, "--explainers", "ssplain-0,intensity")
    assert again == printed
    assert kept.stat().st_mtime_ns == before
    run(tmp_path, "--explainers", "ssplain-0", "--target", "predicted")
    assert kept.stat().st_mtime_ns != before


def test_a_broken_map_file_is_made_again(tmp_path: Path) -> None:
    (tmp_path / "maps").mkdir()
    broken = tmp_path / "maps" / "intensity.npz"
    broken.write_bytes(b"half a file")
    run(tmp_path, "--explainers", "intensity")
    assert broken.read_bytes()[:2] == b"PK"


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--explainers", "tea-leaves"], "no explainer 'tea-leaves'"),
        (["--target", "guess"], "--target guess"),
        (["--axis", "depth", "--explainers", "intensity"], "axis='depth'"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, more: list[str], says: str) -> None:
    with pytest.raises(SSplainError, match=says):
        run(tmp_path, *more)
