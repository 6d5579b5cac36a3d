"""The worklist, grades and blind reading in a real browser, and what axe-core says of the pages."""

import csv
import io
from pathlib import Path

import axe_playwright_python
import pytest
from playwright.sync_api import Page, expect

from tests.app.conftest import Visit

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
SERIOUS = {"serious", "critical"}


def sign(page: Page, name: str, *, blind: bool = False) -> None:
    """Write the reader's name, and choose how to read."""
    page.get_by_label("Reader").fill(name)
    page.get_by_label("Reader").blur()
    if blind:
        page.get_by_label("Blind").check()


def test_a_grade_is_kept_listed_and_taken_home(visit: Visit) -> None:
    page = visit.open("/worklist/mnist")
    sign(page, "ada")
    page.get_by_label("Order").select_option("As in the folder")
    first = page.locator("tbody tr").first
    expect(first).to_contain_text("7 (> 99 %)")
    first.get_by_role("link").click()
    expect(page.get_by_role("heading", name="Digit 1", exact=True)).to_be_visible()
    page.keyboard.press("g")
    page.get_by_label("9", exact=True).check()
    page.get_by_label("Note").fill("a long tail")
    page.get_by_role("button", name="Keep my grade").click()
    expect(page.locator(".grading")).to_contain_text("Kept: 9.")
    page.goto(visit.address + "/worklist/mnist?show=disagree&order=place")
    row = page.locator("tbody tr", has_text="Digit 1").first
    expect(row).to_contain_text("you and the model differ")
    expect(row).to_contain_text("a long tail")
    with page.expect_download() as table:
        page.get_by_text("My grades as CSV").click()
    (kept,) = csv.DictReader(io.StringIO(Path(table.value.path()).read_text()))
    assert (kept["reader"], kept["grade"], kept["decision"]) == ("ada", "9", "7")
    assert (kept["blind"], kept["note"]) == ("no", "a long tail")


def test_blind_reading_hides_everything_until_the_grade_is_given(visit: Visit) -> None:
    page = visit.open("/worklist/mnist?order=place")
    sign(page, "blind-reader", blind=True)
    first = page.locator("tbody tr").first
    expect(first).to_contain_text("hidden")
    expect(first).not_to_contain_text("7")
    first.get_by_role("link").click()
    expect(page.locator(".veil")).to_be_visible()
    for hidden in (".verdict", "text=Known to be", "button:has-text('Explain')"):
        expect(page.locator(hidden)).to_be_hidden()
    page.get_by_label("7", exact=True).check()
    page.get_by_role("button", name="Keep my grade").click()
    expect(page.locator(".verdict")).to_contain_text("The model says 7")
    expect(page.locator(".grading")).to_contain_text("You called it 7, before you saw the decision")


def test_next_follows_the_worklist(visit: Visit) -> None:
    page = visit.open("/worklist/mnist?order=probability")
    # the rows come while the model looks at the images
    expect(page.locator("tbody tr")).to_have_count(60)
    expect(page.locator("main p[role=status]")).not_to_contain_text("has still to look")
    names = page.locator("tbody tr a").evaluate_all(
        "all => all.slice(0, 2).map(a => a.dataset.image)"
    )
    assert names != ["mnist/0", "mnist/1"]
    page.locator("tbody tr a").first.click()
    expect(page.locator(".verdict")).to_be_visible()
    page.keyboard.press("n")
    page.wait_for_url(f"**/image/{names[1]}")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("path", ["/", "/worklist/mnist", "/image/rop/0", "/about"])
def test_nothing_serious_stands_in_anybodys_way(visit: Visit, path: str, theme: str) -> None:
    visit.page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
    page = visit.open(path)
    expect(page.locator("main h1")).to_be_visible()
    page.evaluate(AXE)
    found = page.evaluate("() => axe.run()")
    serious = [
        (one["id"], [node["html"][:120] for node in one["nodes"][:3]])
        for one in found["violations"]
        if one["impact"] in SERIOUS
    ]
    assert not serious
    assert len(found["passes"]) > 10
