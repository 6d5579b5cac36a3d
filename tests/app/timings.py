"""How long a user waits, in a real browser: `python -m tests.app.timings [TIMES]`.

Measured from the click to what is on the screen, on bundled images: the digit's and the eye's map,
the slider, and "without this branch". Nothing is judged here but told beside its target, since
only an idle machine gives times worth comparing. The first of each (models are loaded) is told
apart from the median of the others.
"""

import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import uvicorn
from playwright.sync_api import Page, sync_playwright

from ssplain.app import create
from ssplain.desk import Room
from tests.app.conftest import CHROMIUM, FLAGS

PATIENCE = 600_000
# drawn at the second frame after the change: what the eye sees
_SLIDE = """value => new Promise(done => {
  const slider = document.querySelector("#share");
  const began = performance.now();
  slider.value = value;
  slider.dispatchEvent(new Event("input"));
  requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - began)));
})"""


def explained(page: Page, address: str, image: str) -> float:
    """Seconds from the click on Explain until the map is on the page."""
    page.goto(f"{address}/image/{image}")
    page.locator(".verdict").wait_for()
    began = time.perf_counter()
    page.get_by_role("button", name="Explain").click()
    page.locator(".pane").nth(1).wait_for()
    return time.perf_counter() - began


def slid(page: Page) -> float:
    """Seconds until the slider's new share is drawn; the slowest of ten."""
    return max(float(page.evaluate(_SLIDE, 100 + 80 * at)) for at in range(10)) / 1000


def asked(page: Page, at: int) -> float:
    """Seconds from the click on a branch until the answer is read."""
    page.locator("summary", has_text="Branches").evaluate("one => one.parentNode.open = true")
    page.get_by_role("button", name="Clear").click()
    began = time.perf_counter()
    page.locator(".scroll button").nth(at).click()
    page.get_by_text("Without this part").wait_for()
    return time.perf_counter() - began


def told(name: str, target: float, measure: Callable[[int], float], times: int) -> None:
    """Measure, and print first, median and target in seconds."""
    first, *others = [measure(at) for at in range(times + 1)]
    then = statistics.median(others)
    sys.stdout.write(f"{name:24} first {first:7.3f} s, then {then:7.3f} s; target {target:g} s\n")


def main(times: int) -> None:
    """Serve a room, open a browser, measure."""
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        room = Room.furnish(grades=Path(home) / "grades.sqlite")
        server = uvicorn.Server(uvicorn.Config(create(room), port=0, log_level="error"))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.02)
        address = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(PATIENCE)
        told("digit explained", 2.0, lambda at: explained(page, address, f"mnist/{at}"), times)
        told("slider, digit", 0.1, lambda _: slid(page), times)
        told("eye explained", 12.0, lambda at: explained(page, address, f"rop/{at}"), times)
        told("slider, eye", 0.1, lambda _: slid(page), times)
        told("without this branch", 1.0, lambda at: asked(page, at), times)
        browser.close()
        server.should_exit = True
        thread.join(60)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
