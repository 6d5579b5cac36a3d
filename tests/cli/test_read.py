"""`ssplain read` on files, with a network that reads in no time."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
import typer
from PIL import Image
from typer.testing import CliRunner

from ssplain.cli.read import read
from ssplain.errors import SSplainError
from ssplain.reading.eye import Reader
from ssplain.work.explaining import Explaining
from ssplain.work.task import Item
from tests.reading import eyes

app = typer.Typer()
app.command()(read)


@pytest.fixture(autouse=True)
def _small_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Reader, "of", staticmethod(lambda _model: eyes.reader()))


def save(path: Path, values: np.ndarray) -> Path:
    Image.fromarray((255 * values).astype(np.uint8)).save(path)
    return path


def table(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def test_eyes_are_read_and_what_is_none_is_named(tmp_path: Path) -> None:
    there = tmp_path / "in"
    there.mkdir()
    save(there / "a.png", eyes.cross())
    healthy = eyes.cross()
    healthy[:32, :32] = 0  # where this network sees disease
    save(there / "b.png", healthy)
    save(there / "black.png", np.zeros((64, 64)))
    save(there / "white.png", np.ones((64, 64)))
    (there / "words.png").write_text("no image")
    out = tmp_path / "out"
    result = CliRunner().invoke(app, [str(there), "--out", str(out), "--eye", "left"])
    assert result.exit_code == 3, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    for name in ("black", "white", "words"):
        assert f"{name}.png" in result.stderr
    rows = {Path(row["path"]).stem: row for row in table(out / "readings.csv")}
    assert {name for name, row in rows.items() if row["status"] == "done"} == {"a", "b"}
    assert "is black" in rows["black"]["error"]
    assert (rows["a"]["grade"], rows["b"]["grade"]) == ("Plus", "Normal")
    found = json.loads((out / "a" / "reading.json").read_text())
    assert found["quadrants"][0]["name"] == "superior nasal"
    assert "research tool" in (out / "a" / "eye.html").read_text()
    again = CliRunner().invoke(app, [str(there), "--out", str(out), "--eye", "left"])
    assert "0 now" in again.output


def test_mistakes_are_told_before_any_work(tmp_path: Path) -> None:
    image = save(tmp_path / "a.png", eyes.cross())
    taken = tmp_path / "taken"
    taken.write_text("a file")
    for words, complaint in (
        (["--out", str(taken)], "is not a folder"),
        (["--out", str(tmp_path / "out"), "--eye", "third"], "left or right, not 'third'"),
    ):
        with pytest.raises(SSplainError, match=complaint):
            CliRunner().invoke(app, [str(image), *words], catch_exceptions=False)


def test_explain_tells_photographs_about_read(tmp_path: Path) -> None:
    photo = np.zeros((90, 90, 3))
    photo[10:80, 10:80] = (0.8, 0.4, 0.2)
    path = save(tmp_path / "photo.png", photo)
    with pytest.raises(SSplainError, match="ssplain read PHOTO"):
        Explaining("googlenet-rop").open().read(Item(0, str(path), str(path)))
