import csv
import io
from pathlib import Path

import pytest

from ssplain.jobs.job import run as run_job
from ssplain.jobs.plan import Entry, in_shard
from tests.cli.command import run
from tests.jobs.digits import MODEL, QUICK, rows_of, write_digits


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("job")
    digits = write_digits(home / "in", 6)
    (digits / "words.png").write_text("no image")
    run_job(QUICK, [digits], home / "out")
    return home


def test_the_state_is_shown(job: Path) -> None:
    done = run("jobs", job / "out")
    assert done.returncode == 0
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["done", "6"] in lines
    assert ["failed", "1"] in lines
    assert "1 x ... is not an image" in done.stdout


def test_csv_goes_to_standard_output(job: Path, tmp_path: Path) -> None:
    done = run("jobs", job / "out", "--export", "csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row["status"] for row in rows] == ["done"] * 6 + ["failed"]
    assert rows[0]["path"] == str(job / "in" / "00000.png")
    assert list(rows[0])[:1] == ["path"]
    run("jobs", job / "out", "--export", "csv", "--to", tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == done.stdout


def test_parquet_holds_the_same(job: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    done = run("jobs", job / "out", "--export", "parquet", "--to", tmp_path / "a.parquet")
    assert done.returncode == 0, done.stderr
    found = parquet.read_table(tmp_path / "a.parquet").to_pylist()
    for row, text in zip(found, rows_of(job / "out"), strict=True):
        assert {k: row[k] for k in ("path", "status")} == {k: text[k] for k in ("path", "status")}
        if row["status"] == "done":
            assert row["kept_share"] == pytest.approx(float(text["kept_share"]))
            assert len(row["probabilities"]) == 10
            assert row["resized"] is False


def test_failed_images_are_tried_again(tmp_path: Path) -> None:
    digits = write_digits(tmp_path / "in", 2)
    good = (digits / "00001.png").read_bytes()
    (digits / "00001.png").write_bytes(b"x" * len(good))
    assert run("explain", digits, *MODEL, "--out", tmp_path / "out").returncode == 3
    again = run("jobs", tmp_path / "out", "--retry-failed")
    assert again.returncode == 3
    (digits / "00001.png").write_bytes(good)
    again = run("jobs", tmp_path / "out", "--retry-failed")
    assert again.returncode == 0, again.stderr
    assert "2 of 2 images done" in again.stdout
    assert "No image has failed" in run("jobs", tmp_path / "out", "--retry-failed").stdout


def test_shards_share_the_images_and_are_merged(tmp_path: Path) -> None:
    digits = write_digits(tmp_path / "in", 12)
    names = [str(path) for path in sorted(digits.iterdir())]
    mine = [name for name in names if in_shard(Entry(name, name), (2, 2))]
    assert 0 < len(mine) < 12
    out = tmp_path / "out"
    assert run("explain", digits, *MODEL, "--out", out, "--shard", "2/2").returncode == 0
    assert [row["path"] for row in rows_of(out / "shard-2-of-2")] == mine
    lacking = run("jobs", out, "--merge")
    assert lacking.returncode == 2
    assert "lacks the shards 1" in lacking.stderr
    assert "--merge" in run("jobs", out).stderr
    assert run("explain", digits, *MODEL, "--out", out, "--shard", "1/2").returncode == 0
    assert run("jobs", out, "--merge").returncode == 0
    rows = rows_of(out)
    assert sorted(row["path"] for row in rows) == names
    assert {row["status"] for row in rows} == {"done"}
    assert all((out / row["file"] / "explanation.npz").is_file() for row in rows)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("jobs", "nowhere"), "no job in nowhere"),
        (("jobs", "nowhere", "--export", "xlsx"), "choose csv or parquet"),
        (("explain", "a.png", *MODEL, "--out", "o", "--shard", "3/2"), "--shard 3/2"),
    ],
)
def test_mistakes_are_told(
    arguments: tuple[str, ...], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(*arguments)
    assert done.returncode == 2
    assert told in done.stderr
    assert not list(tmp_path.iterdir())
