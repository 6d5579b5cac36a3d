"""What is taken home from the room: the report in a browser without a server, and DICOM."""

import io
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pydicom
import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import Browser, expect

from ssplain.app import create
from ssplain.desk import Room
from ssplain.pages.examples import SHARES
from ssplain.pages.results import Explained, results_page
from tests.app.conftest import HOME

MARKED = """canvas => {
  const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let i = 3; i < data.length; i += 4) count += data[i] === 255;
  return count;
}"""


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    room = Room.furnish(["lenet5-mnist"])
    client = TestClient(create(room), base_url=HOME)
    client.get("/")
    yield client
    room.close()


@pytest.fixture(scope="module")
def told(client: TestClient) -> dict[str, Any]:
    """A run of two explainers."""
    wanted = {"image": "mnist/0", "explainers": ["ssplain-0", "intensity"]}
    run = client.post("/api/runs", json=wanted).json()["run"]
    while True:
        seen: dict[str, Any] = client.get(f"/api/runs/{run}").json()
        if seen["state"] not in {"waiting", "running"}:
            return seen
        time.sleep(0.05)


def test_the_report_works_from_disk(
    browser: Browser, client: TestClient, told: dict[str, Any], tmp_path: Path
) -> None:
    answer = client.get(f"/api/runs/{told['run']}/report.html")
    assert answer.headers["content-disposition"].startswith("attachment")
    (tmp_path / "report.html").write_bytes(answer.content)
    context = browser.new_context(offline=True)
    page = context.new_page()
    asked: list[str] = []
    faults: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto((tmp_path / "report.html").as_uri())
    expect(page.locator("body[data-ready=yes]")).to_be_attached()
    maps = page.locator("canvas")
    expect(maps).to_have_count(2)
    rank = np.frombuffer(client.get(f"/api/runs/{told['run']}/maps/0").content, "<u4", 784)
    inside = 116  # drawn pixels of this digit
    assert rank.max() == 783
    for at in (SHARES.index(0.25), SHARES.index(0.05), len(SHARES) - 1):
        page.locator("#share").fill(str(at))
        assert maps.first.evaluate(MARKED) == round(SHARES[at] * inside)
    page.get_by_label("Explainer").select_option("Intensity")
    expect(maps.nth(0)).to_be_hidden()
    expect(maps.nth(1)).to_be_visible()
    page.locator("#view").select_option("image alone")
    expect(maps.nth(1)).to_be_hidden()
    assert all(url.startswith(("file:", "data:")) for url in asked)
    assert not faults
    context.close()


def test_it_prints_on_a4(browser: Browser, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    image = np.zeros((28, 28), np.uint8)
    image[4:24, 10:16] = 255
    many = [
        Explained(
            f"{at}.png", image, image > 0, {"SSplain-0": rng.random((28, 28))}, {"class": "1"}
        )
        for at in range(20)
    ]
    path = tmp_path / "report.html"
    path.write_text(results_page("Digits", many))
    page = browser.new_page()
    page.goto(path.as_uri())
    expect(page.locator("body[data-ready=yes]")).to_be_attached()
    page.emulate_media(media="print")
    expect(page.locator(".bar")).to_be_hidden()
    expect(page.locator("#printed")).to_contain_text("the top 25 %")
    content = page.pdf(prefer_css_page_size=True)
    page.close()
    boxes = set(re.findall(rb"/MediaBox\s*\[([\d. ]+)\]", content))
    assert {tuple(round(float(n)) for n in box.split()) for box in boxes} == {(0, 0, 595, 842)}
    assert 3 <= len(re.findall(rb"/Type\s*/Page\b", content)) <= 10


def test_all_results_go_into_one_report(client: TestClient, told: dict[str, Any]) -> None:
    text = client.get("/api/runs/report.html").text
    assert "Digit 1" in text
    assert "SSplain-0" in text
    other = TestClient(client.app, base_url=HOME)
    other.get("/")
    assert "no finished result" in other.get("/api/runs/report.html").json()["message"]
    assert other.get(f"/api/runs/{told['run']}/report.html").status_code == 400


def test_dicom_names_nobody(client: TestClient, told: dict[str, Any]) -> None:
    assert told["files"] == ["overlay-0.dcm", "map-0.dcm", "overlay-1.dcm", "map-1.dcm"]
    base = f"/api/runs/{told['run']}/files"
    read = [
        pydicom.dcmread(io.BytesIO(client.get(f"{base}/{name}").content))
        for name in ("overlay-0.dcm", "map-0.dcm")
    ]
    assert [(one.Rows, one.Columns) for one in read] == [(28, 28), (28, 28)]
    for one in read:
        assert str(one.PatientName) == ""
        assert one.PatientID == ""
    scores = np.frombuffer(read[1].FloatPixelData, "<f4")
    with np.load(io.BytesIO(client.get(f"/api/runs/{told['run']}/maps.npz").content)) as stored:
        inside = stored["inside"].ravel()
        right = stored["ssplain-0/scores"].ravel()
    np.testing.assert_allclose(scores[inside], right[inside], atol=1e-3)
    assert not scores[~inside].any()
    assert client.get(f"{base}/overlay-7.dcm").status_code == 400
