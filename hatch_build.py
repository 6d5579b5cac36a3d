"""What a package index shows of this project: the README, with links that work away from here."""

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

# [text](place) and ![text](place), where the place is a file of the project
_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!\w+:|#)([^)\s]+)\)")


def for_index(readme: str, source: str | None, version: str) -> str:
    """Return the README with whole addresses of the files that it links to, at a release's tag.

    Without an address of the source a file cannot be linked to: then its link is left as text,
    and a picture is left out.

    >>> for_index("See [the method](docs/method.md).", "https://example.org/us/it", "1.2.0")
    'See [the method](https://example.org/us/it/blob/v1.2.0/docs/method.md).'
    >>> for_index("See [the method](docs/method.md).", None, "1.2.0")
    'See the method.'
    """

    def whole(link: re.Match[str]) -> str:
        picture, text, place = link.groups()
        if source is None:
            return "" if picture else text
        kind = "raw" if picture else "blob"
        return f"{picture}[{text}]({source.rstrip('/')}/{kind}/v{version}/{place})"

    return re.sub(r"\n{3,}", "\n\n", _LINK.sub(whole, readme))


class IndexReadme(MetadataHookInterface):
    """Puts that README into the metadata of wheel and sdist."""

    def update(self, metadata: dict[str, object]) -> None:
        """Set the readme; `Source` among the project's addresses says where its files are."""
        addresses = metadata.get("urls")
        source = addresses.get("Source") if isinstance(addresses, dict) else None
        readme = Path(self.root, "README.md").read_text(encoding="utf-8")
        text = for_index(readme, source, str(metadata["version"]))
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
