"""The whole way of a user for a segmented eye and for a photograph, in a real browser."""

import csv
import io
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from ssplain.desk import Room
from tests.app.conftest import Served, Visit, serving, visiting
from tests.app.grader import grader
from tests.app.test_page import DONE, colours, pixels, settle
from tests.fundus.eyes import painted_eye


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A room with a quick network that grades eyes."""
    home = tmp_path_factory.mktemp("clinic")
    room = Room.furnish([grader(home / "model")], grades=home / "grades.sqlite")
    with serving(room) as found:
        yield found


@pytest.fixture
def patient(clinic: Served, browser: Browser) -> Iterator[Visit]:
    """A visitor of that room."""
    with visiting(clinic, browser) as visitor:
        yield visitor


def compare(page: Page, *others: str) -> None:
    """Run what is chosen and two more explainers."""
    page.get_by_text("Compare with others").click()
    for name in others:
        page.get_by_label(name, exact=True).check()
    page.get_by_role("button", name="Explain").click()
    expect(page.locator(DONE)).to_have_count(1 + len(others))


def paint(page: Page) -> None:
    """Paint across the upper half of the first view."""
    page.locator(".pane canvas").first.scroll_into_view_if_needed()
    box = page.locator(".pane canvas").first.bounding_box()
    assert box is not None
    page.keyboard.press("p")
    x, y = box["x"], box["y"] + box["height"] * 0.3
    page.mouse.move(x + 0.2 * box["width"], y)
    page.mouse.down()
    page.mouse.move(x + 0.8 * box["width"], y, steps=8)
    page.mouse.up()
    expect(page.locator(".side")).to_contain_text("Without this part")


def take_home(page: Page, explainers: list[str]) -> None:
    """Save what the page offers, and look into it."""
    with page.expect_download() as table:
        page.get_by_text("Checks (CSV)").click()
    rows = list(csv.DictReader(io.StringIO(Path(table.value.path()).read_text())))
    assert [row["explainer"] for row in rows] == explainers
    with page.expect_download() as report:
        page.get_by_text("Report in one file").click()
    text = Path(report.value.path()).read_text()
    assert all(name in text for name in explainers)
    with page.expect_download() as arrays:
        page.get_by_text("Arrays (NumPy npz)").click()
    with np.load(arrays.value.path()) as stored:
        assert stored["inside"].any()


def test_a_segmented_eye_from_choice_to_download(patient: Visit) -> None:
    page = patient.open()
    page.locator('a[data-image="rop/1"]').click()
    expect(page.locator(".verdict")).to_contain_text("The model says")
    expect(page.get_by_text("on the scale from 1 (normal)")).to_be_visible()
    page.get_by_text("Settings of SSplain").click()
    page.locator("#set-iterations").fill("3")
    compare(page, "Saliency", "Intensity")
    expect(page.locator(".pane")).to_have_count(4)
    settle(page)
    shown = colours(page, 1)
    page.locator("#share").fill("200")
    settle(page)
    assert 0 < colours(page, 1) < shown

    page.locator("#layer-truth").check()
    page.locator("#layer-quadrants").check()
    expect(page.get_by_role("row", name="Mean tortuosity, 1/px")).to_be_visible()
    page.locator("summary", has_text="Branches").click()
    table = page.get_by_role("region", name="Table of branches")
    # a length of 142 px that is cut off reads as 14
    for width in (400, 800, 1400):
        page.set_viewport_size({"width": width, "height": 900})
        assert table.evaluate("it => it.scrollWidth <= it.clientWidth"), width
    page.locator("summary", has_text="Convergence").click()
    labels = page.locator(".chart text").evaluate_all("all => all.map(it => it.getBBox().x)")
    assert labels
    assert min(labels) >= 0, "the number at an axis begins within the chart"
    # Grisan's index in 1/px is far below 1; length over chord is never below 1
    for name, low, high in (("Tortuosity 1/px", 0, 0.5), ("Arc/chord", 1, 50)):
        at = table.locator("thead th").all_inner_texts().index(name)
        cells = table.locator("tbody tr").evaluate_all(
            f"all => all.map(r => r.cells[{at}].innerText)"
        )
        values = [float(cell) for cell in cells if cell[0].isdigit()]
        assert values
        assert all(low <= value <= high for value in values), name
    table.get_by_role("button").first.click()
    expect(page.locator(".side")).to_contain_text("Without this part")
    page.get_by_role("button", name="Clear").click()
    paint(page)
    take_home(page, ["SSplain-0", "Saliency", "Intensity"])
    page.reload()
    expect(page.locator(".pane")).to_have_count(4)
    expect(page.locator(DONE)).to_have_count(3)


@pytest.mark.slow
def test_a_photograph_from_drop_to_download(patient: Visit, tmp_path: Path) -> None:
    photo = tmp_path / "painted.png"
    Image.fromarray((255 * painted_eye(2, 1).photo).astype(np.uint8)).save(photo)
    page = patient.open()
    page.set_input_files("#file", photo)
    expect(page.get_by_text("Reading this photograph")).to_be_visible()
    expect(page.locator(".verdict")).to_be_visible()  # comes when it is read, without a click
    assert "/result/" in page.url
    expect(page.locator("figcaption", has_text="Vessels")).to_be_visible()
    expect(page.get_by_text("Second opinion, from measured vessels alone")).to_be_visible()
    expect(page.locator(".pane")).to_have_count(3)
    settle(page)
    assert colours(page, 0) > 0
    assert colours(page, 1) == 0, "vessels are grey on black"

    page.locator("#layer-quadrants").check()
    page.get_by_label("Which eye is it?").select_option("left")
    expect(page.get_by_role("columnheader", name="superior nasal")).to_be_visible()
    expect(page.get_by_role("row", name="Grade without it")).to_be_visible()
    page.locator("#layer-quadrants").uncheck()
    compare(page, "Saliency", "Intensity")
    expect(page.locator(".pane")).to_have_count(5)
    settle(page)
    before = pixels(page, 2)
    page.locator("#share").fill("900")
    settle(page)
    assert pixels(page, 2) != before
    paint(page)
    take_home(page, ["SSplain-ranking", "Saliency", "Intensity"])
    page.reload()
    expect(page.locator(".pane")).to_have_count(5)
    expect(page.locator(".verdict")).to_be_visible()


def test_what_is_no_eye_is_refused_with_the_reason(patient: Visit, tmp_path: Path) -> None:
    holiday = tmp_path / "holiday.png"
    Image.new("RGB", (300, 200), (180, 100, 50)).save(holiday)
    page = patient.open()
    page.set_input_files("#file", holiday)
    expect(page.get_by_role("alert")).to_contain_text("holiday.png was refused.")
    expect(page.get_by_role("button", name="Read it again")).to_be_visible()
    page.get_by_role("link", name="Choose another image").click()
    expect(page.locator(".drop")).to_be_visible()


@pytest.mark.slow
@pytest.mark.skipif("SSPLAIN_DATA" not in os.environ, reason="needs the photographs")
def test_a_real_photograph_is_read(visit: Visit) -> None:
    folder = Path(os.environ["SSPLAIN_DATA"]) / "hvdropdb" / "retcam_rgb"
    found = sorted(folder.glob("*")) if folder.is_dir() else []
    if not found:
        pytest.skip("there are no photographs")
    page = visit.open()
    page.set_input_files("#file", found[0])
    expect(page.locator(".verdict")).to_be_visible()
    expect(page.locator(".pane")).to_have_count(3)
    expect(page.locator(DONE)).to_have_count(1)
