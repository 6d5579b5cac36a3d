"""How long a user waits, in a real browser: `python -m tests.app.timings [TIMES]`.

Measured from the click to what is on the screen, on bundled images: the digit's and the eye's map,
the slider, and "without this branch". Nothing is judged here but told beside its target, since
only an idle machine gives times worth comparing. The first of each (models are loaded) is told
apart from the median of the others. What a busy machine does not change is told, too: the seconds
that the room had a core (without the browser), and how many images went through the network.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright
from torch import nn
from torch.nn.modules.module import register_module_forward_pre_hook

from ssplain.desk import Room
from ssplain.models import GoogLeNet, LeNet5
from tests.app.conftest import CHROMIUM, FLAGS, serving

PATIENCE = 600_000
Cost = tuple[float, ...]  # seconds by the clock, seconds of a core, images
# drawn at the second frame after the change: what the eye sees
_SLIDE = """value => new Promise(done => {
  const slider = document.querySelector("#share");
  const began = performance.now();
  slider.value = value;
  slider.dispatchEvent(new Event("input"));
  requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - began)));
})"""


class Watch:
    """Measures what an action costs."""

    def __init__(self) -> None:
        self.images = 0
        register_module_forward_pre_hook(self._count)

    def _count(self, module: nn.Module, given: Any) -> None:  # noqa: ANN401 - as torch has it
        if isinstance(module, LeNet5 | GoogLeNet):
            self.images += len(given[0])

    def __call__(self, action: Callable[[], object]) -> Cost:
        """Do it, and return what it cost."""
        before = self._now()
        action()
        return tuple(b - a for a, b in zip(before, self._now(), strict=True))

    def _now(self) -> Cost:
        return time.perf_counter(), time.process_time(), self.images


@dataclass(frozen=True)
class Visit:
    """A browser in a room, and what its user does there."""

    page: Page
    address: str
    watch: Watch

    def explain(self, image: str) -> Cost:
        """From the click on Explain until the map is on the page."""
        self.page.goto(f"{self.address}/image/{image}")
        self.page.locator(".verdict").wait_for()

        def act() -> None:
            self.page.get_by_role("button", name="Explain").click()
            self.page.locator(".pane").nth(1).wait_for()

        cost = self.watch(act)
        self.page.locator("progress").wait_for(state="hidden")  # the checks are done, too
        return cost

    def slide(self) -> Cost:
        """Until the slider's new share is drawn, by the browser's own clock; the slowest of ten."""
        seconds: list[float] = []

        def act() -> None:
            seconds.extend(self.page.evaluate(_SLIDE, 100 + 80 * at) / 1000 for at in range(10))

        cost = self.watch(act)
        return (max(seconds), *cost[1:])

    def ask(self, at: int) -> Cost:
        """From the click on a branch until the answer is read."""
        branches = self.page.locator("summary", has_text="Branches")
        branches.evaluate("one => one.parentNode.open = true")
        self.page.get_by_role("button", name="Clear").click()

        def act() -> None:
            self.page.locator(".scroll button").nth(at).click()
            self.page.get_by_text("Without this part").wait_for()

        return self.watch(act)


def told(name: str, target: float, measure: Callable[[int], Cost], times: int) -> None:
    """Measure, and print first and median beside the target."""
    found = [measure(at) for at in range(times + 1)]
    for when, rows in (("first", found[:1]), ("then", found[1:])):
        seconds, core, images = (statistics.median(column) for column in zip(*rows, strict=True))
        sys.stdout.write(
            f"{name:20} {when:5} {seconds:7.3f} s; {core:6.3f} s of a core, {images:3.0f} images "
            f"through the network; target {target:g} s\n"
        )
        sys.stdout.flush()


def main(times: int) -> None:
    """Serve a room, open a browser, measure."""
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        with serving(Room.furnish(grades=Path(home) / "grades.sqlite")) as served:
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.set_default_timeout(PATIENCE)
            visit = Visit(page, served.address, Watch())
            told("digit explained", 2.0, lambda at: visit.explain(f"mnist/{at}"), times)
            told("slider, digit", 0.1, lambda _: visit.slide(), times)
            told("eye explained", 12.0, lambda at: visit.explain(f"rop/{at}"), times)
            told("slider, eye", 0.1, lambda _: visit.slide(), times)
            told("without this branch", 1.0, visit.ask, times)
        browser.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
