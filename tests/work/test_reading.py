"""The task of `ssplain read`."""

from pathlib import Path

import pytest
import torch

from ssplain.errors import SSplainError
from ssplain.reading.eye import Reader
from ssplain.work import reading
from ssplain.work.task import Item
from tests.reading.eyes import cross, reader


def worker(monkeypatch: pytest.MonkeyPatch, eye: str | None = None) -> reading.ReadingWorker:
    """Return a worker with a small network, for files that say that they show a right eye."""
    monkeypatch.setattr(Reader, "of", staticmethod(lambda _: reader()))
    monkeypatch.setattr(reading, "eye_of", lambda path: "right" if Path(path).suffix else None)
    return reading.ReadingEyes(eye=eye).open()


@pytest.mark.parametrize("given", [None, "right"])
def test_the_file_tells_which_eye_it_is(monkeypatch: pytest.MonkeyPatch, given: str | None) -> None:
    (found,) = worker(monkeypatch, given).work(
        [Item(1, "eye.dcm")], [torch.from_numpy(cross())[None]]
    )
    assert found.numbers["eye"] == "right"
    assert "left or a right eye" not in found.numbers["warnings"]


def test_a_file_that_says_otherwise_than_the_user_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    image = torch.from_numpy(cross())[None]
    with pytest.raises(SSplainError, match="says that it is a right eye, and left was given"):
        worker(monkeypatch, "left").check(Item(1, "eye.dcm"), image)
    with pytest.raises(SSplainError, match="says that it is a right eye, and left was given"):
        worker(monkeypatch).check(Item(1, "eye.dcm", target="left"), image)
    worker(monkeypatch, "left").check(Item(1, "eye"), image)
