"""What the room answers, without a browser."""

import base64
import csv
import io
import time
from typing import Any

import numpy as np
import pytest
import torch
from fastapi.testclient import TestClient

import ssplain
from ssplain.app import create
from ssplain.desk import Room
from ssplain.desk.library import Library, Prediction
from ssplain.desk.queue import Task
from tests.app.conftest import HOME


def finished(client: TestClient, **wanted: object) -> dict[str, Any]:
    """Run to the end; return what the room tells of it."""
    started = client.post("/api/runs", json={"image": "mnist/0", **wanted})
    assert started.status_code == 200, started.text
    while True:
        told: dict[str, Any] = client.get(f"/api/runs/{started.json()['run']}").json()
        if told["state"] not in {"waiting", "running"}:
            return told
        time.sleep(0.02)


def test_look_says_what_the_model_says(client: TestClient) -> None:
    told = client.get("/api/look", params={"image": "mnist/2"}).json()
    images, labels = ssplain.data.bundled("mnist")
    model = ssplain.models.load("lenet5-mnist")
    with torch.no_grad():
        right = model(images[2:3]).softmax(1)[0]
    np.testing.assert_allclose(told["prediction"]["probabilities"], right, atol=1e-5)
    assert told["label"] == int(labels[2])
    assert told["model"] == "lenet5-mnist"
    assert told["prediction"]["severity"] is None
    pixels = client.get("/api/pixels", params={"image": "mnist/2"}).content
    np.testing.assert_array_equal(np.frombuffer(pixels, np.uint8), (images[2] * 255).flatten())


def test_a_run_gives_the_maps_of_the_library(client: TestClient) -> None:
    told = finished(client, explainers=["ssplain-0", "saliency"], target=3)
    assert told["state"] == "done", told["message"]
    result = told["result"]
    images, _ = ssplain.data.bundled("mnist")
    model = ssplain.models.load("lenet5-mnist")
    right = ssplain.SSplain(model, **ssplain.preset("mnist")).explain(images[:1], 3)
    stored = np.load(io.BytesIO(client.get(f"/api/runs/{told['run']}/maps.npz").content))
    np.testing.assert_allclose(stored["ssplain-0/scores"], right.scores[0], atol=1e-4)
    np.testing.assert_array_equal(stored["ssplain-0/kept"], right.mask[0] > 0)
    assert [one["name"] for one in result["maps"]] == ["ssplain-0", "saliency"]
    assert len(result["maps"][0]["history"]["objective"]) == 20
    kept = ssplain.metrics.kept_and_removed(model, right)
    assert result["maps"][0]["checks"]["only"] == pytest.approx(float(kept.only[0]), abs=1e-3)
    assert result["maps"][0]["checks"]["without"] == pytest.approx(float(kept.without[0]), abs=1e-3)
    planes = client.get(f"/api/runs/{told['run']}/maps/0").content
    assert len(planes) == 7 * 28 * 28
    rank = np.frombuffer(planes, "<u4", 28 * 28)
    order = right.scores.flatten()[torch.from_numpy(rank.argsort().astype(np.int64))]
    inside = int(right.support.sum())
    assert bool((order[: inside - 1] >= order[1:inside]).all())
    rows = list(csv.DictReader(io.StringIO(client.get(f"/api/runs/{told['run']}/table.csv").text)))
    assert [row["explainer"] for row in rows] == ["SSplain-0", "Saliency"]
    assert rows[0]["explained_class"] == "3"


