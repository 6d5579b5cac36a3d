"""Requests of all kinds, right and wrong: the room answers, stays small, stays at home."""

import json
import os
import random
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient

from ssplain.app import create
from ssplain.desk import Room
from tests.app import hostile
from tests.app.conftest import HOME
from tests.app.watch import Touched, strays, watching

MOST_MORE = 600 * 2**20  # bytes of memory that requests may add: caches, one image in hand
WORDS = (
    "mnist/0", "mnist/499", "mnist/500", "mnist/-1", "fmnist/3", "rop/0", "folder/0", "job/1",
    "upload/" + "0" * 32, "upload/../../etc/passwd", "../..", "/etc/passwd", "", "\0", "é" * 40,
    "mnist/1e9", "mnist/%00", "lenet5-mnist", "googlenet-rop", "x" * 500, "nan", "-1", "1e400",
    "<script>", "' OR 1=1 --", "{}", "null",
)  # fmt: skip
PATHS = (
    "/", "/about", "/image/{w}", "/result/{w}", "/worklist/{w}", "/static/{w}", "/static/main.js",
    "/api/room", "/api/look?image={w}&model={w}", "/api/look?image={w}", "/api/pixels?image={w}",
    "/api/drawn?image={w}", "/api/branches?image={w}", "/api/truth?image={w}",
    "/api/thumb?image={w}", "/api/runs", "/api/runs/{w}", "/api/runs/{w}/stop",
    "/api/runs/{w}/maps/{w}", "/api/runs/{w}/maps.npz", "/api/runs/{w}/table.csv",
    "/api/runs/{w}/report.html", "/api/runs/{w}/files/{w}", "/api/runs/report.html", "/api/job/1",
    "/api/job/{w}", "/api/worklist/{w}", "/api/worklist/folder", "/api/grades?image={w}&reader={w}",
    "/api/grades.csv?reader={w}", "/api/grades", "/api/uploads?name={w}", "/api/ask", "/{w}",
    "/api/../{w}", "//{w}",
)  # fmt: skip


class Chance:
    """Draws requests; half of the values in them are what the room expects."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 - for tests

    def word(self) -> str:
        return self.random.choice(WORDS[:1] * 10 + WORDS)

    def value(self) -> object:
        pick = self.random.choice
        return pick(
            [self.word(), pick([0, -1, 7, 2**63, 1e308, None, True]), [], [self.word()], {}]
        )

    def body(self) -> object:
        pick = self.random.choice
        ask = {"image": self.word(), "model": self.word(), "mask": pick(["AA==", "!", "A" * 9000])}
        run = {
            "image": self.word(),
            "explainers": [pick(["intensity", "saliency", "magic", ""])],
            "target": pick([None, 0, 9, 10, -1]),
            "settings": pick([{}, {"iterations": 1}, {"iterations": 1e9}, {"x": 1}]),
        }
        grade = {
            "image": self.word(),
            "reader": "r",
            "grade": pick(["7", "x"]),
            "note": self.word(),
        }
        choices: list[dict[str, Any]] = [ask, run, run, grade, {}]
        chosen = dict(pick(choices))
        if chosen and self.random.random() < 0.3:
            chosen[pick(list(chosen))] = self.value()
        return pick([chosen, chosen, chosen, self.value()])

    def send(self, client: TestClient) -> Any:  # noqa: ANN401 - httpx
        pick = self.random.choice
        path = pick(PATHS)
        while "{w}" in path:
            path = path.replace("{w}", quote(self.word(), safe=pick(["/", ""])), 1)
        if path.startswith("/api/uploads"):
            return client.post(path, content=pick([*hostile.REFUSED.values(), hostile.picture()]))
        method = pick(["GET", "GET", "POST", "POST", "DELETE", "PUT", "HEAD", "PATCH"])
        if self.random.random() < 0.2:
            content = self.random.randbytes(self.random.randrange(3000))
            return client.request(method, path, content=content)
        text = json.dumps(self.body()).encode()
        headers = {"content-type": "application/json"}
        return client.request(method, path, content=text, headers=headers)


def memory() -> int:
    """Bytes that this process holds."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def storm(home: Path, models: Sequence[str], seed: int, requests: int, seconds: float) -> None:
    """Send random requests, so many or so long, from a few visitors."""
    room = Room.furnish(models, grades=home / "grades.sqlite")
    app = create(room)
    homes = [room.sessions.root, home]
    visitors = [TestClient(app, base_url=HOME, raise_server_exceptions=False) for _ in range(3)]
    for visitor in visitors:
        visitor.get("/")
    visitors[0].get("/api/look?image=mnist/0")  # what is loaded once is loaded
    chance, before, end = Chance(seed), memory(), time.monotonic() + seconds
    sent = 0
    with closing(room), watching() as touched:
        while sent < requests or time.monotonic() < end:
            answer = chance.send(visitors[sent % 3])
            assert answer.status_code < 500, (
                answer.request.method,
                answer.request.url,
                answer.text,
            )
            assert "Traceback" not in answer.text[:2000]
            sent += 1
        assert visitors[0].get("/api/look?image=mnist/0").json()["prediction"]["probabilities"]
        assert memory() - before < MOST_MORE
    assert touched
    assert not strays(touched, homes)
    assert not room.sessions.root.exists()


@pytest.mark.parametrize(
    "fault",
    [
        lambda away: (away / "new").write_text("x"),
        lambda away: (away / "old").read_text(),
        lambda away: (away / "old").rename(away / "other"),
        shutil.rmtree,
        lambda away: list(away.iterdir()),
        lambda away: sqlite3.connect(away / "base").close(),
        lambda away: tempfile.NamedTemporaryFile(dir=away).close(),
    ],
)
def test_a_stray_is_seen(tmp_path: Path, fault: Callable[[Path], object]) -> None:
    home, away = tmp_path / "home", tmp_path / "away"
    for place in (home, away):
        place.mkdir()
        (place / "old").write_text("x")

    def seen_here() -> list[Touched]:
        """Leave out what threads of other tests touch meanwhile: all of this process is watched."""
        return [one for one in touched if Path(one.path).is_relative_to(tmp_path.resolve())]

    with watching() as touched:
        (home / "new").write_text("x")
        (home / "new").unlink()
    assert len(seen_here()) == 2
    assert not strays(seen_here(), [home])
    with watching() as touched:
        fault(away)
    assert strays(seen_here(), [home])


def test_a_short_storm(tmp_path: Path) -> None:
    storm(tmp_path, ["lenet5-mnist"], seed=1, requests=200, seconds=0)


@pytest.mark.slow
def test_five_minutes_of_random_requests(tmp_path: Path) -> None:
    models = ["lenet5-mnist", "googlenet-rop"]
    storm(tmp_path, models, seed=int(time.time()), requests=0, seconds=300)
