"""The page of explained images: exact, small, harmless, and alive without a server."""

import base64
import json
import re
import zlib
from pathlib import Path

import numpy as np
import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from ssplain.cli.explain import explain
from ssplain.data import bundled
from ssplain.errors import SSplainError
from ssplain.pages.examples import SHARES
from ssplain.pages.results import Explained, entries, results_page
from tests.jobs.digits import write_digits

MOST = 3_000_000  # bytes of a page of 20 images
NAMES = ("SSplain-0", "Saliency", "Occlusion")


def drawn(image: np.ndarray, seed: int, title: str = "eye") -> Explained:
    """An image with three maps as rough as can be."""
    rng = np.random.default_rng(seed)
    inside = image > 0 if image.ndim == 2 else image.max(2) > 0
    maps = {name: rng.standard_normal(inside.shape) for name in NAMES}
    return Explained(title, image, inside, maps, {"model says": "Plus (98 %)"})


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=60), st.integers(0, 2**32 - 1), st.floats(0, 1)
)
def test_a_share_marks_its_number_of_the_highest_pixels(
    scores: list[int], seed: int, part: float
) -> None:
    values = np.array(scores, float)[None]
    inside = np.random.default_rng(seed).random(values.shape) <= part
    inside[0, 0] = True
    came = entries(values, inside)
    among = values[inside]
    for at in range(0, len(SHARES), 7):
        marked = came <= at
        assert marked.sum() == round(SHARES[at] * len(among))
        if marked.any() and not marked.all():
            assert among[marked].min() >= among[~marked].max()


def test_twenty_images_take_three_megabytes() -> None:
    eyes = (bundled("rop")[0][:20, 0] * 255).byte().numpy()
    page = results_page("Eyes", [drawn(eye, at) for at, eye in enumerate(eyes)])
    assert len(page.encode()) <= MOST


def test_a_page_that_is_too_large_is_made_coarser() -> None:
    """Noise everywhere is the worst that can come."""
    noise = np.random.default_rng(0).integers(1, 256, (320, 400, 3), np.uint8)
    page = results_page("Noise", [drawn(noise, 0)], most=150_000)
    assert 20_000 < len(page.encode()) <= 150_000


def test_what_is_stored_are_the_maps() -> None:
    image = np.zeros((9, 11), np.uint8)
    image[3:6, 1:10] = 90
    one = drawn(image, 1)
    page = results_page("One", [one])
    data = next(
        found
        for text in re.findall(r'<script type="application/json">(.*?)</script>', page)
        if "run" in (found := json.loads(text))
    )
    run = np.frombuffer(zlib.decompress(base64.b64decode(data["run"])), np.uint8)
    bits = -(-image.size // 8)
    inside = np.unpackbits(run[:bits], count=image.size, bitorder="little").astype(bool)
    np.testing.assert_array_equal(inside.reshape(image.shape), image > 0)
    count = int(inside.sum())
    assert data["inside"] == count
    for at, name in enumerate(data["maps"]):
        plane = run[bits + at * count : bits + (at + 1) * count]
        np.testing.assert_array_equal(plane, entries(one.maps[name], one.inside))
    assert len(run) == bits + 3 * count


def test_no_text_becomes_markup() -> None:
    bad = "</script><img src=x onerror=alert(1)>"
    image = np.full((4, 4), 9, np.uint8)
    one = Explained(bad, image, image > 0, {bad: np.eye(4)}, {bad: bad}, (bad,))
    page = results_page(bad, [one], bad)
    assert "<img src=x" not in page
    outside = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert "<img src=x" not in outside
    assert outside.count("onerror") == outside.count("&lt;img src=x onerror")
    assert not re.search(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//""", page)
    assert "default-src 'none'" in page


def test_explain_writes_a_report(tmp_path: Path) -> None:
    app = typer.Typer()
    app.command()(explain)
    images = write_digits(tmp_path / "in", 2)
    (images / "words.png").write_text("no image")
    words = [str(images), "--model", "lenet5-mnist", "--iterations", "2", "--out"]
    page = tmp_path / "report.html"
    done = CliRunner().invoke(app, [*words, str(tmp_path / "out"), "--report", str(page)])
    assert done.exit_code == 3, done.output
    text = page.read_text()
    assert "00000.png" in text
    assert "2 images are done, 1 failed" in text
    assert "with only the kept pixels" in text
    with pytest.raises(SSplainError, match="--report"):
        CliRunner().invoke(
            app,
            [*words, str(tmp_path / "b"), "--report", str(tmp_path / "no" / "a.html")],
            catch_exceptions=False,
        )
    assert not (tmp_path / "b").exists()
