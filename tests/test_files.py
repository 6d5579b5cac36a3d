from pathlib import Path

import pytest

from ssplain.files import whole_folder, write_whole


def test_folder_appears_only_when_complete(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "result"
    with whole_folder(target) as folder:
        (folder / "a").write_text("1")
        assert not target.exists()
    assert (target / "a").read_text() == "1"
    assert [p.name for p in target.parent.iterdir()] == ["result"]


def test_failure_keeps_the_old_folder_and_leaves_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "result"
    target.mkdir()
    (target / "old").write_text("kept")

    def fail() -> None:
        with whole_folder(target) as folder:
            (folder / "new").write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["old", "result"]


def test_existing_folder_is_replaced_whole(tmp_path: Path) -> None:
    target = tmp_path / "result"
    for name in ("first", "second"):
        with whole_folder(target) as folder:
            (folder / name).write_text(name)
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["result", "second"]


def test_file_is_written_whole(tmp_path: Path) -> None:
    write_whole(tmp_path / "new" / "a.txt", b"one")
    write_whole(tmp_path / "new" / "a.txt", b"two")
    assert [(p.name, p.read_bytes()) for p in (tmp_path / "new").iterdir()] == [("a.txt", b"two")]
