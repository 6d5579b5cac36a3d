import base64
import json
import os
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
import torch

from ssplain.errors import SSplainError
from ssplain.metrics import rank_pixels
from ssplain.pages import studies_page
from ssplain.pages.examples import FIRST, SHARES, read_examples
from ssplain.report import top_view
from ssplain.report.record import Exhibit, write_record
from tests.pages.folder import HOSTILE, NAMES, record, write_studies


class Tags(HTMLParser):
    """Gathers the elements of a page; an element that is not closed in order is a mistake."""

    EMPTY = frozenset({"meta", "img", "br", "input"})

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def values(self, attribute: str) -> list[str]:
        """Return all values of an attribute."""
        return [str(attrs[attribute]) for _, attrs in self.found if attribute in attrs]


def test_the_page_shows_all_that_is_in_the_folder(tmp_path: Path) -> None:
    html = studies_page(write_studies(tmp_path))
    figure = base64.b64encode((tmp_path / "mnist" / "curves.png").read_bytes()).decode()
    table = base64.b64encode((tmp_path / "mnist" / "measures.csv").read_bytes()).decode()
    assert f"data:image/png;base64,{figure}" in html
    assert f"data:text/csv;base64,{table}" in html
    for text in ("Explainers on digits", "Figure 5", "4 images", "1.2 min", "Mean curves"):
        assert text in html
    assert "{&#34;absolute&#34;: true}" in html  # settings
    assert "4; 2 hold" in html
    assert "insertion\u00a0\u2191" in html  # headline numbers
    assert "not for diagnosis" in html


def test_the_page_is_whole_and_needs_nothing_else(tmp_path: Path) -> None:
    html = studies_page(write_studies(tmp_path))
    tags = Tags(html)
    for address in tags.values("src") + tags.values("href"):
        assert address.startswith(("data:", "#"))
    ids = tags.values("id")
    assert len(ids) == len(set(ids))
    links = {address[1:] for address in tags.values("href") if address.startswith("#")}
    assert links <= set(ids)
    assert {"summary", "ledger", "study-mnist", "study-mnist-maps"} <= links
    assert not re.search(r"https?://|@import|url\(", html)


def test_the_same_folder_gives_the_same_page(tmp_path: Path) -> None:
    first = studies_page(write_studies(tmp_path / "one"))
    assert studies_page(write_studies(tmp_path / "two")) == first


def test_text_from_files_is_never_markup(tmp_path: Path) -> None:
    write_studies(
        tmp_path,
        name=HOSTILE,
        title=HOSTILE,
        where=HOSTILE,
        dataset=HOSTILE,
        settings={HOSTILE: HOSTILE},
        manifest={HOSTILE: [HOSTILE]},
        figures=(Exhibit("curves.png", HOSTILE),),
        tables=(Exhibit("measures.csv", HOSTILE),),
    )
    (tmp_path / "mnist" / "measures.csv").write_text(
        f"explainer,measure,value,low,high,{HOSTILE}\n{HOSTILE},insertion,1,1,1,{HOSTILE}\n"
    )
    path = tmp_path / "mnist" / "examples.npz"
    with np.load(path) as stored:
        arrays = dict(stored)
    arrays["titles"], arrays["names"] = (np.array([HOSTILE] * n) for n in (2, 3))
    np.savez(path, **arrays)
    html = studies_page(tmp_path)
    assert HOSTILE not in html
    tags = Tags(html)
    scripts = [attrs.get("type") for tag, attrs in tags.found if tag == "script"]
    assert scripts == ["application/json", "application/json", None]  # maps, colours, the own one
    assert not tags.values("onerror")


@pytest.mark.parametrize("part", ["figures", "tables", "examples"])
@pytest.mark.parametrize("name", ["../secret.txt", "/etc/hostname", "link.png"])
def test_only_files_of_the_study_are_shown(tmp_path: Path, part: str, name: str) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    value = name if part == "examples" else (Exhibit(name, "caption"),)
    write_studies(tmp_path, **{part: value})
    (tmp_path / "mnist" / "link.png").symlink_to(tmp_path / "secret.txt")
    with pytest.raises(SSplainError, match=r"record\.json names '.*', which is not inside"):
        studies_page(tmp_path)


def test_a_missing_or_wrong_figure_is_named(tmp_path: Path) -> None:
    write_studies(tmp_path)
    (tmp_path / "mnist" / "curves.png").write_bytes(b"no picture")
    with pytest.raises(SSplainError, match=r"'curves\.png' is no PNG; run its study again"):
        studies_page(tmp_path)
    (tmp_path / "mnist" / "curves.png").unlink()
    with pytest.raises(SSplainError, match=r"'curves\.png', which cannot be read .*run the study"):
        studies_page(tmp_path)


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"figures": [], "tables": [], "more": 1}'])
def test_a_broken_record_is_named(tmp_path: Path, text: str) -> None:
    write_studies(tmp_path)
    (tmp_path / "mnist" / "record.json").write_text(text)
    with pytest.raises(SSplainError, match=r"record\.json is broken; run the study again"):
        studies_page(tmp_path)


