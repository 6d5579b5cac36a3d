"""Classes by name for models of one's own, on the command line."""

from pathlib import Path

import pytest

import ssplain
from ssplain.desk.job import Job
from ssplain.desk.library import Library
from ssplain.report import grey, write_png
from tests.cli.command import run

NETS = """
import torch
from torch import nn


def bare():
    torch.manual_seed(0)
    layers = nn.Conv2d(1, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(64, 3)
    return nn.Sequential(*layers).half()


def told():
    net = bare()
    net.classes = ("emu", "dog", "cat")
    return net


def hugging():
    from transformers import ViTConfig, ViTForImageClassification

    torch.manual_seed(0)
    sizes = dict(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16)
    labels = {0: "emu", 1: "dog", 2: "cat"}
    image = dict(image_size=28, patch_size=7, num_channels=1)
    return ViTForImageClassification(ViTConfig(**sizes, **image, id2label=labels)).half()
"""
QUICK = ("--iterations", 2, "--stability", 0)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    name = f"nets_{tmp_path.name.replace('-', '_')}"  # modules stay in memory under their names
    (tmp_path / f"{name}.py").write_text(NETS)
    monkeypatch.chdir(tmp_path)
    for i, image in enumerate(ssplain.data.bundled("mnist")[0][:4]):
        write_png(grey(image), tmp_path / "in" / ("dog", "cat")[i % 2] / f"{i}.png")
    return Path(name)


@pytest.mark.parametrize("build", ["told", "hugging"])
def test_a_half_model_that_tells_its_names(here: Path, build: str) -> None:
    model = f"{here}:{build}"
    if build == "hugging":
        pytest.importorskip("transformers")
    done = run(
        *("explain", "in/dog/0.png", "--model", model, "--target", "dog", "--out", "out"),
        *("--report", "page.html", *QUICK),
    )
    assert done.returncode == 0, done.stderr
    row = next(line for line in done.stdout.splitlines() if line.startswith("0 "))
    assert row.split()[3:5] == ["1", "dog"]
    assert row.split()[2] in {"emu", "dog", "cat"}
    page = Path("page.html").read_text()
    assert any(f"{name} (" in page for name in ("emu", "dog", "cat"))
    assert Job(Path("out")).names(3) == ["emu", "dog", "cat"]
    assert Library([model]).about(model)["classes"] == ["emu", "dog", "cat"]


def test_a_list_has_targets_by_name(here: Path) -> None:
    Path("list.csv").write_text("path,target\nin/dog/0.png,cat\nin/cat/1.png,dog\nin/dog/2.png,0\n")
    done = run("explain", "list.csv", "--model", f"{here}:told", "--out", "out", *QUICK)
    assert done.returncode == 0, done.stderr
    targets = {line.split()[0]: line.split()[3:5] for line in done.stdout.splitlines()[1:4]}
    assert targets == {"dog/0": ["2", "cat"], "cat/1": ["1", "dog"], "dog/2": ["0", "emu"]}


def test_names_of_the_command_line_go_first(here: Path) -> None:
    Path("names.txt").write_text("\ufeffKatze, grau\nHund\n Emu \n\n", encoding="utf-8")
    asked = ("explain", "in/dog/0.png", "--model", f"{here}:told", "--out", "out", *QUICK)
    done = run(*asked, "--classes", "names.txt", "--target", "Katze, grau")
    assert done.returncode == 0, done.stderr
    assert "0 Katze, grau" in done.stdout
    assert Job(Path("out")).classes == ("Katze, grau", "Hund", "Emu")
    again = run(*asked, "--classes", "Hund,Katze,Emu", "--target", "Katze, grau")
    assert again.returncode == 2  # the same words, and they might mean another class
    assert "Katze" in again.stderr
    other = run(*asked, "--classes", "Katze,Hund,Emu")
    assert (other.returncode, "was started with classes" in other.stderr) == (2, True)
    same = run(*asked, "--classes", "names.txt", "--target", "Katze, grau")
    assert (same.returncode, "0 now" in same.stdout) == (0, True)


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        ("cat,dog", "There are 2 names for the model's 3 classes"),
        ("cat,dog,a,b", "There are 4 names for the model's 3 classes"),
        ("cat,dog,cat", "Two classes are called 'cat'"),
        ("cat,dog,7", "cannot be called '7'"),
        ("cat,,dog", "Class 1 has no name"),
        ("names.txt", "is no file and holds no comma"),
    ],
)
@pytest.mark.parametrize("command", ["explain", "compare", "evaluate"])
def test_names_that_do_not_fit_are_told(
    here: Path, command: str, classes: str, message: str
) -> None:
    given = ("--data", "in") if command == "evaluate" else ("in/dog/0.png",)
    some = () if command == "explain" else ("--explainers", "saliency")
    done = run(
        command, *given, "--model", f"{here}:bare", "--out", "out", "--classes", classes, *some
    )
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(Path().glob("out/*.*"))


def test_compare_knows_them(here: Path) -> None:
    asked = ("compare", "in/dog/0.png", "--explainers", "saliency", "--target", "dog", "--out")
    assert run(*asked, "out", "--model", f"{here}:told").returncode == 0
    named = run(*asked, "out2", "--model", f"{here}:bare", "--classes", "emu,dog,cat")
    assert named.returncode == 0, named.stderr
    assert Path("out/maps.npz").read_bytes() == Path("out2/maps.npz").read_bytes()
    nameless = run(*asked, "out3", "--model", f"{here}:bare")
    assert nameless.returncode == 2
    assert "--classes" in nameless.stderr


def test_evaluate_takes_the_numbers_of_folders_from_them(here: Path) -> None:
    from ssplain.terminal.inputs import head_of, open_model  # noqa: PLC0415
    from ssplain.terminal.scene import scene_of  # noqa: PLC0415

    def opened(source: str, label: int | None = None):  # type: ignore[no-untyped-def]  # noqa: ANN202
        head = head_of(label, None, None, None)
        return open_model(
            source, None, head, output=None, output_kind="auto", batch_size=None, fill=None
        )

    told, _ = scene_of("in", f"{here}:told", opened, count=4)
    assert told.classes == ("emu", "dog", "cat")
    assert told.labels.tolist() == [2, 2, 1, 1]  # cat, cat, dog, dog: not by the alphabet
    given, _ = scene_of("in", f"{here}:bare", opened, count=4, classes=("dog", "x", "cat"))
    assert given.labels.tolist() == [2, 2, 0, 0]
    question, _ = scene_of("in", f"{here}:told", lambda s: opened(s, 1), count=4)
    assert question.labels.tolist() == [0, 0, 1, 1]  # the folders of a yes-or-no question


def test_the_page_of_a_label_says_yes_or_no(here: Path) -> None:
    done = run(
        *("explain", "in/dog/0.png", "--model", f"{here}:told", "--label", 1, "--target", "yes"),
        *("--out", "out", "--report", "page.html", *QUICK),
    )
    assert done.returncode == 0, done.stderr
    assert "1 yes" in done.stdout
    assert Job(Path("out")).classes == ("no", "yes")
