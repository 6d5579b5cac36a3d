import base64
import hashlib
import re

import numpy as np
from markupsafe import Markup

from ssplain.pages.page import Section, document, page, table
from tests.pages.folder import HOSTILE


def test_text_is_escaped_and_only_markup_is_not() -> None:
    section = Section(HOSTILE, HOSTILE, [HOSTILE], [[HOSTILE], [Markup("<b>bold</b>")]])
    html = page(HOSTILE, HOSTILE, [section])
    assert "<script" not in html
    assert "<img" not in html
    assert "<b>bold</b>" in html


def test_pictures_are_in_the_page() -> None:
    html = page("Pictures", "", [Section("", "", ["image"], [[np.zeros((2, 2, 3), np.uint8)]])])
    assert re.findall(r'src="([^,]*)', html) == ["data:image/png;base64"]


def test_nothing_is_loaded_and_only_the_own_script_runs() -> None:
    script = "let a = 1;"
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    html = document("Title", Markup("<p>body</p>"), script=script)
    assert "default-src 'none'" in html
    assert f"script-src 'sha256-{digest}'" in html
    assert f"<script>{script}</script>" in html
    assert "script-src 'none'" in document("Title", Markup("<p>body</p>"))


def test_numbers_stand_to_the_right() -> None:
    html = table(["a"], [[cell] for cell in ("0.5", "-1e-05", "7 %", "nan", "3 images", "")])
    kinds = re.findall(r'<td class="(\w+)"', html)
    assert kinds == ["number", "number", "number", "text", "text", "text"]
    heads = table(["a", "b", "c"], [["x", "1", "1"], ["y", "2", "\u2013"]])
    assert re.findall(r'<th scope="col" class="(\w+)"', heads) == ["text", "number", "text"]


def test_a_page_needs_nothing_else_and_keeps_lines() -> None:
    picture = np.zeros((2, 2, 3), np.uint8)
    html = page("Title", "note", [Section("A & B", "note", ["one", "two"], [[picture, "<b>\nx"]])])
    assert "A &amp; B" in html
    assert "&lt;b&gt;<br>x" in html
    assert "http:" not in html
    assert "https:" not in html
