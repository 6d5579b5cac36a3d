import hashlib
import json
import os
from pathlib import Path

import pytest

from ssplain.errors import SSplainError
from ssplain.files import (
    _AT_ONCE,
    OwnFiles,
    hash_file,
    is_ours,
    require_free,
    require_writable,
    whole_folder,
    write_whole,
)


def snapshot(folder: Path) -> dict[str, bytes | None]:
    """Return everything below a folder with its content."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def write_ours(target: Path, **files: str) -> None:
    with whole_folder(target) as folder:
        for name, content in files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(content)
        (folder / "manifest.json").write_text("{}")


def test_folder_appears_only_when_complete(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "result"
    with whole_folder(target) as folder:
        (folder / "a").write_text("1")
        assert not target.exists()
    assert (target / "a").read_text() == "1"
    assert [p.name for p in target.parent.iterdir()] == ["result"]


def test_failure_keeps_the_old_folder_and_leaves_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "result"
    write_ours(target, old="kept")
    before = snapshot(tmp_path)

    def fail() -> None:
        with whole_folder(target) as folder:
            (folder / "new").write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert snapshot(tmp_path) == before


def test_our_folder_is_replaced_whole(tmp_path: Path) -> None:
    target = tmp_path / "result"
    write_ours(target, first="1", **{"deep/inner": "2"})
    assert is_ours(target)
    write_ours(target, second="2")
    assert {str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*")} == {
        "result",
        "result/second",
        "result/manifest.json",
    }
    assert list(json.loads((target / "manifest.json").read_text())["files"]) == ["second"]


def test_empty_folder_is_taken(tmp_path: Path) -> None:
    (tmp_path / "result").mkdir()
    write_ours(tmp_path / "result", one="1")
    assert is_ours(tmp_path / "result")


def in_the_way(kind: str, target: Path) -> None:  # noqa: C901, PLR0912 - one case after the other
    """Put something at a place that is not a result of ours, or not only."""
    elsewhere = target.parent / "elsewhere"
    if "ours" in kind:
        write_ours(elsewhere if kind == "a link to ours" else target, one="1", two="2")
    elif "folder" in kind or "manifest" in kind:
        (elsewhere if "link" in kind else target).mkdir()
    match kind:
        case "a folder" | "a manifest that lists nothing":
            (target / "thesis.txt").write_text("years of work")
        case "a note in ours":
            (target / "note.txt").write_text("patient called back")
        case "ours, drawn on":
            (target / "one").write_text("1 and an arrow")
        case "an empty folder in ours":
            (target / "later").mkdir()
        case "a link in ours":
            (target / "link").symlink_to(target.parent)
        case "ours with a file missing":
            (target / "one").unlink()
        case "a file":
            target.write_text("years of work")
        case "a link to ours" | "a link to a folder":
            target.symlink_to(elsewhere)
        case "a dangling link":
            target.symlink_to(target.parent / "nowhere")
        case "a fifo":
            os.mkfifo(target)
    if kind == "a manifest of somebody's":
        (target / "manifest.json").write_text('{"name": "a web page"}')
    elif kind == "a manifest that lists nothing":
        (target / "manifest.json").write_text('{"files": {}}')


@pytest.mark.parametrize(
    "kind",
    [
        "a folder",
        "a manifest of somebody's",
        "a manifest that lists nothing",
        "a note in ours",
        "ours, drawn on",
        "an empty folder in ours",
        "a link in ours",
        "ours with a file missing",
        "a file",
        "a link to ours",
        "a link to a folder",
        "a dangling link",
        "a fifo",
    ],
)
def test_what_is_not_ours_is_never_touched(tmp_path: Path, kind: str) -> None:
    target = tmp_path / "result"
    in_the_way(kind, target)
    before = snapshot(tmp_path)
    with pytest.raises(SSplainError, match="result"):
        write_ours(target, one="other")
    assert snapshot(tmp_path) == before
    with pytest.raises(SSplainError, match="result"):
        require_free(target)


def test_what_comes_while_we_work_is_not_touched_either(tmp_path: Path) -> None:
    def interrupted() -> None:
        with whole_folder(tmp_path / "result") as folder:
            (folder / "one").write_text("1")
            (tmp_path / "result").mkdir()
            (tmp_path / "result" / "thesis.txt").write_text("years of work")

    with pytest.raises(SSplainError, match="not a result of ssplain"):
        interrupted()
    assert snapshot(tmp_path) == {"result": None, "result/thesis.txt": b"years of work"}


def test_file_is_written_whole(tmp_path: Path) -> None:
    write_whole(tmp_path / "new" / "a.txt", b"one")
    write_whole(tmp_path / "new" / "a.txt", b"two")
    assert [(p.name, p.read_bytes()) for p in (tmp_path / "new").iterdir()] == [("a.txt", b"two")]


def test_long_names_fit(tmp_path: Path) -> None:
    write_whole(tmp_path / ("n" * 255), b"one")
    write_ours(tmp_path / ("m" * 255), one="1")
    assert sorted(len(p.name) for p in tmp_path.iterdir()) == [255, 255]


@pytest.mark.parametrize("place", ["/dev/null", "/dev/null/out", "/proc/out"])
def test_a_place_that_cannot_be_written_is_one_sentence(place: str) -> None:
    with pytest.raises(SSplainError, match="give another"):
        require_writable(Path(place))
    with pytest.raises(SSplainError, match="give another"):
        write_whole(Path(place) / "a", b"")
    with pytest.raises(SSplainError, match="give another"):
        write_ours(Path(place), one="1")


def test_checking_a_place_leaves_nothing(tmp_path: Path) -> None:
    require_writable(tmp_path / "deep" / "out")
    assert not list(tmp_path.iterdir())


class TestOwnFiles:
    def test_ours_are_written_over_and_the_rest_stays(self, tmp_path: Path) -> None:
        (tmp_path / "thesis.txt").write_text("years of work")
        for content in (b"one", b"two"):
            OwnFiles(tmp_path).write({"maps.npz": content})
        assert (tmp_path / "maps.npz").read_bytes() == b"two"
        assert (tmp_path / "thesis.txt").read_text() == "years of work"

    @pytest.mark.parametrize("kind", ["foreign", "changed", "folder", "link", "dangling"])
    def test_anything_else_stops_all_of_it(self, tmp_path: Path, kind: str) -> None:
        target = tmp_path / "maps.npz"
        if kind == "changed":
            OwnFiles(tmp_path).write({"maps.npz": b"one"})
            target.write_bytes(b"one, annotated")
        elif kind == "foreign":
            target.write_bytes(b"years of work")
        elif kind == "folder":
            target.mkdir()
        else:
            (tmp_path / "thesis.txt").write_text("years of work")
            target.symlink_to(tmp_path / ("thesis.txt" if kind == "link" else "nowhere"))
        before = snapshot(tmp_path)
        with pytest.raises(SSplainError, match=r"maps\.npz"):
            OwnFiles(tmp_path).write({"picture.png": b"new", "maps.npz": b"new"})
        assert snapshot(tmp_path) == before

    @pytest.mark.parametrize("record", ["[]", "{", '{"maps.npz": null}'])
    def test_a_record_that_cannot_be_read_owns_nothing(self, tmp_path: Path, record: str) -> None:
        (tmp_path / OwnFiles.RECORD).write_text(record)
        (tmp_path / "maps.npz").mkdir()
        with pytest.raises(SSplainError, match=r"maps\.npz"):
            OwnFiles(tmp_path).write({"maps.npz": b"new"})


@pytest.mark.parametrize("size", [0, 5, _AT_ONCE - 1, _AT_ONCE, _AT_ONCE + 5])
def test_a_hash_is_of_the_whole_file_whether_it_is_read_at_once_or_in_blocks(
    tmp_path: Path, size: int
) -> None:
    content = bytes(range(251)) * (size // 251 + 1)
    (tmp_path / "eye.png").write_bytes(content[:size])
    assert hash_file(tmp_path / "eye.png") == hashlib.sha256(content[:size]).hexdigest()
