from pathlib import Path

import pytest

from ssplain.data.labelled import labelled_files
from ssplain.errors import SSplainError


def put(home: Path, *names: str) -> Path:
    for name in names:
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    return home


def test_a_folder_per_class(tmp_path: Path) -> None:
    images = put(tmp_path / "a", "plus/1.png", "plus/2.JPG", "normal/1.tif", "normal/.hidden.png")
    put(images, "notes.txt", "plus/list.csv")
    masks = put(tmp_path / "b", "plus/1.bmp")
    found = labelled_files(images, truth=masks)
    assert found.classes == ("normal", "plus")
    assert [(one.path.name, one.label) for one in found.files] == [
        ("1.tif", 0),
        ("1.png", 1),
        ("2.JPG", 1),
    ]
    assert [one.truth for one in found.files] == [None, masks / "plus/1.bmp", None]


def test_the_models_classes_settle_the_numbers(tmp_path: Path) -> None:
    images = put(tmp_path, "Plus/1.png", "Normal/1.png", "2/1.png")
    found = labelled_files(images, ("Normal", "Pre-plus", "Plus"))
    assert sorted((one.path.parent.name, one.label) for one in found.files) == [
        ("2", 2),
        ("Normal", 0),
        ("Plus", 2),
    ]
    with pytest.raises(SSplainError, match="label 'Normal', which is no class of the model"):
        labelled_files(images, ("healthy", "ill", "2"))


def test_a_folder_may_be_named_as_a_folder_can(tmp_path: Path) -> None:
    images = put(tmp_path, "t-shirt_top/1.png", "BAG/1.png")
    found = labelled_files(images, ("T-shirt/top", "Bag"))
    assert {one.path.parent.name: one.label for one in found.files} == {"BAG": 1, "t-shirt_top": 0}


def test_numbers_are_numbers(tmp_path: Path) -> None:
    found = labelled_files(put(tmp_path, "3/a.png", "10/b.png"))
    assert {one.path.name: one.label for one in found.files} == {"a.png": 3, "b.png": 10}
    assert len(found.classes) == 11


def test_a_table_with_truth(tmp_path: Path) -> None:
    table = tmp_path / "list.csv"
    table.write_text("\ufefflabel,path,truth\nb,x/1.png,m.png\na, 2.png,\n", encoding="utf-8")
    found = labelled_files(table)
    first, second = found.files
    assert (first.path, first.label, first.truth) == (tmp_path / "x/1.png", 1, tmp_path / "m.png")
    assert (second.path, second.label, second.truth) == (tmp_path / "2.png", 0, None)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("file,class\na.png,1\n", "has the columns file, class; it needs path and label"),
        ("path,label\n", "holds no labelled image"),
        ("label,path\n1,a.png\n2\n", "a line without path or label: 2,; fill it in"),
        ("path,label\na.png\n", "a line without path or label: a.png,; fill it in"),
        (b"\xff\xfe\x00path", "no readable CSV"),
    ],
)
def test_a_table_that_cannot_be_used_is_explained(
    tmp_path: Path, content: str | bytes, says: str
) -> None:
    table = tmp_path / "list.csv"
    table.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(SSplainError, match=says):
        labelled_files(table)
    with pytest.raises(SSplainError, match="no folder or table"):
        labelled_files(tmp_path / "nowhere")
