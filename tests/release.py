"""Asks for every link and picture that a package index will show: `make release-check`.

Reads wheel and source distribution as an index reads them. Refuses a release that does not say
where the project lives, or that has a link without an answer.
"""

import email.message
import email.parser
import sys
import tarfile
import urllib.request
import zipfile
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

from readme_renderer import markdown


class Page(HTMLParser):
    """Collects where a page's links and pictures lead, and the places within it."""

    def __init__(self, content: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.pictures: list[str] = []
        self.within: set[str] = set()
        self.places: set[str] = set()
        self.feed(content)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: str(value) for name, value in attrs}
        if "id" in found:
            self.places.add(f"#{found['id']}")
        if tag == "a" and found["href"].startswith("#"):
            self.within.add(found["href"])
        elif tag == "a":
            self.links.append(found["href"])
        elif tag == "img":
            self.pictures.append(found["src"])


def rendered(readme: str) -> Page:
    """Return the page that an index makes of a README, by the renderer of PyPI."""
    content = markdown.render(readme)
    if content is None:
        raise SystemExit("The index would refuse the description: it cannot be rendered.")
    return Page(content)


def described(package: Path) -> email.message.Message:
    """Return what a wheel or a source distribution says of itself."""
    if package.suffix == ".whl":
        with zipfile.ZipFile(package) as wheel:
            name = next(n for n in wheel.namelist() if n.endswith(".dist-info/METADATA"))
            text = wheel.read(name)
    else:
        with tarfile.open(package) as sdist:
            name = next(n for n in sdist.getnames() if n.count("/") == 1 and n.endswith("PKG-INFO"))
            text = sdist.extractfile(name).read()  # type: ignore[union-attr]  # a file, not a folder
    return email.parser.Parser().parsestr(text.decode())


def shown(metadata: email.message.Message) -> list[str]:
    """Return where everything leads that an index shows: project links, links, pictures."""
    page = rendered(str(metadata.get_payload()))
    listed = [str(link).partition(", ")[2] for link in metadata.get_all("Project-URL", [])]
    return list(dict.fromkeys(listed + page.links + page.pictures))


def asked(address: str) -> bytes:
    """Return what is found at an address."""
    if not address.startswith(("https://", "http://")):
        raise SystemExit(f"{address} is not a whole address.")
    request = urllib.request.Request(address, headers={"User-Agent": "ssplain"})  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - see above
            return bytes(answer.read())
    except OSError as error:
        raise SystemExit(
            f"{address} does not answer ({error}). Has the tag been pushed, does `source` in"
            " pyproject.toml name the project, and do links to folders end in a slash?"
        ) from error


def checked(folder: Path) -> Iterator[str]:
    """Yield every address that an index will show of the release in a folder, once it answers."""
    wheel, sdist = (described(next(folder.glob(kind))) for kind in ("*.whl", "*.tar.gz"))
    if "Project-URL" not in wheel:
        raise SystemExit(
            "This release has no links and no pictures: name where the project lives as `source`"
            " under [tool.hatch.metadata.hooks.custom] in pyproject.toml."
        )
    if wheel.as_string() != sdist.as_string():
        raise SystemExit("Wheel and source distribution are described differently.")
    for address in shown(wheel):
        asked(address)
        yield address


if __name__ == "__main__":
    for one in checked(Path(sys.argv[1])):
        print(one)  # noqa: T201
