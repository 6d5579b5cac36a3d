"""Photographs: read once, shown with their vessels, asked about, or refused with the reason."""

import base64
import io
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from fastapi.testclient import TestClient
from PIL import Image

from ssplain.app import create
from ssplain.desk import Room
from ssplain.desk.library import Library, Map
from ssplain.desk.photographs import Photographs
from ssplain.desk.subject import Subject, layer
from ssplain.errors import SSplainError
from ssplain.fundus.frame import Frame
from ssplain.reading.eye import Reader
from tests.app.conftest import HOME
from tests.app.grader import grader
from tests.fundus.eyes import painted_eye

SIZE = (480, 640)


def png(values: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray((255 * values).round().astype(np.uint8)).save(buffer, "PNG")
    return buffer.getvalue()


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    home = tmp_path_factory.mktemp("photographs")
    (home / "in").mkdir()
    (home / "in" / "eye.png").write_bytes(png(painted_eye(2, 1).photo))
    model = grader(home / "model")
    room = Room.furnish([model], home / "in", home / "grades.sqlite")
    yield room
    room.close()


@pytest.fixture(scope="module")
def client(room: Room) -> TestClient:
    client = TestClient(create(room), base_url=HOME)
    client.get("/")
    return client


def finished(client: TestClient, image: str, *explainers: str) -> dict[str, Any]:
    wanted = {"image": image, "explainers": list(explainers)}
    run = client.post("/api/runs", json=wanted).json()["run"]
    while True:
        told: dict[str, Any] = client.get(f"/api/runs/{run}").json()
        if told["state"] not in {"waiting", "running"}:
            return told
        time.sleep(0.1)


def test_a_photograph_is_read_explained_and_asked_about(client: TestClient) -> None:
    before = client.get("/api/look", params={"image": "folder/0"}).json()
    assert before["unread"]
    assert before["prediction"] is None
    body = {"image": "folder/0", "model": "", "mask": ""}
    assert "not been read yet" in client.post("/api/ask", json=body).json()["message"]

    told = finished(client, "folder/0", "ssplain-ranking", "saliency")
    assert told["state"] == "done", told["message"]
    known = client.get("/api/look", params={"image": "folder/0"}).json()
    reading = known["reading"]
    assert not known["unread"]
    assert known["size"] == [3, *SIZE]
    assert known["prediction"]["severity"] == reading["severity"]
    assert reading["disc"] is not None
    assert len(reading["quadrants"]) == 4
    assert known["branches"][0]["width"] > 1

    plane = client.get("/api/drawn", params={"image": "folder/0"}).content
    drawn = np.frombuffer(plane, np.uint8).reshape(SIZE) > 0
    truth = painted_eye(2, 1).vessels > 0
    assert (drawn & truth).sum() / drawn.sum() > 0.5, "what is drawn are the vessels"
    for at in range(2):
        planes = client.get(f"/api/runs/{told['run']}/maps/{at}").content
        rank = np.frombuffer(planes, "<u4", drawn.size).reshape(SIZE)
        assert sorted(rank[drawn]) == list(range(int(drawn.sum()))), "maps are about vessels only"

    # this network looks at the upper half of the picture only: without it nothing is left
    upper = np.zeros(SIZE, bool)
    upper[: SIZE[0] // 2] = True
    bits = np.packbits(upper.ravel(), bitorder="little").tobytes()
    body = {"image": "folder/0", "model": "", "mask": base64.b64encode(bits).decode()}
    answer = client.post("/api/ask", json=body).json()
    np.testing.assert_allclose(answer["only"], answer["whole"], atol=0.05)
    assert answer["without"][0] == pytest.approx(1 / (1 + np.exp(-1.2) + np.exp(-2.4)), abs=0.02)


def test_the_eye_that_a_file_names_reaches_the_reading(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str | None] = []

    def reads(*_: object, eye: str | None, **__: object) -> None:
        asked.append(eye)
        raise SSplainError("No more is needed.")

    monkeypatch.setattr(Reader, "read", reads)
    picture = room.sources.picture("folder/0", None)
    assert picture.eye is None
    named = replace(picture, name="folder/unread", eye="left")
    with pytest.raises(SSplainError, match="No more is needed"):
        room.photographs.read(named, "googlenet-rop", None)
    assert asked == ["left"]


def test_a_photograph_is_read_once(
    client: TestClient, room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    finished(client, "folder/0", "ssplain-ranking")

    def reads(*_: object, **__: object) -> None:
        raise AssertionError("it was read before")

    monkeypatch.setattr(Reader, "read", reads)
    assert finished(client, "folder/0", "saliency")["state"] == "done"
    row = room.worklist.row("folder/0")
    assert row.state == "read"
    assert row.severity == client.get("/api/look?image=folder/0").json()["reading"]["severity"]


def test_what_is_no_eye_is_refused_with_the_reason(client: TestClient) -> None:
    rng = np.random.default_rng(0)
    flat = np.broadcast_to(np.array([0.7, 0.4, 0.2]), (200, 300, 3)) + 0.01 * rng.random(
        (200, 300, 3)
    )
    sent = client.post("/api/uploads?name=holiday.png", content=png(flat)).json()
    told = finished(client, sent["image"], "ssplain-ranking")
    assert told["state"] == "failed"
    assert told["message"].startswith("holiday.png was refused. ")
    assert len(told["message"]) > 60
    assert client.get("/api/look", params=sent).json()["unread"]


def test_the_worklist_gives_way(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """A photograph that is read while nobody waits is left for later when somebody comes."""
    monkeypatch.setattr(Photographs, "find", lambda *_: None)
    work = room.worklist
    monkeypatch.setattr(work, "_rows", {})
    monkeypatch.setattr(work, "busy", lambda: True)
    assert work.rows("folder")[0].state == "waiting"
    monkeypatch.setattr(work, "attended", lambda: True)
    assert not work.step()  # people ask the models: it does not even begin
    monkeypatch.setattr(work, "attended", lambda: False)
    assert work.step()
    assert work.rows("folder")[0].state == "waiting"


def test_a_part_of_a_photograph_is_a_part_of_its_vessels() -> None:
    vessels = torch.zeros(30, 40)
    vessels[10:14, 5:35] = 0.8
    frame = Frame.around((30, 40), (14.5, 19.5), 40, 20)
    taken = frame.to_network(vessels.numpy())
    shown = torch.rand(3, 30, 40)
    one = Subject(shown, taken, vessels > 0, vessels, frame, {})
    left = torch.zeros(30, 40, dtype=torch.bool)
    left[:, :20] = True
    torch.testing.assert_close(one.part(torch.ones_like(left)), taken)
    torch.testing.assert_close(one.part(left) + one.part(~left), taken)
    assert not one.part(left)[..., 11:].any()
    # a map that rises to the right does so on the photograph, and is nowhere mixed with the ground
    rising = torch.arange(20.0).expand(1, 20, 20).clone()
    rising[taken == 0] = -1000.0
    planes = layer(one, rising, taken > 2)
    rank = np.frombuffer(planes, "<u4", 1200).reshape(30, 40)
    level = np.frombuffer(planes, "<u2", 1200, offset=4800).reshape(30, 40)
    assert (np.diff(rank[12, 5:35].astype(int)) < 0).mean() > 0.9
    assert (np.diff(level[12, 5:35].astype(int)) >= 0).all()
    assert level[12, 5:8].max() < 12_000


def test_maps_of_a_photograph_are_made_on_its_scale(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    explain = Library.explain

    def spy(self: Library, source: str, *args: Any, **kwargs: Any) -> Map:  # noqa: ANN401
        asked.append(source)
        return explain(self, source, *args, **kwargs)

    monkeypatch.setattr(Library, "explain", spy)
    assert finished(client, "folder/0", "input-x-gradient")["state"] == "done"
    assert asked
    assert all(source.endswith(" on photographs") for source in asked)
