import json
import os
import tempfile
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssplain.errors import SSplainError
from ssplain.files import is_ours, whole_folder
from ssplain.names import LONGEST, Folders, Source, common_folder, safe_name

NAMES = st.text(
    st.characters(exclude_characters="/\0", exclude_categories=()), min_size=1, max_size=120
)


def store(folders: Folders, path: Path) -> Path:
    """Write a result for an image, as commands do."""
    source = Source.of(path)
    folder = folders.of(source)
    with whole_folder(folder) as temporary:
        (temporary / "manifest.json").write_text(json.dumps({"source": source.about()}))
        (temporary / "map").write_text(path.read_text())
    return folder.relative_to(folders.home)


@pytest.fixture
def eyes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("p1/od.png", "p2/od.png", "p2/OD.png", "p2/od.tif"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(name)
    return tmp_path


def fresh(*paths: str) -> Folders:
    return Folders("out", common_folder(paths))


class TestSafeName:
    @given(NAMES)
    def test_any_text_becomes_a_name_for_every_system(self, text: str) -> None:
        name = safe_name(text)
        assert name
        assert len(name.encode()) <= LONGEST
        assert not set(name) & set('<>:"/\\|?*\0')
        assert all(unicodedata.category(c) not in {"Cc", "Cs", "Cf"} for c in name)
        assert name[0] not in " .-"
        assert name[-1] not in " ."
        assert safe_name(name) == name

    @given(st.lists(NAMES, min_size=1, max_size=4), st.integers(0, 5))
    def test_a_result_is_named_after_the_path_below_the_base(
        self, names: list[str], depth: int
    ) -> None:
        path = Path(os.path.abspath(os.path.join("/scans", *names)))  # noqa: PTH100, PTH118
        base = Path(*path.parts[: 1 + depth % len(path.parts)])
        below = path.relative_to(base).parts or (path.name,)
        source = Source(str(path), str(path), "")
        expected = [*(safe_name(part) for part in below[:-1]), safe_name(path.stem)]
        assert Folders("/nowhere", base).name_of(source).split("/") == expected

    def test_long_names_that_differ_at_the_end_stay_different(self) -> None:
        assert safe_name("眼" * 200 + "a") != safe_name("眼" * 200 + "b")

    @pytest.mark.parametrize("name", ["con", "NUL", "com1.png", "LPT9", "aux.tar.gz"])
    def test_names_of_devices_are_changed(self, name: str) -> None:
        assert safe_name(name).casefold() != name.casefold()
        assert safe_name(name).split(".")[0].casefold() not in {"con", "nul", "com1", "lpt9", "aux"}

    @given(NAMES)
    def test_each_can_be_made(self, text: str) -> None:
        with tempfile.TemporaryDirectory() as home:
            (Path(home) / safe_name(text)).mkdir()
            assert [p.name for p in Path(home).iterdir()] == [safe_name(text)]


class TestFolders:
    def test_they_follow_the_relative_path(self, eyes: Path) -> None:
        paths = ["p1/od.png", "p2/od.png"]
        folders = fresh(*paths)
        assert [store(folders, Path(path)).as_posix() for path in paths] == ["p1/od", "p2/od"]
        assert [store(fresh(*paths), Path(path)).as_posix() for path in paths] == ["p1/od", "p2/od"]

    def test_another_image_never_takes_a_name(self, eyes: Path) -> None:
        assert store(fresh("p1/od.png"), Path("p1/od.png")).as_posix() == "od"
        assert store(fresh("p2/od.png"), Path("p2/od.png")).as_posix() == "p2/od"
        assert store(fresh("p2/od.png"), Path("p2/od.png")).as_posix() == "p2/od"
        assert Path("out/od/map").read_text() == "p1/od.png"
        assert Path("out/p2/od/map").read_text() == "p2/od.png"

    def test_one_file_given_in_two_ways_is_one_image(self, eyes: Path) -> None:
        folders = fresh("p1/od.png")
        for path in ("p1/od.png", "p2/../p1/od.png", eyes / "p1" / "od.png"):
            assert store(folders, Path(path)).as_posix() == "od"

    def test_an_image_that_was_changed_is_another(self, eyes: Path) -> None:
        assert store(fresh("p1/od.png"), Path("p1/od.png")).as_posix() == "od"
        Path("p1/od.png").write_text("taken again")
        assert store(fresh("p1/od.png"), Path("p1/od.png")).as_posix() == "p1/od"
        assert Path("out/od/map").read_text() == "p1/od.png"

    def test_equal_bytes_of_two_eyes_are_two_images(self, eyes: Path) -> None:
        Path("p2/od.png").write_text("p1/od.png")
        assert store(fresh("p1/od.png"), Path("p1/od.png")).as_posix() == "od"
        assert store(fresh("p2/od.png"), Path("p2/od.png")).as_posix() == "p2/od"

    def test_case_and_suffix_do_not_tell_names_apart(self, eyes: Path) -> None:
        paths = ["p2/od.png", "p2/OD.png", "p2/od.tif"]
        for _ in range(2):  # the second time all are found on the disk
            folders = fresh(*paths)
            made = [store(folders, Path(path)).as_posix() for path in paths]
            assert made[:2] == ["od", "p2/OD"]
            assert len({name.casefold() for name in made}) == 3
        assert {p.parent.name + p.read_text() for p in Path("out").rglob("map")} == {
            Path(name).name + path for name, path in zip(made, paths, strict=True)
        }

    def test_no_result_lies_inside_another(self, eyes: Path) -> None:
        for order in (["p1.png", "p1/od.png"], ["p1/od.png", "p1.png"]):
            Path("p1.png").write_text("p1.png")
            home = Path(f"out-{order[0][:3]}{len(order[0])}")
            for _ in range(2):
                folders = Folders(home, Path())
                for path in order:
                    store(folders, Path(path))
                found = [p.parent for p in home.rglob("manifest.json")]
                assert len(found) == 2
                assert all(is_ours(folder) for folder in found)

    def test_a_foreign_folder_in_the_way_is_told(self, eyes: Path) -> None:
        Path("out/od").mkdir(parents=True)
        Path("out/od/thesis.txt").write_text("years of work")
        with pytest.raises(SSplainError, match="out/od"):
            fresh("p1/od.png").of(Source.of("p1/od.png"))

    @pytest.mark.parametrize("name", ["..png", "...", ".png", " .png", "-rf.png", "a\nb.png"])
    def test_odd_names_stay_inside(self, eyes: Path, name: str) -> None:
        Path(name).write_text(name)
        folder = store(fresh(name), Path(name))
        assert len(folder.parts) == 1
        assert [p.name for p in Path("out").iterdir()] == [folder.name]
        assert (Path("out") / folder / "map").read_text() == name

    def test_names_that_are_no_text(self, eyes: Path) -> None:
        name = os.fsdecode(b"od\xff.png")
        Path(name).write_text("latin")
        folder = store(fresh(name), Path(name))
        assert folder.as_posix() == "od_udcff"
        assert store(fresh(name), Path(name)) == folder
