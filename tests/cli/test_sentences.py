"""Whatever goes wrong ends in one sentence that names the file or model, and exit code 2 or 3."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import ssplain
from ssplain.report import grey, write_png
from tests.cli.command import Done, run

pytestmark = pytest.mark.usefixtures("home")
MODELS = """
import torch
from torch import nn

ready = nn.Sequential(nn.Flatten(), nn.Linear(784, 3))


def raises():
    raise ValueError("no weights here")


def wrong_size():
    class Fussy(nn.Module):
        def forward(self, x):
            assert x.shape[-1] == 224, "I take 224 x 224"
            return x.flatten(1)[:, :3]
    return Fussy()


def without_gradient():
    return lambda x: (x.detach().flatten(1)[:, :3] * 5)
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    images, _ = ssplain.data.bundled("mnist")
    write_png(grey(images[0]), tmp_path / "digit.png")
    (tmp_path / "harm_models.py").write_text(MODELS)
    (tmp_path / "harm_broken.py").write_text("import torch\n1 / 0\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def one_sentence(done: Done, *words: str, codes: tuple[int, ...] = (2, 3)) -> None:
    assert done.returncode in codes, done
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr


@pytest.mark.parametrize("command", ["explain", "compare"])
@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("harm_models:raises", ("harm_models:raises", "no weights here")),
        ("harm_broken:make", ("harm_broken:make", "ZeroDivisionError")),
        ("harm_models:wrong_size", ("I take 224 x 224",)),
    ],
)
def test_models_that_raise(command: str, model: str, words: tuple[str, ...]) -> None:
    done = run(command, "digit.png", "--model", model, "--out", "out")
    one_sentence(done, *words)


def test_a_model_that_is_there_already_is_taken() -> None:
    done = run("explain", "digit.png", "--model", "harm_models:ready", "--out", "out")
    assert done.returncode == 0, done.stderr


def test_compare_without_gradients_leaves_out_what_needs_them() -> None:
    done = run(
        "compare", "digit.png", "--model", "harm_models:without_gradient", "--out", "out",
        "--explainers", "saliency,intensity,deep-shap,guided-grad-cam,input-x-gradient",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert "Saliency is left out" in done.stderr
    assert Path("out/comparison.png").is_file()


@pytest.mark.parametrize("command", ["explain", "compare"])
@pytest.mark.parametrize("place", ["digit.png", "/proc/out", "/dev/null/out"])
def test_a_place_that_cannot_be_written_is_told_first(command: str, place: str) -> None:
    done = run(command, "digit.png", "--model", "no-such-model", "--out", place)
    one_sentence(done, place, codes=(2,))
    assert "no-such-model" not in done.stderr


def test_compare_writes_over_its_own_files_only() -> None:
    call = ("compare", "digit.png", "--model", "lenet5-mnist", "--explainers", "intensity")
    for _ in range(2):
        assert run(*call, "--out", "out").returncode == 0
    Path("out/maps.npz").write_bytes(b"years of work")
    one_sentence(run(*call, "--out", "out"), "out/maps.npz", codes=(2,))
    assert Path("out/maps.npz").read_bytes() == b"years of work"


@pytest.mark.parametrize("kind", ["loop", "fifo", "folder", "missing"])
def test_what_is_no_file_is_named_as_what_it_is(home: Path, kind: str) -> None:
    path = home / "odd.png"
    words = {"loop": "loop of links", "fifo": "pipe", "folder": "folder", "missing": "not exist"}
    if kind == "loop":
        path.symlink_to(path)
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    done = run("compare", path, "--model", "lenet5-mnist", "--out", "out")
    one_sentence(done, str(path), words[kind])


def test_ctrl_c_says_what_was_kept() -> None:
    code = (
        "import os, signal, ssplain.cli.app as a, typer\n"
        "app = typer.Typer()\n"
        "@app.command()\n"
        "def wait() -> None: os.kill(os.getpid(), signal.SIGINT)\n"
        "a.app = app\n"
        "a.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 128 + signal.SIGINT
    assert "kept" in done.stderr
    assert "Traceback" not in done.stderr