def test_ask_hides_exactly_the_painted_part(client: TestClient) -> None:
    images, _ = ssplain.data.bundled("mnist")
    region = torch.zeros(28, 28, dtype=torch.bool)
    region[:12] = True
    bits = np.packbits(region.numpy().ravel(), bitorder="little").tobytes()
    body = {"image": "mnist/0", "model": "lenet5-mnist", "mask": base64.b64encode(bits).decode()}
    told = client.post("/api/ask", json=body).json()
    model = ssplain.models.load("lenet5-mnist")
    with torch.no_grad():
        shown = torch.stack([images[0], images[0] * region, images[0] * ~region])
        right = model(shown).softmax(1)
    for name, p in zip(("whole", "only", "without"), right, strict=True):
        np.testing.assert_allclose(told[name], p, atol=1e-5, err_msg=name)
    drawn = images[0, 0] > 0
    assert told["share"] == pytest.approx(float((drawn & region).sum() / drawn.sum()))


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("/api/runs", {"image": "mnist/0", "explainers": ["magic"]}, "no explainer"),
        ("/api/runs", {"image": "mnist/9999", "explainers": ["saliency"]}, "no such image"),
        ("/api/runs", {"image": "../etc", "explainers": ["saliency"]}, "no such image"),
        (
            "/api/runs",
            {"image": "mnist/0", "model": "/etc", "explainers": ["saliency"]},
            "no model",
        ),
        ("/api/runs", {"image": "mnist/0", "explainers": []}, "not understood"),
        (
            "/api/runs",
            {"image": "mnist/0", "explainers": ["ssplain-0"], "settings": {"iterations": 1e9}},
            "from 1 to 500",
        ),
        (
            "/api/runs",
            {"image": "mnist/0", "explainers": ["ssplain-0"], "settings": {"start": 1}},
            "no setting",
        ),
        (
            "/api/ask",
            {"image": "mnist/0", "model": "lenet5-mnist", "mask": "AA=="},
            "another image",
        ),
        ("/api/ask", {"image": "mnist/0", "model": "lenet5-mnist", "mask": "!"}, "paint it again"),
        ("/api/ask", {"image": "mnist/0", "model": "lenet5-mnist", "branches": [1]}, "no vessels"),
    ],
)
def test_a_mistake_is_told_in_a_sentence(
    client: TestClient, path: str, body: dict[str, Any], said: str
) -> None:
    answer = client.post(path, json=body)
    assert answer.status_code in {400, 422}
    assert said in answer.json()["message"]


def test_a_class_that_does_not_exist_fails_the_run_only(client: TestClient) -> None:
    told = finished(client, explainers=["saliency"], target=10)
    assert told["state"] == "failed"
    assert "no class 10" in told["message"]


def test_a_run_belongs_to_its_session(room: Room, client: TestClient) -> None:
    told = finished(client, explainers=["intensity"])
    other = TestClient(create(room), base_url=HOME)
    for path in ("", "/maps/0", "/maps.npz", "/table.csv"):
        assert other.get(f"/api/runs/{told['run']}{path}").status_code == 403
    other.get("/")
    for path in ("", "/maps/0", "/maps.npz", "/table.csv"):
        answer = other.get(f"/api/runs/{told['run']}{path}")
        assert answer.status_code in {400, 404}, path
    assert other.get("/api/runs").json() == []
    assert client.get("/api/runs").json()[0]["run"] == told["run"]


def test_a_fault_of_ours_shows_no_traceback(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    client = TestClient(create(room), base_url=HOME, raise_server_exceptions=False)
    client.get("/")

    def broken(*_: object) -> None:
        raise RuntimeError("secret in /home/x")

    monkeypatch.setattr(room.library, "predict", broken)
    answer = client.get("/api/look", params={"image": "mnist/0"})
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert "log" in answer.json()["message"]


def test_stopping_a_run_keeps_what_it_has_found(client: TestClient) -> None:
    tell = Task.tell

    def slow(task: Task, stage: str, done: float) -> None:
        if stage.startswith("Checking"):
            task.halt.set()
        tell(task, stage, done)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Task, "tell", slow)
        told = finished(client, explainers=["intensity"])
    assert told["state"] == "stopped"
    assert len(told["result"]["maps"]) == 1
    assert "checks" not in told["result"]["maps"][0]
    assert client.get(f"/api/runs/{told['run']}/maps/0").status_code == 200


def test_there_are_no_other_pages(client: TestClient) -> None:
    for path in (
        "/docs",
        "/openapi.json",
        "/redoc",
        "/static/../server.py",
        "/static/%2e%2e/room.py",
    ):
        assert client.get(path).status_code == 404, path
    for path in ("/", "/image/mnist/3", "/result/abc", "/about", "/worklist"):
        assert "<title>" in client.get(path).text


def test_an_open_room_gets_ready_and_answers_requests_with_one_core(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cores: list[int] = []
    plain = Library.predict

    def predict(self: Library, source: str, image: torch.Tensor) -> Prediction:
        cores.append(torch.get_num_threads())
        return plain(self, source, image)

    monkeypatch.setattr(Library, "predict", predict)
    room = Room.furnish(["lenet5-mnist"])
    with TestClient(create(room), base_url=HOME) as client:
        assert room._expects
        client.get("/")
        assert client.get("/api/look", params={"image": "mnist/2"}).status_code == 200
    assert cores == [1]
