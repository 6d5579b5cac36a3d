from pathlib import Path

from ssplain.report.record import read_ledger, read_records
from tests.cli.command import run


def test_a_study_is_written_with_its_ledger_and_found_done_again(tmp_path: Path) -> None:
    done = run("reproduce", "maps-mnist", "--images", 2, "--out", tmp_path)
    assert done.returncode == 0
    assert "maps-mnist: 2 images" in done.stdout
    assert "their studies have not been run" in done.stdout
    assert done.stderr == ""  # no bar in a pipe
    ((folder, record),) = read_records(tmp_path)
    assert (record.name, record.images) == ("maps-mnist", 2)
    assert {judgement.study for judgement in read_ledger(tmp_path)} == {"maps-mnist"}
    tables = {path: path.read_bytes() for path in folder.glob("*.csv")}
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "store").iterdir()}
    assert run("reproduce", "maps-mnist", "--images", 2, "--out", tmp_path).returncode == 0
    assert {path: path.read_bytes() for path in folder.glob("*.csv")} == tables
    assert {path: path.stat().st_mtime_ns for path in kept} == kept


def test_an_unknown_study_is_one_sentence(tmp_path: Path) -> None:
    done = run("reproduce", "tea", "--out", tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("ssplain: There is no study 'tea'; choose one of: rop,")
    assert not list(tmp_path.iterdir())
