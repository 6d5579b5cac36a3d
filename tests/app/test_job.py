"""A job as a worklist: what it found is shown as it is, and nothing is computed again."""

import base64
import io
import json
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from fastapi.testclient import TestClient
from PIL import Image

from ssplain.app import create
from ssplain.data import read_image
from ssplain.desk import Room
from ssplain.desk.job import Job
from ssplain.desk.library import Library
from ssplain.errors import SSplainError
from ssplain.explain import Explanation
from ssplain.jobs.job import run
from ssplain.models import load
from ssplain.work.explaining import Explaining
from ssplain.work.reading import ReadingEyes
from tests.app.conftest import HOME
from tests.app.grader import grader
from tests.jobs.digits import QUICK, write_digits
from tests.reading.eyes import cross


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished job: three digits, one of them twice, and a file that is no image."""
    home = tmp_path_factory.mktemp("job")
    images = write_digits(home / "secret-place", 3)
    shutil.copy(images / "00000.png", images / "again.png")
    (images / "words.png").write_text("no image")
    run(QUICK, [images], home / "out")
    return home / "out"


@pytest.fixture
def room(digits: Path) -> Iterator[Room]:
    room = Room.furnish(job=digits)
    yield room
    room.close()


@pytest.fixture
def _no_computing(monkeypatch: pytest.MonkeyPatch) -> None:
    def computes(*_: object, **__: object) -> None:
        raise AssertionError("a finished job must not be computed again")

    for name in ("probabilities", "explain", "heavy", "predict"):
        monkeypatch.setattr(Library, name, computes)


def rows(client: TestClient) -> dict[str, dict[str, Any]]:
    told = client.get("/api/worklist/job").json()
    return {row["title"]: row for row in told["rows"]}


@pytest.mark.usefixtures("_no_computing")
def test_the_worklist_shows_what_the_job_found(client: TestClient, digits: Path) -> None:
    found = rows(client)
    images = [read_image(digits.parent / "secret-place" / f"0000{i}.png") for i in range(3)]
    with torch.no_grad():
        said = load("lenet5-mnist")(torch.stack(images)).argmax(1).tolist()
    assert [found[f"0000{i}.png"]["decision"] for i in range(3)] == [str(one) for one in said]
    assert len(set(said)) > 1
    assert found["again.png"]["decision"] == str(said[0])
    assert found["again.png"]["key"] == found["00000.png"]["key"]
    assert found["words.png"]["state"] == "refused"
    assert "words.png" in found["words.png"]["message"]
    assert "secret-place" not in client.get("/api/worklist/job").text
    with sqlite3.connect(digits / "index.sqlite") as base:
        (stored,) = base.execute("SELECT probabilities FROM images WHERE path LIKE '%00001.png'")
    assert found["00001.png"]["probability"] == max(json.loads(stored[0]))


@pytest.mark.usefixtures("_no_computing")
def test_a_result_is_that_of_the_job(client: TestClient, digits: Path) -> None:
    image = rows(client)["00001.png"]["image"]
    known = client.get("/api/look", params={"image": image}).json()
    assert known["stored"]
    right = Explanation.load(digits / "00001")
    np.testing.assert_allclose(known["prediction"]["probabilities"], right.probabilities[0])
    told = client.get(f"/api/{image}").json()["result"]
    (one,) = told["maps"]
    assert one["title"] == "SSplain-0"
    assert told["target"] == int(right.target[0])
    assert len(one["history"]["objective"]) == int(right.history.iterations[0])
    planes = client.get(f"/api/{image}/maps/0").content
    rank = np.frombuffer(planes, "<u4", 784)
    scores = right.scores.flatten().numpy()
    inside = right.support.flatten().numpy()
    assert sorted(rank[inside]) == list(range(int(inside.sum())))
    assert (np.diff(scores[np.argsort(rank)][: inside.sum()]) <= 0).all()
    kept = np.frombuffer(planes, np.uint8, offset=6 * 784)
    np.testing.assert_array_equal(kept, (right.mask > 0).flatten().numpy())
    pixels = client.get("/api/pixels", params={"image": image}).content
    np.testing.assert_allclose(
        np.frombuffer(pixels, np.uint8) / 255, right.images.flatten(), atol=0.5 / 255
    )
    with np.load(io.BytesIO(client.get(f"/api/{image}/maps.npz").content)) as stored:
        np.testing.assert_array_equal(stored["scores"], right.scores)
    assert "SSplain-0" in client.get(f"/api/{image}/table.csv").text
    assert client.get(f"/api/{image}/files/manifest.json").status_code == 404


def test_the_jobs_model_answers_questions(client: TestClient) -> None:
    everything = base64.b64encode(b"\xff" * 98).decode()
    body = {"image": "job/1", "model": "lenet5-mnist", "mask": everything}
    told = client.post("/api/ask", json=body)
    assert told.status_code == 200, told.text
    assert len(told.json()["without"]) == 10


def test_a_refused_image_says_why(client: TestClient) -> None:
    image = rows(client)["words.png"]["image"]
    told = client.get("/api/look", params={"image": image})
    assert told.status_code == 400
    assert "words.png was refused." in told.json()["message"]
    assert "secret-place" not in told.text


def test_a_grade_of_a_job_is_kept_by_its_file(client: TestClient, tmp_path: Path) -> None:
    client.app.state.room.grades.path = tmp_path / "grades.sqlite"  # type: ignore[attr-defined]
    body = {"image": rows(client)["00000.png"]["image"], "reader": "ada", "grade": "9"}
    assert client.post("/api/grades", json=body).status_code == 200
    told = {r["title"]: r for r in client.get("/api/worklist/job?reader=ada").json()["rows"]}
    assert (told["00000.png"]["grade"], told["again.png"]["grade"]) == ("9", "9")
    assert told["00001.png"]["grade"] is None


def test_a_running_job_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ssplain.desk.job.FRESH", 0.0)
    images = write_digits(tmp_path / "in", 3)
    steps = iter([False])
    task = Explaining("lenet5-mnist", iterations=2, batch_size=1)
    run(task, [images], tmp_path / "out", stop=lambda: next(steps, True))
    job = Job(tmp_path / "out")
    before = [one.status for one in job.entries().values()]
    assert "waiting" in before
    with pytest.raises(SSplainError, match="no result yet"):
        job.result(1 + before.index("waiting"))
    run(task, [images], tmp_path / "out")
    assert {one.status for one in job.entries().values()} == {"done"}


def test_a_result_elsewhere_is_not_shown(digits: Path, tmp_path: Path) -> None:
    shutil.copytree(digits, tmp_path / "out")
    shutil.copytree(digits / "00001", tmp_path / "outside")
    with sqlite3.connect(tmp_path / "out" / "index.sqlite") as base:
        base.execute("UPDATE images SET file = '../outside' WHERE number = 1")
    job = Job(tmp_path / "out")
    with pytest.raises(SSplainError, match="no result in"):
        job.result(1)
    assert job.result(2)["maps"]


def test_what_is_no_job_is_told(tmp_path: Path) -> None:
    with pytest.raises(SSplainError, match="There is no job"):
        Job(tmp_path)


def test_eyes_that_were_read_are_shown_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    Image.fromarray((255 * cross()).astype(np.uint8)).save(tmp_path / "in" / "eye.png")
    run(ReadingEyes(grader(tmp_path / "model")), [tmp_path / "in"], tmp_path / "out")
    room = Room.furnish(job=tmp_path / "out")
    client = TestClient(create(room), base_url=HOME)
    client.get("/")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Library, "explain", None)
        known = client.get("/api/look", params={"image": "job/1"}).json()
        told = client.get("/api/job/1").json()
        planes = client.get("/api/job/1/maps/0").content
    assert known["reading"]["grade"] == "Plus"
    assert known["prediction"]["severity"] == known["reading"]["severity"]
    assert told["files"] == ["eye.html", "reading.json"]
    assert told["result"]["maps"][0]["title"] == "SSplain-ranking"
    inside = cross().ravel() > 0
    rank = np.frombuffer(planes, "<u4", inside.size)
    assert sorted(rank[inside]) == list(range(int(inside.sum())))
    page = client.get("/api/job/1/files/eye.html")
    assert page.headers["content-disposition"].startswith("attachment")
    assert client.get("/api/worklist/job").json()["rows"][0]["decision"] == "Plus"
    room.close()
