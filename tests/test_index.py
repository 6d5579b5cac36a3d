"""What a package index shows: its own renderer makes the page, and every link on it is whole."""

import email.parser
import importlib.util
import re
import subprocess
import sys
import zipfile
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType

import pytest
from readme_renderer import markdown

TOP = Path(__file__).parents[1]
SOURCE = "https://example.org/somebody/ssplain"


class Links(HTMLParser):
    """Collects where a page's links and pictures lead."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.pictures: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag == "a" and not str(found["href"]).startswith("#"):
            self.links.append(str(found["href"]))
        if tag == "img":
            self.pictures.append(str(found["src"]))


@pytest.fixture(scope="module")
def hook() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hatch_build", TOP / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rendered(readme: str) -> Links:
    page = markdown.render(readme)
    assert page, "the index would refuse this description"
    return Links(page)


def test_with_an_address_all_files_are_found_at_the_tag(hook: ModuleType) -> None:
    readme = (TOP / "README.md").read_text()
    page = rendered(hook.for_index(readme, f"{SOURCE}/", "1.2.0"))
    pictures = [re.sub(rf"^{SOURCE}/raw/v1\.2\.0/", "", picture) for picture in page.pictures]
    links = [re.sub(rf"^{SOURCE}/blob/v1\.2\.0/", "", link) for link in page.links]
    assert pictures == re.findall(r"!\[.*?\]\((.*?)\)", readme)
    assert sorted(links) == sorted(re.findall(r"(?<!!)\[[^\]]*\]\((.*?)\)", readme))
    assert len(links) > 10
    for place in pictures + links:
        assert "://" in place or (TOP / place.partition("#")[0]).is_file(), place


def test_without_one_nothing_is_broken(hook: ModuleType) -> None:
    page = rendered(hook.for_index((TOP / "README.md").read_text(), None, "1.2.0"))
    assert all(re.match(r"https?://", link) for link in page.links)
    assert page.pictures == []


def test_links_to_elsewhere_stay_as_they_are(hook: ModuleType) -> None:
    kept = "[a](https://example.org/a.md) [b](#b) [c](mailto:c@example.org)"
    for source in (None, SOURCE):
        assert hook.for_index(kept, source, "1.2.0") == kept


@pytest.mark.parametrize("source", [None, SOURCE])
def test_the_wheel_carries_it(source: str | None, tmp_path: Path) -> None:
    """A little project with our hook, since ours takes long to pack."""
    project = (TOP / "pyproject.toml").read_text()
    assert "[tool.hatch.metadata.hooks.custom]" in project
    address = "" if source is None else f'[project.urls]\nSource = "{source}"\n'
    (tmp_path / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        '[project]\nname = "it"\nversion = "1.2.0"\ndynamic = ["readme"]\n'
        f"{address}[tool.hatch.metadata.hooks.custom]\n"
        '[tool.hatch.build.targets.wheel]\ninclude = ["README.md"]\n'
    )
    (tmp_path / "README.md").write_text("![p](docs/p.png)\n\n[m](docs/m.md)\n")
    (tmp_path / "hatch_build.py").write_text((TOP / "hatch_build.py").read_text())
    build = [sys.executable, "-m", "build", "--no-isolation", "--wheel", str(tmp_path)]
    subprocess.run(build, check=True, capture_output=True)
    with zipfile.ZipFile(next((tmp_path / "dist").glob("*.whl"))) as content:
        name = next(n for n in content.namelist() if n.endswith("METADATA"))
        metadata = email.parser.Parser().parsestr(content.read(name).decode())
    page = rendered(str(metadata.get_payload()))
    assert page.pictures == ([] if source is None else [f"{SOURCE}/raw/v1.2.0/docs/p.png"])
    assert page.links == ([] if source is None else [f"{SOURCE}/blob/v1.2.0/docs/m.md"])
    assert metadata["Project-URL"] == (None if source is None else f"Source, {SOURCE}")