def test_studies_come_by_data_set_and_comparisons_first(tmp_path: Path) -> None:
    write_studies(tmp_path)
    for name, dataset in (("fmnist", "fmnist"), ("ablation", "mnist"), ("times", "mnist, fmnist")):
        bare = record(name=name, dataset=dataset, figures=(), tables=(), examples=None)
        write_record(tmp_path / name, bare)
    html = studies_page(tmp_path)
    order = re.findall(r'<section id="study-([^"]*)"', html)
    assert order == ["mnist", "ablation", "fmnist", "times"]
    assert "MNIST, Fashion-MNIST" in html


def test_a_long_table_is_cut_and_says_so(tmp_path: Path) -> None:
    write_studies(tmp_path)
    lines = "".join(f"line {i}\n" for i in range(250))
    (tmp_path / "mnist" / "measures.csv").write_text(f"name\n{lines}")
    html = studies_page(tmp_path)
    assert "line 199<" in html
    assert "line 200<" not in html
    assert "50 more lines are in the file." in html
    assert "Headline numbers" not in html


CHROMIUM = shutil.which("chromium")
LOOK = """<pre id="seen"></pre><script>
const pictures = [...document.querySelectorAll("img.later")];
const put = pictures.filter((picture) => !picture.src).length; // not looked at yet
document.querySelector(".viewer").scrollIntoView();
const canvas = document.querySelectorAll(".maps canvas")[2];
const slider = document.querySelector(".viewer input[type=range]");
const read = () => [...canvas.getContext("2d").getImageData(0, 0, 28, 28).data];
const wait = setInterval(() => {
  if (!canvas.hasAttribute("aria-label")) return;
  clearInterval(wait);
  const seen = [read(), canvas.getAttribute("aria-label")];
  document.querySelector(".view input[value=all]").click();
  slider.value = 120;
  slider.dispatchEvent(new Event("input"));
  seen.push(read(), slider.getAttribute("aria-valuetext"));
  document.querySelector("[data-verdict=undecided]").click();
  const rows = [...document.querySelectorAll(".ledger tbody tr")];
  const visible = () => rows.filter((row) => row.checkVisibility()).map((row) => row.id);
  seen.push(visible());
  addEventListener("hashchange", () => {
    seen.push(visible());
    dispatchEvent(new Event("beforeprint"));
    seen.push(put, pictures.filter((picture) => picture.src).length);
    document.querySelector("#seen").textContent = JSON.stringify(seen);
  });
  location.hash = "#claim-1";
}, 20);
</script></body>"""


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_a_browser_draws_what_the_figures_show(tmp_path: Path) -> None:
    html = studies_page(write_studies(tmp_path / "studies"))
    # a script of the test's own has to be let in
    html = re.sub(r"<meta http-equiv[^>]*>", "", html).replace("</body>", LOOK)
    (tmp_path / "page.html").write_text(html)
    address = (tmp_path / "page.html").as_uri()
    flags = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking"
    flags += " --disable-component-update --disable-sync --virtual-time-budget=20000 --dump-dom"
    done = subprocess.run(
        [str(CHROMIUM), *flags.split(), f"--user-data-dir={tmp_path / 'profile'}", address],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "HOME": str(tmp_path)},
    )
    seen = re.search(r'<pre id="seen">(.*?)</pre>', done.stdout)
    assert seen, done.stderr
    first, label, second, said, filtered, linked, later, printed = json.loads(seen[1])
    assert (later, printed) == (1, 1), "a picture is loaded when it is looked at or printed"
    examples = read_examples(tmp_path / "studies" / "mnist" / "examples.npz")
    image = torch.from_numpy(examples.images[0])[None] / 255
    scores = torch.from_numpy(examples.scores[:1, 1:2])
    for drawn, among, at in ((first, image[None] > 0, FIRST), (second, None, 120)):
        rank = rank_pixels(scores, among).rank
        top = (rank < round(SHARES[at] * 784)).view(1, 28, 28)
        colours = np.array(drawn).reshape(28, 28, 4)[..., :3]
        np.testing.assert_array_equal(colours, top_view(image, top))
    assert label == f"{NAMES[1]}: 5 % of all pixels: 39 of 784"
    assert said == f"{100 * SHARES[120]:g} % of all pixels: {round(SHARES[120] * 784)} of 784"
    assert filtered == ["claim-3"]
    assert linked == [f"claim-{i}" for i in range(1, 5)]  # the link's target was filtered out
