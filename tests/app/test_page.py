"""The whole way of a user, in a real browser."""

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.app.conftest import Served, Visit, watched
from tests.app.hostile import picture

DONE = ".check .numbers"


def explain(page: Page, *others: str) -> None:
    """Choose explainers beside SSplain, and run."""
    if others:
        page.get_by_text("Compare with others").click()
    for name in others:
        page.get_by_label(name, exact=True).check()
    page.get_by_role("button", name="Explain").click()
    expect(page.locator(".pane")).to_have_count(2 + len(others))
    expect(page.locator(DONE)).to_have_count(1 + len(others))


PIXELS = """canvas => {
  const {width, height} = canvas;
  const {data} = canvas.getContext("2d").getImageData(0, 0, width, height);
  let coloured = 0, sum = 7;
  for (let i = 0; i < data.length; i += 4) {
    const [r, g, b] = data.subarray(i, i + 3);
    if (Math.max(r, g, b) - Math.min(r, g, b) > 40) coloured++;
    sum = (sum * 31 + r + 3 * g + 7 * b) % 1000003;
  }
  return [coloured, sum];
}"""


def pixels(page: Page, pane: int) -> tuple[int, int]:
    """How many coloured (not grey) pixels a view shows, and a sum that changes with any of them."""
    coloured, total = page.locator(".pane canvas").nth(pane).evaluate(PIXELS)
    return coloured, total


def colours(page: Page, pane: int) -> int:
    """How many coloured pixels a view shows."""
    return pixels(page, pane)[0]


def settle(page: Page) -> None:
    """Let the page draw what it was told."""
    page.evaluate(
        "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )


def test_a_digit_from_choice_to_download(visit: Visit, tmp_path: Path) -> None:
    page = visit.open()
    page.locator('a[data-image="mnist/0"]').click()
    expect(page.locator(".verdict")).to_contain_text("The model says 7")
    assert colours(page, 0) == 0
    explain(page, "Saliency", "Intensity")
    assert "/result/" in page.url
    settle(page)
    shown = colours(page, 1)
    assert shown > 0

    page.locator("#share").fill("300")  # 9 % of the drawn pixels instead of 25 %
    settle(page)
    assert 0 < colours(page, 1) < 0.6 * shown
    expect(page.locator("output")).to_contain_text("9.0 % of the drawn pixels: 10 of 116")

    page.keyboard.press("m")
    settle(page)
    assert colours(page, 1) == 0
    page.keyboard.press("m")
    settle(page)
    assert colours(page, 1) > 0

    canvas = page.locator(".pane canvas").first
    box = canvas.bounding_box()
    assert box is not None
    page.keyboard.press("p")
    x, y = box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.35
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y + box["height"] * 0.3, steps=5)
    page.mouse.up()
    expect(page.locator(".side")).to_contain_text("Without this part")

    with page.expect_download() as arrays:
        page.get_by_text("Arrays (NumPy npz)").click()
    with np.load(arrays.value.path()) as stored:
        assert stored["ssplain-0/scores"].shape == (1, 28, 28)
    with page.expect_download() as table:
        page.get_by_text("Checks (CSV)").click()
    rows = list(csv.DictReader(io.StringIO(Path(table.value.path()).read_text())))
    assert [row["explainer"] for row in rows] == ["SSplain-0", "Saliency", "Intensity"]
    with page.expect_download() as views:
        page.get_by_text("Picture of the views (PNG)").click()
    views.value.save_as(tmp_path / "views.png")
    assert (tmp_path / "views.png").read_bytes()[:4] == b"\x89PNG"

    page.reload()
    expect(page.locator(".pane")).to_have_count(4)
    expect(page.locator(DONE)).to_have_count(3)
    page.goto(visit.address)
    expect(page.get_by_role("heading", name="Your results")).to_be_visible()


def test_zoom_and_pan_move_all_views(visit: Visit) -> None:
    page = visit.open("/image/mnist/0")
    explain(page)
    views = page.locator(".pane canvas")
    settle(page)
    before = [pixels(page, i) for i in range(2)]
    box = views.nth(0).bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 0.7, box["y"] + box["height"] * 0.3)
    page.mouse.wheel(0, -600)
    page.mouse.move(0, 0)
    settle(page)
    after = [pixels(page, i) for i in range(2)]
    assert after[0] != before[0]
    assert after[1] != before[1]
    page.keyboard.press("0")
    settle(page)
    assert [pixels(page, i) for i in range(2)] == before


def test_a_bad_file_is_told_and_a_good_one_is_read(visit: Visit, tmp_path: Path) -> None:
    page = visit.open()
    bad = tmp_path / "notes.png"
    bad.write_text("no image at all")
    page.set_input_files("#file", bad)
    expect(page.get_by_role("alert")).to_contain_text("notes.png is not an image")
    good = tmp_path / "one.png"
    good.write_bytes(picture())
    page.set_input_files("#file", good)
    expect(page.get_by_role("heading", name="one.png")).to_be_visible()
    expect(page.locator(".verdict")).to_contain_text("The model says 1")


def test_two_browsers_keep_their_own(served: Served, browser: Browser) -> None:
    contexts = [browser.new_context() for _ in range(2)]
    visitors = [watched(context.new_page(), served.address) for context in contexts]
    for at, visitor in enumerate(visitors):
        visitor.open(f"/image/mnist/{at}")
        visitor.page.get_by_role("button", name="Explain").click()
    for visitor in visitors:
        expect(visitor.page.locator(DONE)).to_have_count(1, timeout=180_000)
    addresses = [visitor.page.url for visitor in visitors]
    visitors[0].page.goto(addresses[1])
    expect(visitors[0].page.get_by_role("heading", name="This did not work")).to_be_visible()
    visitors[0].page.goto(addresses[0])
    expect(visitors[0].page.get_by_role("heading", name="Digit 1")).to_be_visible()
    visitors[1].page.reload()
    expect(visitors[1].page.get_by_role("heading", name="Digit 2")).to_be_visible()
    for context, visitor in zip(contexts, visitors, strict=True):
        context.close()
        assert not visitor.faults


def test_work_goes_on_when_the_page_is_closed(visit: Visit) -> None:
    page = visit.open("/image/mnist/3")
    page.get_by_role("button", name="Explain").click()
    page.wait_for_url("**/result/*")
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    expect(page.locator(DONE)).to_have_count(1)


@pytest.mark.parametrize("path", ["/image/nowhere/0", "/result/" + "0" * 32, "/image/mnist/99999"])
def test_a_wrong_address_is_told(visit: Visit, path: str) -> None:
    page = visit.open(path)
    expect(page.locator(".fault").first).to_be_visible()
    expect(page.locator("main a").first).to_be_visible()
