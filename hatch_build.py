"""What a package index shows of this project: links and a README that work away from here."""

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

# [text](place) and ![text](place), where the place is a file or folder of the project
_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!\w+:|#)([^)\s]+)\)")
# `pip install .` and `pip install '.[app]'`, which need a checkout
_INSTALL = re.compile(r"(pip install '?)\.(?=[`\[])")


def address(source: str, version: str, place: str, *, picture: bool = False) -> str:
    """Return where GitHub shows a file or folder of the project at a release's tag.

    A folder is told by the slash at its end, not by looking: a wheel is built from the source
    distribution, which does not hold all that the README links to.

    >>> address("https://example.org/us/it", "1.2.0", "docs/method.md")
    'https://example.org/us/it/blob/v1.2.0/docs/method.md'
    >>> address("https://example.org/us/it", "1.2.0", "docs/results/")
    'https://example.org/us/it/tree/v1.2.0/docs/results/'
    """
    kind = "raw" if picture else "tree" if place.endswith("/") else "blob"
    return f"{source.rstrip('/')}/{kind}/v{version}/{place}"


def project_links(source: str, version: str) -> dict[str, str]:
    """Return what an index lists beside the page, under names that it knows.

    >>> project_links("https://example.org/us/it", "1.2.0")["Changelog"]
    'https://example.org/us/it/blob/v1.2.0/CHANGELOG.md'
    """
    return {
        "Source": source,
        "Documentation": address(source, version, "README.md#read-on"),
        "Changelog": address(source, version, "CHANGELOG.md"),
        "Issues": f"{source.rstrip('/')}/issues",
    }


def for_index(readme: str, source: str | None, name: str, version: str) -> str:
    """Return the README with whole addresses of what it links to, for readers without a checkout.

    Without an address of the source a file cannot be linked to: then its link is left as text,
    and a picture is left out.

    >>> for_index("[How](docs/how.md): `pip install .`", "https://example.org/us/it", "it", "1.2.0")
    '[How](https://example.org/us/it/blob/v1.2.0/docs/how.md): `pip install it`'
    >>> for_index("[How](docs/how.md): `pip install .`", None, "it", "1.2.0")
    'How: `pip install it`'
    """

    def whole(link: re.Match[str]) -> str:
        picture, text, place = link.groups()
        if source is None:
            return "" if picture else text
        return f"{picture}[{text}]({address(source, version, place, picture=bool(picture))})"

    text = _INSTALL.sub(rf"\g<1>{name}", _LINK.sub(whole, readme))
    return re.sub(r"\n{3,}", "\n\n", text)


class IndexPage(MetadataHookInterface):
    """Puts links and README into the metadata of wheel and sdist."""

    def update(self, metadata: dict[str, object]) -> None:
        """Set both from `source`, the hook's one setting in pyproject.toml, if it is there."""
        source = self.config.get("source")
        name, version = str(metadata["name"]), str(metadata["version"])
        readme = Path(self.root, "README.md").read_text(encoding="utf-8")
        text = for_index(readme, source, name, version)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        metadata["urls"] = {} if source is None else project_links(source, version)
