"""Pictures of the room for docs/reading-room.md: `python -m tests.app.screenshots [FOLDER]`.

A digit, a simulated eye and a made-up photograph, each explained, at two widths, light and dark.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from ssplain.desk import Room
from tests.app.conftest import CHROMIUM, FLAGS, serving
from tests.fundus.eyes import painted_eye

FOLDER = Path(__file__).parents[2] / "docs" / "images" / "room"
SIZES = {800: 1000, 1900: 1100}  # width: height
PATIENCE = 600_000


def shoot(page: Page, name: str, folder: Path) -> None:
    """Take the four pictures of what the page shows, when all is there."""
    page.locator("progress").wait_for(state="hidden")
    page.locator(".pane").nth(1).wait_for()
    for width, height in SIZES.items():
        for theme in ("light", "dark"):
            page.set_viewport_size({"width": width, "height": height})
            page.emulate_media(color_scheme=theme)
            page.reload()
            page.locator(".pane").nth(1).wait_for()
            page.wait_for_load_state("networkidle")
            page.wait_for_timeout(500)  # the canvases draw when they know their size
            path = folder / f"{name}-{width}-{theme}.jpg"
            page.screenshot(path=path, type="jpeg", quality=72)


def main(folder: Path) -> None:
    """Serve a room, explain three images in it, and take their pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        photograph = Path(home) / "photograph.png"
        Image.fromarray((255 * painted_eye(label=2).photo).astype(np.uint8)).save(photograph)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        with serving(Room.furnish(grades=Path(home) / "grades.sqlite")) as served:
            page = browser.new_page()
            page.set_default_timeout(PATIENCE)
            for name, image in (("digit", "mnist/4"), ("eye", "rop/1")):
                page.goto(f"{served.address}/image/{image}")
                page.get_by_role("button", name="Explain").click()
                page.locator(".pane").nth(1).wait_for()
                shoot(page, name, folder)
            page.goto(served.address)
            page.set_input_files("#file", photograph)  # read without a click
            page.locator(".pane").nth(1).wait_for()
            shoot(page, "photograph", folder)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
