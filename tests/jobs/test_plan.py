from pathlib import Path

import pytest

from ssplain.errors import SSplainError
from ssplain.jobs.index import require_local
from ssplain.jobs.plan import entries, in_shard, parse_shard


def touch(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")


def names(*inputs: object) -> list[str]:
    return [Path(entry.path).name for entry in entries(map(str, inputs))]


def test_folders_are_searched_in_a_fixed_order(tmp_path: Path) -> None:
    touch(tmp_path / "b" / "2.PNG", tmp_path / "b" / "1.tif", tmp_path / "a.jpg")
    touch(tmp_path / "notes.txt", tmp_path / ".hidden.png", tmp_path / ".git" / "x.png")
    (tmp_path / "IM0001").write_bytes(b"\0" * 128 + b"DICM")
    (tmp_path / "IM0002").write_bytes(b"\0" * 200)
    (tmp_path / "x.png").mkdir()  # bad, and told of as such
    assert names(tmp_path) == ["IM0001", "a.jpg", "1.tif", "2.PNG", "x.png"]


def test_patterns_and_files_that_look_like_one(tmp_path: Path) -> None:
    touch(tmp_path / "p1" / "od.png", tmp_path / "p2" / "od.png", tmp_path / "a[1].png")
    assert names(tmp_path / "*" / "od.png") == ["od.png", "od.png"]
    assert names(tmp_path / "a[1].png") == ["a[1].png"]
    with pytest.raises(SSplainError, match="No file matches"):
        names(tmp_path / "*.dcm")
    assert names(tmp_path / "gone.png") == ["gone.png"]  # a bad image among others stops nobody
    with pytest.raises(SSplainError, match="p3 does not exist; name image files, folders"):
        names(tmp_path / "p1", tmp_path / "p3")


def test_lists_are_relative_to_themselves(tmp_path: Path) -> None:
    listed = tmp_path / "list.csv"
    listed.write_text("\ufeffid,path,target\nleft,p1/od.png,2\n,/abs/os.png,\n", encoding="utf-8")
    first, second = entries([listed])
    assert (first.path, first.id, first.target) == (str(tmp_path / "p1" / "od.png"), "left", "2")
    assert (second.path, second.id, second.target) == ("/abs/os.png", None, None)
    listed.write_text("Path, Target ,id\na.png, cat , \n")
    (spaced,) = entries([listed])
    assert (spaced.given, spaced.id, spaced.target) == (str(tmp_path / "a.png"), None, "cat")
    listed.write_text("file\na.png\n")
    with pytest.raises(SSplainError, match="no column 'path'"):
        names(listed)
    with pytest.raises(SSplainError, match="not a readable list"):
        names(tmp_path / "none.csv")


def test_every_image_is_in_one_shard(tmp_path: Path) -> None:
    touch(*(tmp_path / f"{i}.png" for i in range(200)))
    found = [[in_shard(entry, (i, 4)) for entry in entries([tmp_path])] for i in range(1, 5)]
    assert [sum(column) for column in zip(*found, strict=True)] == [1] * 200
    assert min(map(sum, found)) > 25


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "a/b", "1/0", "-1/2"])
def test_shards_that_make_no_sense_are_told(text: str) -> None:
    with pytest.raises(SSplainError, match="--shard"):
        parse_shard(text)


@pytest.mark.parametrize(
    ("kind", "safe"), [("ext4", True), ("tmpfs", True), ("nfs4", False), ("lustre", False)]
)
def test_an_index_on_a_network_disk_is_refused(tmp_path: Path, kind: str, safe: bool) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(f"root / overlay rw 0 0\nserver:/x {tmp_path} {kind} rw 0 0\n")
    if safe:
        require_local(tmp_path / "out" / "index.sqlite", mounts)
    else:
        with pytest.raises(SSplainError, match=rf"network file system \({kind}\).*--index FILE"):
            require_local(tmp_path / "out" / "index.sqlite", mounts)
