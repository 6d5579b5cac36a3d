"""The worklist and the readers' grades, without a browser."""

import csv
import io
import sqlite3
import threading
from pathlib import Path

import pytest
import torch
from PIL import Image

from ssplain.data import bundled
from ssplain.desk import Room
from ssplain.desk.grades import Grade, Grades
from ssplain.desk.library import Library
from ssplain.desk.sources import Sources
from ssplain.desk.worklist import Worklist
from ssplain.errors import SSplainError


def grade(**changes: object) -> Grade:
    """Return a grade with some things said otherwise."""
    said = {
        "image": "ab",
        "title": "Eye 1",
        "reader": "ada",
        "grade": "Plus",
        "note": "",
        "blind": False,
        "model": "googlenet-rop",
        "decision": "Normal",
    }
    return Grade(**(said | changes))  # type: ignore[arg-type]


@pytest.fixture
def digits(tmp_path: Path) -> Path:
    """A folder of three digits, one of them twice, and a file that is none."""
    images, _ = bundled("mnist")
    for name, at in (("a.png", 0), ("b.png", 1), ("sub/a.png", 0)):
        path = tmp_path / "images" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray((images[at, 0] * 255).to(torch.uint8).numpy()).save(path)
    (tmp_path / "images" / "c.png").write_text("no image")
    return tmp_path / "images"


def test_the_last_grade_counts_and_none_is_lost(tmp_path: Path) -> None:
    grades = Grades(tmp_path / "grades.sqlite")
    grades.give(grade(grade="Plus", blind=True))
    grades.give(grade(grade="Normal"))
    grades.give(grade(reader="bob", grade="Pre-plus"))
    assert grades.last("ada")["ab"].grade == "Normal"
    assert [(one.grade, one.blind) for one in grades.all("ada")] == [
        ("Plus", True),
        ("Normal", False),
    ]
    assert Grades(tmp_path / "grades.sqlite").last("bob")["ab"].grade == "Pre-plus"


def test_nothing_is_written_before_the_first_grade(tmp_path: Path) -> None:
    grades = Grades(tmp_path / "grades.sqlite")
    assert grades.last("ada") == {}
    assert not list(tmp_path.iterdir())


def test_a_table_holds_no_formula(tmp_path: Path) -> None:
    grades = Grades(tmp_path / "grades.sqlite")
    grades.give(grade(note="=HYPERLINK(1)", blind=True))
    (row,) = csv.DictReader(io.StringIO(grades.table("ada")))
    assert row["note"] == "'=HYPERLINK(1)"
    assert row["blind"] == "yes"
    assert row["given"].endswith("+00:00")


def test_many_readers_at_once_lose_nothing(tmp_path: Path) -> None:
    grades = Grades(tmp_path / "grades.sqlite")

    def read(name: str) -> None:
        for at in range(20):
            grades.give(grade(reader=name, image=str(at)))

    readers = [threading.Thread(target=read, args=(name,)) for name in "abcd"]
    for one in readers:
        one.start()
    for one in readers:
        one.join()
    assert all(len(grades.last(name)) == 20 for name in "abcd")


def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("my own notes, long enough to be taken for nothing else" * 20)
    with pytest.raises(SSplainError, match="another --grades file"):
        Grades(path).give(grade())
    assert path.read_text().startswith("my own notes")


def test_an_injected_name_is_only_a_name(tmp_path: Path) -> None:
    grades = Grades(tmp_path / "grades.sqlite")
    grades.give(grade(reader="x'; DROP TABLE grades; --"))
    assert len(grades.all("x'; DROP TABLE grades; --")) == 1
    with sqlite3.connect(tmp_path / "grades.sqlite") as base:
        assert base.execute("SELECT count(*) FROM grades").fetchone() == (1,)


def test_rows_come_one_at_a_time_and_a_bad_file_is_refused(digits: Path) -> None:
    work = Worklist(Library(["lenet5-mnist"]), Sources(digits))
    assert [row.state for row in work.rows("folder")] == ["waiting"] * 4
    assert work.step()
    assert [row.state for row in work.rows("folder")].count("waiting") == 3
    while work.step():
        pass
    rows = {row.title: row for row in work.rows("folder")}
    assert rows["a.png"].decision == "7"
    assert rows["b.png"].decision == "2"
    assert rows["c.png"].state == "refused"
    assert "c.png" in rows["c.png"].message
    assert str(digits) not in rows["c.png"].message
    assert rows["a.png"].key == rows["sub/a.png"].key != rows["b.png"].key


def test_what_is_known_is_beside_what_the_model_says() -> None:
    work = Worklist(Library(["lenet5-mnist"]), Sources())
    row = work.row("mnist/8")  # a 5 that looks like a 6
    assert row.label == "5"
    assert row.decision in {"5", "6"}
    assert row.uncertain
    assert not work.row("mnist/0").uncertain


@pytest.mark.parametrize("image", ["mnist/500", "mnist/x", "nowhere/0", "../0", "mnist/-1"])
def test_no_other_name_leads_anywhere(image: str) -> None:
    with pytest.raises(SSplainError):
        Worklist(Library(["lenet5-mnist"]), Sources()).row(image)


def test_it_rests_while_people_ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    room = Room.furnish(["lenet5-mnist"], grades=tmp_path / "grades.sqlite")
    room.queue.close()  # so that nobody else goes on with the list
    room.worklist.rows("mnist")
    room.attend()
    assert not room.worklist.step()
    monkeypatch.setattr("ssplain.desk.room.MOMENT", 0.0)
    assert room.worklist.step()
    room.close()
