import csv
from pathlib import Path

import numpy as np
import pytest
import typer
from numpy.typing import NDArray
from PIL import Image
from typer.testing import CliRunner

from ssplain.cli.vessels import vessels
from ssplain.errors import SSplainError
from ssplain.simulate.eye import simulate
from ssplain.vessels.table import Planted

app = typer.Typer()
app.command()(vessels)


def run(*words: object) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture
def bar(tmp_path: Path) -> Path:
    image = np.zeros((40, 120), dtype=np.uint8)
    image[17:22, 10:110] = 255
    Image.fromarray(image).save(tmp_path / "bar.png")
    return tmp_path / "bar.png"


@pytest.fixture
def ring(tmp_path: Path) -> Path:
    row, column = np.mgrid[:90, :90]
    image = np.abs(np.hypot(row - 44, column - 45) - 30) <= 2
    Image.fromarray((255 * image).astype(np.uint8)).save(tmp_path / "ring.png")
    return tmp_path / "ring.png"


def read(path: Path) -> NDArray[np.uint8]:
    with Image.open(path) as image:
        return np.array(image)


def table(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def test_pictures_a_table_and_a_line_for_each_image(bar: Path, ring: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    lines = run(bar, ring, "--out", out, "--disc", 20, 10, 5).splitlines()
    assert sorted(path.name for path in out.iterdir()) == sorted(
        f"{name}-{what}"
        for name in ("bar", "ring")
        for what in ("width.png", "curvature.png", "branches.csv")
    )
    assert len(lines) == 2
    assert "1 branch, 100 px long, mean width 4.99 px" in lines[0]
    assert "robust" in lines[1]
    (row,) = table(out / "ring-branches.csv")
    assert float(row["asd_px"]) == pytest.approx(4, rel=0.05)
    assert float(row["mean_curvature_per_px"]) == pytest.approx(1 / 30, rel=0.05)
    assert (row["arc_over_chord"], row["tortuosity"], row["generation"]) == ("", "", "1")
    assert (row["curvature_variant"], row["threshold"]) == ("robust", "0.0")
    with Image.open(out / "bar-width.png") as picture:
        assert min(picture.size) > 300


def test_the_threshold_takes_noise_away(bar: Path, tmp_path: Path) -> None:
    noisy = np.maximum(read(bar), 12)
    Image.fromarray(noisy).save(tmp_path / "noisy.png")
    out = tmp_path / "out"
    run(tmp_path / "noisy.png", "--out", out, "--threshold", 0.1)
    assert "black" not in run(bar, "--out", out)
    noisy_rows, rows = table(out / "noisy-branches.csv"), table(out / "bar-branches.csv")
    assert noisy_rows == [row | {"threshold": "0.1"} for row in rows]


def test_a_ground_that_is_not_black_is_said(ring: Path, tmp_path: Path) -> None:
    Image.fromarray(read(ring)).save(tmp_path / "lossy.jpg", quality=75)
    Image.fromarray(read(ring)).save(tmp_path / "palette.gif")
    output = run(tmp_path / "lossy.jpg", tmp_path / "palette.gif", "--out", tmp_path)
    lossy, palette = output.splitlines()
    assert "1 branch" in lossy
    assert "the ground is not black: values up to " in lossy
    assert "black" not in palette
    assert float(table(tmp_path / "lossy-branches.csv")[0]["threshold"]) > 0
    assert table(tmp_path / "palette-branches.csv")[0]["threshold"] == "0.0"


def test_an_empty_image_has_no_vessels(tmp_path: Path) -> None:
    Image.new("L", (30, 20)).save(tmp_path / "black.png")
    output = run(tmp_path / "black.png", "--out", tmp_path, "--variant", "raw")
    assert "no vessels found" in output
    assert table(tmp_path / "black-branches.csv") == []


def test_truth_adds_a_table_of_planted_branches(bar: Path, tmp_path: Path) -> None:
    ids = np.where(read(bar) > 0, 0, -1).astype(np.int32)
    truth = Planted(ids, {"width": np.array([5.0]), "curvature": np.array([0.0])})
    truth.save(tmp_path / "truth.npz")
    output = run(bar, "--out", tmp_path, "--truth", tmp_path / "truth.npz")
    assert "too few to compare" in output
    assert "planted_width" not in table(tmp_path / "bar-branches.csv")[0]
    (row,) = table(tmp_path / "bar-planted.csv")
    assert float(row["asd_px"]) == pytest.approx(float(row["planted_width"]), rel=0.03)


def test_truth_of_a_simulated_image_is_compared_branch_by_branch(tmp_path: Path) -> None:
    fundus = simulate(seed=9, index=2)
    Image.fromarray(np.rint(255 * fundus.image).astype(np.uint8)).save(tmp_path / "eye.png")
    fundus.planted().save(tmp_path / "truth.npz")
    output = run(tmp_path / "eye.png", "--out", tmp_path, "--truth", tmp_path / "truth.npz")
    rows = table(tmp_path / "eye-planted.csv")
    known = [row for row in rows if row["mean_curvature_per_px"]]
    assert f"{len(known)} of {len(rows)} planted branches have a curvature" in output
    assert all(bool(row["planted_curvature"]) == (row in known) for row in rows)
    traced = table(tmp_path / "eye-branches.csv")
    planted = [row for row in traced if row["planted_width"]]  # the others are clutter
    assert len(planted) > 0.8 * len(traced)
    for row in planted:
        assert 1 < float(row["planted_width"]) < 12
        assert bool(row["planted_curvature"]) == bool(row["mean_curvature_per_px"])


def test_scale_and_eigenvector_of_the_curvature_can_be_chosen(ring: Path, tmp_path: Path) -> None:
    output = run(ring, "--out", tmp_path, "--sigma", "local", "--axis", "abs")
    assert "axis abs, local scales of about" in output
    (row,) = table(tmp_path / "ring-branches.csv")
    assert (row["curvature_axis"], row["curvature_scale"]) == ("abs", "local")
    assert "scale 3.5 px" in run(ring, "--out", tmp_path, "--sigma", 3.5)
    (row,) = table(tmp_path / "ring-branches.csv")
    assert (row["curvature_scale"], row["curvature_sigma_px"]) == ("common", "3.5")


def test_mistakes_are_told_in_one_sentence(bar: Path, tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("a file")
    for words, message in (
        ((bar, bar, "--out", tmp_path), "Several images are named bar "),
        ((bar, "--out", tmp_path, "--method", "magic"), "no tracing method 'magic'"),
        ((bar, "--out", tmp_path, "--truth", bar, "--truth", bar), "2 files of truth"),
        ((bar, "--out", tmp_path, "--sigma", "wide"), "or 'local', not 'wide'"),
        ((bar, "--out", tmp_path, "--axis", "long"), "'long'; choose one of: alg, abs"),
        ((bar, "--out", tmp_path, "--threshold", 2), "at least 0 and below 1, not 2.0"),
        (("none.png", "--out", taken), "taken exists and is not a folder"),  # before any work
        (("none.png", "--out", taken / "below"), "taken"),
    ):
        with pytest.raises(SSplainError, match=message):
            run(*words)


def test_bad_files_are_named_and_the_rest_goes_on(bar: Path, ring: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    colour = tmp_path / "colour.png"
    Image.fromarray(rng.integers(0, 255, (90, 90, 3), np.uint8)).save(colour)
    inverted = tmp_path / "inverted.png"
    Image.fromarray(255 - read(bar)).save(inverted)
    words = tmp_path / "words.png"
    words.write_text("no image")
    bad = {
        tmp_path / "none.png": "does not exist",
        colour: "A vessel image has the shape",
        inverted: "of the image would be vessel",
        words: "is not an image",
    }
    out = tmp_path / "out"
    order = [str(path) for path in (colour, bar, inverted, words, ring, tmp_path / "none.png")]
    result = CliRunner().invoke(app, [*order, "--out", str(out)], catch_exceptions=False)
    assert result.exit_code == 2
    told = result.stderr.splitlines()
    for path, complaint in bad.items():
        (line,) = (line for line in told if str(path) in line)
        assert complaint in line
    assert "4 of 6 images were refused" in told[-1]
    assert [line.split(":")[0] for line in result.stdout.splitlines()] == [str(bar), str(ring)]
    assert len(list(out.iterdir())) == 6


def test_truth_of_another_image_is_a_bad_file(bar: Path, ring: Path, tmp_path: Path) -> None:
    for name, shape in (("bar", (40, 120)), ("ring", (9, 9))):
        ids = np.full(shape, -1, dtype=np.int32)
        planted = {"width": np.array([5.0]), "curvature": np.array([0.0])}
        Planted(ids, planted).save(tmp_path / f"{name}.npz")
    truth = [word for name in ("bar", "ring") for word in ("--truth", tmp_path / f"{name}.npz")]
    command = [str(word) for word in (bar, ring, "--out", tmp_path / "out", *truth)]
    result = CliRunner().invoke(app, command, catch_exceptions=False)
    assert result.exit_code == 2
    assert "ring.png: The planted truth has the shape (9, 9)" in result.stderr
    assert "bar.png: 1 branch" in result.stdout


def test_a_full_disk_is_told(bar: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(SSplainError, match=r"bar-width.png cannot be written \(No space left"):
        run(bar, "--out", tmp_path / "out")
