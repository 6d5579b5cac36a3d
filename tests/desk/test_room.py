import time

import pytest

from ssplain.desk import Room
from ssplain.desk.library import Library


def _prepared(room: Room) -> bool:
    for _ in range(600):
        if ("lenet5-mnist", False) in room.library._loaded:
            return True
        time.sleep(0.05)
    return False


def test_models_are_made_ready_before_anybody_comes() -> None:
    room = Room.furnish(["lenet5-mnist"])
    assert not room.library._loaded
    room.expect()
    assert _prepared(room)
    room.close()


def test_a_model_that_cannot_be_made_ready_does_not_stop_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain = Library.about

    def about(self: Library, source: str) -> dict[str, object]:
        if source == "lenet5-fmnist":
            raise OSError
        return plain(self, source)

    monkeypatch.setattr(Library, "about", about)
    room = Room.furnish(["lenet5-fmnist", "lenet5-mnist"])
    room.expect()
    assert _prepared(room)
    room.close()
