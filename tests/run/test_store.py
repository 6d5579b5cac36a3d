from pathlib import Path

import numpy as np
import pytest

from ssplain.run.store import About, Store

ABOUT = {"of": [1, 2]}


def never() -> dict[str, np.ndarray]:
    raise AssertionError("made again")


def test_what_was_made_is_read_again_and_equal(tmp_path: Path) -> None:
    made = {"a": np.arange(6.0).reshape(2, 3), "b": np.array([1, 0]) == 1}
    Store(tmp_path).once("x", ABOUT, lambda: made)
    again = Store(tmp_path).once("x", {"of": [1, 2]}, never)
    assert again.keys() == made.keys()
    np.testing.assert_array_equal(again["a"], made["a"])
    assert again["b"].tolist() == [True, False]


@pytest.mark.parametrize("name", ["x", "y"])
def test_other_origins_are_other_results(tmp_path: Path, name: str) -> None:
    store = Store(tmp_path)
    store.once(name, ABOUT, lambda: {"a": np.array(1)})
    assert store.once(name, {"of": [2, 1]}, lambda: {"a": np.array(2)})["a"] == 2


@pytest.mark.parametrize("keep", [0, 1, 40, -1])
def test_a_broken_file_is_made_again(tmp_path: Path, keep: int) -> None:
    store = Store(tmp_path)
    store.once("x", ABOUT, lambda: {"a": np.arange(100)})
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:keep])
    assert store.once("x", ABOUT, lambda: {"a": np.array(7)})["a"] == 7
    assert store.once("x", ABOUT, never)["a"] == 7


def test_a_file_of_something_else_under_the_same_name_is_not_believed(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.once("x", {"of": 1}, lambda: {"a": np.array(1)})
    store.once("x", {"of": 2}, lambda: {"a": np.array(2)})
    one, two = sorted(tmp_path.iterdir())
    two.replace(one)
    values = {int(store.once("x", {"of": of}, lambda: {"a": np.array(9)})["a"]) for of in (1, 2)}
    assert 9 in values


@pytest.mark.parametrize("about", [None, {"of": object()}])
def test_what_cannot_be_told_from_others_is_not_kept(tmp_path: Path, about: About) -> None:
    for value in (1, 2):
        assert Store(tmp_path).once("x", about, lambda: {"a": np.array(value)})["a"] == value  # noqa: B023
    assert not list(tmp_path.iterdir())


def test_a_failure_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        Store(tmp_path).once("x", ABOUT, never)
    assert list(tmp_path.iterdir()) == []
