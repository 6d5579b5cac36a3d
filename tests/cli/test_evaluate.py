import csv
from pathlib import Path
from typing import Any

import pytest
import torch
import typer
from typer.testing import CliRunner

from ssplain.cli.evaluate import evaluate
from ssplain.data import CLASSES, bundled
from ssplain.errors import SSplainError
from ssplain.explain import METHODS
from ssplain.report import grey, write_png

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
    assert "12 images of mnist" in printed
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
        (["--dataset", "cats"], "--data cats is no bundled data set"),
        (["--baseline", "grey"], "--baseline grey does not work; choose one of: black, blur, mean"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, more: list[str], says: str) -> None:
    with pytest.raises(SSplainError, match=says):
        run(tmp_path, *more)


def garments(home: Path) -> Path:
    """Write garments as a folder per class, with a picture of what is diseased in two of them."""
    images, labels = (part[:24] for part in bundled("fmnist"))
    names = CLASSES["fmnist"]
    for at, (image, label) in enumerate(zip(images, labels.tolist(), strict=True)):
        folder = home / "images" / names[label].replace("/", " ")
        folder.mkdir(parents=True, exist_ok=True)
        write_png(grey(image), folder / f"{at}.png")
        if at < 2:
            truth = home / "truth" / folder.name
            truth.mkdir(parents=True, exist_ok=True)
            write_png(grey((image > image.median()).float()), truth / f"{at}.png")
    (home / "images" / names[0].replace("/", " ") / "broken.png").write_bytes(b"no picture")
    return home / "images"


def test_any_model_on_any_images_with_labels_and_truth(tmp_path: Path) -> None:
    home = garments(tmp_path)
    table = tmp_path / "list.csv"
    lines = [f"{path},{path.parent.name}" for path in sorted(home.glob("*/[0-9]*.png"))]
    table.write_text("path,label\n" + "\n".join(lines) + "\n")
    results: list[tuple[Any, list[dict[str, str]]]] = []
    for more in (["--data", str(home), "--truth", str(tmp_path / "truth")], ["--data", str(table)]):
        command = [*more, "--model", "lenet5-fmnist", "--explainers", "intensity,saliency"]
        out = tmp_path / f"out{len(results)}"
        done = CliRunner().invoke(app, [*command, "--points", "5", "--out", str(out)])
        results.append(
            (done, list(csv.DictReader((out / "evaluation.csv").read_text().splitlines())))
        )
    (folder, rows), (listed, others) = results
    assert folder.exit_code == 2  # one image was refused, all others measured
    assert "broken.png" in folder.output
    assert "1 of 25 images were refused" in folder.output
    assert listed.exit_code == 0
    found, same = (
        {(r["explainer"], r["measure"]): (r["value"], r["images"]) for r in own}
        for own in (rows, others)
    )
    assert found["saliency", "insertion"][1] == "24"
    assert found["saliency", "precision-above-chance"][1] == "2"
    assert found["saliency", "insertion"] == same["saliency", "insertion"]
    assert ("saliency", "precision-above-chance") not in same


def test_images_of_one_size_are_asked_for(tmp_path: Path) -> None:
    for name, size in (("a", 8), ("b", 9)):
        (tmp_path / "images" / name).mkdir(parents=True)
        write_png(grey(torch.rand(1, size, size)), tmp_path / "images" / name / "1.png")
    with pytest.raises(SSplainError, match="bring all images to one size"):
        run(tmp_path / "out", "--data", str(tmp_path / "images"), "--model", "torch.nn:Flatten")


def test_fill_and_normalisation_change_what_is_measured(tmp_path: Path) -> None:
    """A hidden pixel shows what --fill says, for explainers and curves alike."""

    def insertion(name: str, *more: str) -> str:
        run(tmp_path / name, "--explainers", "intensity", *more)
        rows = csv.DictReader((tmp_path / name / "evaluation.csv").read_text().splitlines())
        return next(row["value"] for row in rows if row["measure"] == "insertion")

    plain = insertion("a")
    assert insertion("b", "--fill", "0", "--mean", "0", "--std", "1") == plain
    mean = insertion("c", "--fill", "mean")
    assert mean != plain
    assert insertion("d", "--mean", "0.2", "--std", "0.4") != plain
    assert insertion("e", "--preset", "photograph") == mean


def test_an_explainer_that_cannot_take_the_model_is_left_out(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / "images" / name).mkdir(parents=True)
        write_png(grey(torch.rand(1, 8, 8)), tmp_path / "images" / name / "1.png")
    given = ("--data", str(tmp_path / "images"), "--model", "torch.nn:Flatten", "--explainers")
    told = run(tmp_path / "out", *given, "guided-grad-cam,intensity")
    assert "Guided Grad-CAM is left out: The model has no convolution" in told
    with (tmp_path / "out" / "evaluation.csv").open(newline="") as file:
        assert {row["explainer"] for row in csv.DictReader(file)} == {"intensity"}
    with pytest.raises(SSplainError, match="no convolution"):
        run(tmp_path / "other", *given, "guided-grad-cam")


def test_the_models_module_may_bring_an_explainer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "brought.py").write_text(
        "import torch\n"
        "from ssplain.explain import METHODS, Method\n"
        "from ssplain.question.protocol import Attributor\n"
        "class Mine(Attributor):\n"
        "    def maps(self, question):\n"
        "        return question.images\n"
        "METHODS.add(Method('mine', 'Mine', 'control', 'here', Mine, False))\n"
        "build = torch.nn.Flatten\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("a", "b"):
        (tmp_path / "images" / name).mkdir(parents=True)
        write_png(grey(torch.rand(1, 8, 8)), tmp_path / "images" / name / "1.png")
    given = ("--data", str(tmp_path / "images"), "--model", "brought:build")
    try:
        assert "mine" in run(tmp_path / "out", *given, "--explainers", "mine,intensity")
    finally:
        METHODS.remove("mine")
