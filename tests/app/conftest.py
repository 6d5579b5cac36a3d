"""A room on a free port of this machine, and a real browser to look at it."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import uvicorn
from fastapi import FastAPI
from fastapi.testclient import TestClient
from playwright.sync_api import Browser, Page, expect, sync_playwright

from ssplain.app import create
from ssplain.desk import Room

HOME = "http://127.0.0.1"
CHROMIUM = Path("/usr/bin/chromium")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE = 180_000  # milliseconds: only for what hangs; nothing is judged by the clock


@dataclass(frozen=True)
class Served:
    """A room that answers."""

    room: Room
    app: FastAPI
    address: str


@contextmanager
def serving(room: Room) -> Iterator[Served]:
    """Let a room answer on a free port."""
    app = create(room)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield Served(room, app, f"http://127.0.0.1:{port}")
    server.should_exit = True
    thread.join(30)
    assert not room.sessions.root.exists(), "what users brought must be gone in the end"


@pytest.fixture(scope="module")
def room() -> Iterator[Room]:
    """A room with one model, for those who need no browser."""
    room = Room.furnish(["lenet5-mnist"])
    yield room
    room.close()


@pytest.fixture
def client(room: Room) -> TestClient:
    """A visitor of that room, without a browser."""
    client = TestClient(create(room), base_url=HOME)
    client.get("/")
    return client


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """All tests share one room: sessions are there to keep visitors apart."""
    grades = tmp_path_factory.mktemp("grades") / "grades.sqlite"
    with serving(Room.furnish(grades=grades)) as found:
        yield found


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless Chromium; required by CI, optional elsewhere."""
    if not CHROMIUM.exists():
        if os.environ.get("CI") == "true":
            pytest.fail("There is no chromium; .ci/run must install it.")
        pytest.skip("There is no chromium on this machine.")
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        browser.close()


@dataclass(eq=False)
class Visit:
    """One visitor's page, and everything that went wrong in it."""

    page: Page
    address: str
    faults: list[str]
    asked: list[str]

    def open(self, path: str = "/") -> Page:
        """Go to an address of the room."""
        self.page.goto(self.address + path)
        return self.page


@pytest.fixture
def visit(served: Served, browser: Browser) -> Iterator[Visit]:
    """A visitor of the common room."""
    with visiting(served, browser) as visitor:
        yield visitor


@contextmanager
def visiting(served: Served, browser: Browser) -> Iterator[Visit]:
    """A visitor with an empty browser; no fault may be left in its console."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    context.set_default_timeout(PATIENCE)
    visitor = watched(context.new_page(), served.address)
    yield visitor
    context.close()
    assert not visitor.faults
    assert all(url.startswith((served.address, "blob:", "data:")) for url in visitor.asked)


def watched(page: Page, address: str) -> Visit:
    """Write down what a page complains of and what it asks for."""
    visitor = Visit(page, address, [], [])
    page.on("pageerror", lambda error: visitor.faults.append(str(error)))
    page.on(
        "console",
        lambda told: (
            visitor.faults.append(told.text)
            if told.type == "error" and "status of 4" not in told.text
            else None
        ),
    )
    page.on("request", lambda request: visitor.asked.append(request.url))
    return visitor
