"""What a package index shows: its own renderer makes the page, and every link on it is whole."""

import importlib.util
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType

import pytest

import ssplain
from tests.release import asked, checked, described, rendered, shown

TOP = Path(__file__).parents[1]
README = (TOP / "README.md").read_text(encoding="utf-8")
SOURCE = "https://example.org/somebody/ssplain"


@pytest.fixture(scope="module")
def hook() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hatch_build", TOP / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextmanager
def source_host(top: Path, version: str) -> Iterator[str]:
    """Serve a folder as GitHub serves a tag: files as blob and raw, folders as tree, no mix-ups."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = re.fullmatch(rf"/us/it/(blob|raw|tree)/v{re.escape(version)}/(.+)", self.path)
            kind, place = found.groups() if found else ("", "")
            body = None
            if kind == "tree" and (top / place).is_dir():
                body = "\n".join(sorted(p.name for p in (top / place).iterdir())).encode()
            elif kind in ("blob", "raw") and (top / place).is_file():
                body = (top / place).read_bytes()
            elif self.path in ("/us/it", "/us/it/issues"):
                body = b"us/it"
            self.send_response(404 if body is None else 200)
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_: object) -> None:
            """Stay quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/us/it"
        finally:
            server.shutdown()


def built(project: Path) -> Path:
    command = [sys.executable, "-m", "build", "--no-isolation", str(project)]
    subprocess.run(command, check=True, capture_output=True)
    return project / "dist"


def little(project: Path, source: str | None, readme: str) -> Path:
    """Pack a little project with our hook, since ours takes long to pack."""
    setting = "" if source is None else f'source = "{source}"\n'
    (project / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        '[project]\nname = "it"\nversion = "1.2.0"\ndynamic = ["readme", "urls"]\n'
        f"[tool.hatch.metadata.hooks.custom]\n{setting}"
        '[tool.hatch.build.targets.wheel]\ninclude = ["README.md"]\n'
        '[tool.hatch.build.targets.sdist]\ninclude = ["README.md"]\n'
    )
    (project / "README.md").write_text(readme)
    (project / "CHANGELOG.md").write_text("# Changelog\n")
    (project / "docs" / "results").mkdir(parents=True)
    shutil.copy(TOP / "hatch_build.py", project)
    return built(project)


def test_with_an_address_all_files_are_found_at_the_tag(hook: ModuleType) -> None:
    page = rendered(hook.for_index(README, f"{SOURCE}/", "ssplain", "1.2.0"))
    assert page.pictures == [
        f"{SOURCE}/raw/v1.2.0/{place}" for place in re.findall(r"!\[.*?\]\((.*?)\)", README)
    ]
    places = re.findall(r"(?<!!)\[[^\]]*\]\((?!\w+:)(.*?)\)", README)
    assert len(places) > 10
    assert page.links == [
        f"{SOURCE}/{'tree' if (TOP / place).is_dir() else 'blob'}/v1.2.0/{place}"
        for place in places
    ]


def test_without_one_nothing_is_broken(hook: ModuleType) -> None:
    page = rendered(hook.for_index(README, None, "ssplain", "1.2.0"))
    assert all(re.match(r"https?://", link) for link in page.links)
    assert page.pictures == []


@pytest.mark.parametrize("source", [None, SOURCE])
def test_who_reads_it_there_has_no_checkout(hook: ModuleType, source: str | None) -> None:
    text = hook.for_index(README, source, "ssplain", "1.2.0")
    assert re.findall(r"`pip install (.*?)`", README) == [".", "'.[app]'"]
    assert re.findall(r"`pip install (.*?)`", text) == ["ssplain", "'ssplain[app]'"]


def test_links_to_elsewhere_stay_as_they_are(hook: ModuleType) -> None:
    kept = "[a](https://example.org/a.md) [b](#b) [c](mailto:c@example.org)"
    for source in (None, SOURCE):
        assert hook.for_index(kept, source, "it", "1.2.0") == kept


def test_links_within_the_page_lead_to_its_headings() -> None:
    page = rendered(f"[there](#read-on)\n\n{README}")
    assert "#user-content-read-on" in page.within
    assert page.within <= page.places


@pytest.mark.parametrize("source", [None, SOURCE])
def test_packages_carry_it(source: str | None, tmp_path: Path) -> None:
    out = little(tmp_path, source, "![p](docs/p.png)\n\n[m](docs/m.md) [d](docs/)\n")
    for package in out.iterdir():
        metadata = described(package)
        page = rendered(str(metadata.get_payload()))
        if source is None:
            assert (page.links, page.pictures, metadata["Project-URL"]) == ([], [], None)
            continue
        assert page.links == [f"{SOURCE}/blob/v1.2.0/docs/m.md", f"{SOURCE}/tree/v1.2.0/docs/"]
        assert page.pictures == [f"{SOURCE}/raw/v1.2.0/docs/p.png"]
        assert metadata.get_all("Project-URL") == [
            f"Source, {SOURCE}",
            f"Documentation, {SOURCE}/blob/v1.2.0/README.md#read-on",
            f"Changelog, {SOURCE}/blob/v1.2.0/CHANGELOG.md",
            f"Issues, {SOURCE}/issues",
        ]


def test_a_release_without_an_address_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="name where the project lives as `source`"):
        list(checked(little(tmp_path, None, "[d](docs/)\n")))


@pytest.mark.parametrize("fault", ["[d](docs/results)", "[m](docs/m.md)", "![p](docs/p.png)"])
def test_a_link_without_an_answer_is_refused(fault: str, tmp_path: Path) -> None:
    """Among them a folder linked to as if it were a file."""
    with source_host(tmp_path, "1.2.0") as source:
        out = little(tmp_path, source, f"[d](docs/results/) [c](CHANGELOG.md)\n\n{fault}\n")
        with pytest.raises(SystemExit, match=r"does not answer \(HTTP Error 404"):
            list(checked(out))


def test_a_link_that_is_not_whole_is_refused() -> None:
    with pytest.raises(SystemExit, match=r"docs/m\.md is not a whole address"):
        asked("docs/m.md")


@pytest.mark.slow
def test_every_link_of_the_real_packages_answers(tmp_path: Path) -> None:
    """All that the repository holds is packed and served; what was only built here is not."""
    listed = subprocess.run(
        ["git", "-C", str(TOP), "ls-files", "-z"],  # noqa: S607 - wherever git is
        check=True,
        capture_output=True,
        text=True,
    )
    for name in listed.stdout.split("\0")[:-1]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(TOP / name, tmp_path / name)
    project = tmp_path / "pyproject.toml"
    with source_host(tmp_path, ssplain.__version__) as source:
        text, named = re.subn(
            r"^#? *source = .*", f'source = "{source}"', project.read_text(), flags=re.MULTILINE
        )
        assert named == 1
        project.write_text(text)
        out = built(tmp_path)
        addresses = list(checked(out))
        metadata = described(next(out.glob("*.whl")))
        assert addresses == shown(metadata)
        tag = f"v{ssplain.__version__}"
        places = set(re.findall(r"\]\((?!\w+:|#)(.*?)\)", README))
        assert {a.partition(f"/{tag}/")[2] for a in addresses if f"/{tag}/" in a} == places | {
            "CHANGELOG.md",
            "README.md#read-on",
        }
        for address in addresses:
            place, _, section = address.partition(f"/{tag}/")[2].partition("#")
            if not place or place.endswith("/"):
                continue
            assert asked(address) == (TOP / place).read_bytes(), address
            if section:
                page = rendered((TOP / place).read_text(encoding="utf-8"))
                assert f"#user-content-{section}" in page.places, address
