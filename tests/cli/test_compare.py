from pathlib import Path

import numpy as np
import pytest
import typer
from PIL import Image
from typer.testing import CliRunner, Result

import ssplain
from ssplain import SSplainError
from ssplain.cli.compare import compare
from ssplain.explain.registry import make
from ssplain.report import grey, write_png

app = typer.Typer()
app.command()(compare)


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("digits")
    images, _ = ssplain.data.bundled("mnist")
    for i in range(2):
        write_png(grey(images[i]), folder / f"digit-{i}.png")
    return [str(path) for path in sorted(folder.glob("*.png"))]


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(a) for a in arguments])


def test_writes_a_picture_the_maps_and_a_table(digits: list[str], tmp_path: Path) -> None:
    names = "ssplain-0,saliency,lime"
    done = run(*digits, "--model", "lenet5-mnist", "--out", tmp_path, "--explainers", names)
    assert done.exit_code == 0, done.output
    rows = [line.split() for line in done.output.splitlines()]
    assert [row[0] for row in rows if row and row[0] in ("SSplain-0", "Saliency", "LIME")] == [
        "SSplain-0",
        "Saliency",
        "LIME",
    ]
    assert "1.00" in next(row for row in rows if row and row[0] == "SSplain-0")
    images, _ = ssplain.data.bundled("mnist")
    with np.load(tmp_path / "maps.npz", allow_pickle=False) as stored:
        assert sorted(stored.files) == ["lime", "saliency", "ssplain-0"]
        model = ssplain.models.load("lenet5-mnist")
        for name in stored.files:
            expected = make(name, model, "mnist").attribute(images[:2])
            np.testing.assert_allclose(stored[name], expected, atol=1e-5)
    with Image.open(tmp_path / "comparison.png") as picture:
        assert picture.width > picture.height / 2 > 100


def test_images_of_different_sizes_cannot_share_a_picture(
    digits: list[str], tmp_path: Path
) -> None:
    other = tmp_path / "other.png"
    write_png(np.zeros((20, 30, 3), np.uint8), other)
    module = tmp_path / "mine.py"
    module.write_text("def model():\n    return lambda x: x.flatten(1)[:, :3]\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(tmp_path))
        done = run(*digits, other, "--model", "mine:model", "--out", tmp_path / "out")
    assert isinstance(done.exception, SSplainError)
    assert "other.png has shape" in str(done.exception)
    assert not (tmp_path / "out").exists()
