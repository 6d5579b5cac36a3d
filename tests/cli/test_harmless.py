"""What no command may ever do to the files of its user."""

import json
from pathlib import Path

import pytest

import ssplain
from ssplain.files import hash_file
from ssplain.report import grey, write_png
from tests.cli.command import run
from tests.test_files import snapshot

MODEL = ("--model", "lenet5-mnist", "--iterations", "2")


@pytest.fixture
def patients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two patients, each with an image of the same name."""
    images, _ = ssplain.data.bundled("mnist")
    for i in (1, 2):
        write_png(grey(images[i]), tmp_path / f"p{i}" / "od.png")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def sources(out: Path) -> dict[str, str]:
    """Return, for each result below a folder, the path that its manifest names."""
    return {
        path.parent.relative_to(out).as_posix(): json.loads(path.read_text())["source"]["given"]
        for path in out.rglob("manifest.json")
    }


class TestExplain:
    def test_two_eyes_of_one_name_are_kept_apart(self, patients: Path) -> None:
        done = run("explain", "p1/od.png", "p2/od.png", *MODEL, "--out", "out")
        assert done.returncode == 0, done.stderr
        assert sources(Path("out")) == {"p1/od": "p1/od.png", "p2/od": "p2/od.png"}
        for eye in ("p1/od", "p2/od"):
            entry = json.loads(Path("out", eye, "manifest.json").read_text())["source"]
            assert entry["path"] == str(patients / f"{eye}.png")
            assert entry["sha256"] == hash_file(f"{eye}.png")

    def test_a_later_eye_does_not_take_the_name_of_an_earlier(self, patients: Path) -> None:
        assert run("explain", "p1/od.png", *MODEL, "--out", "out").returncode == 0
        before = snapshot(Path("out"))
        assert run("explain", "p2/od.png", *MODEL, "--out", "out").returncode == 0
        after = snapshot(Path("out"))
        del before["index.sqlite"]  # the job's own record has a line more
        assert {name: after[name] for name in before} == before
        assert sorted(sources(Path("out")).values()) == ["p1/od.png", "p2/od.png"]

    def test_the_same_eye_again_takes_its_own_place(self, patients: Path) -> None:
        for _ in range(2):
            assert run("explain", "p1/od.png", *MODEL, "--out", "out").returncode == 0
            assert sources(Path("out")) == {"od": "p1/od.png"}

    @pytest.mark.parametrize("name", ["od", "OD", "od/deep"])
    def test_a_folder_of_somebody_elses_is_left_alone(self, patients: Path, name: str) -> None:
        folder = Path("mydata", name)
        folder.mkdir(parents=True)
        (folder / "labels.csv").write_text("years of work")
        before = snapshot(Path("mydata"))
        done = run("explain", "p1/od.png", *MODEL, "--out", "mydata")
        after = snapshot(Path("mydata"))
        assert {path: after[path] for path in before} == before
        if not name.startswith("OD"):
            assert done.returncode == 2
            assert "mydata/od" in done.stderr
            assert after == before

    @pytest.mark.parametrize("name", ["..png", "...png", ".png", "out.png"])
    def test_odd_names_write_inside_the_folder_only(self, patients: Path, name: str) -> None:
        Path("p1/od.png").rename(name)
        Path("out").mkdir()
        Path("out/notes.txt").write_text("keep")
        before = snapshot(patients)
        done = run("explain", f"./{name}", *MODEL, "--out", "out")
        after = snapshot(patients)
        assert {path: after[path] for path in before} == before
        if done.returncode == 0:
            assert list(sources(Path("out")).values()) == [name]
        else:
            assert "Traceback" not in done.stderr

    @pytest.mark.parametrize("place", ["p1/od.png", "/proc/out", "/dev/null/out"])
    def test_a_place_that_cannot_be_written_is_said_before_work(
        self, patients: Path, place: str
    ) -> None:
        before = snapshot(patients)
        done = run("explain", "p1/od.png", "--model", "no-such-model", "--out", place)
        assert done.returncode == 2
        assert place in done.stderr
        assert "no-such-model" not in done.stderr  # the place is looked at first
        assert snapshot(patients) == before
