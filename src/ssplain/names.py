"""Where each image's result goes: a folder of its own, which no other image ever takes.

Folders follow the relative path: of `p1/od.png` and `p2/od.png` the results are in `p1/od` and
`p2/od`. Each manifest holds the image's path and the SHA-256 of its content, so that a name that is
taken is known as such in any later call.
"""

import os
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from ssplain.errors import SSplainError
from ssplain.files import hash_bytes, hash_file, is_ours, read_manifest, require_free

LONGEST = 100  # bytes of one name; systems take 255, but whole paths have their limits too
# names that Windows keeps for devices, whatever follows the first dot
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])(?=\.|$)")
_FORBIDDEN = re.compile(r'[<>:"/\\|?*]')
_PLAIN = re.compile(rf"\w[\w-]{{0,{LONGEST - 1}}}", re.ASCII)  # most names: nothing to change


@dataclass(frozen=True)
class Source:
    """Where an image came from, as its manifest says under "source".

    Attributes:
        given: the path as it was given, in full.
        path: the same from the root of the file system.
        sha256: of the file's content.
    """

    given: str
    path: str
    sha256: str

    @staticmethod
    def of(path: str | Path) -> "Source":
        """Return the source of an image file.

        >>> Source.of("eye.png")
        Traceback (most recent call last):
            ...
        FileNotFoundError: [Errno 2] No such file or directory: 'eye.png'
        """
        return Source(str(path), os.path.abspath(path), hash_file(path))  # noqa: PTH100 - no links

    def about(self) -> dict[str, str]:
        """Return it as an entry of a manifest; bytes that are no text in a name are escaped."""
        return {name: _text(value) for name, value in vars(self).items()}

    def is_of(self, folder: Path) -> bool:
        """Say whether the result in a folder is of this very image: the same path and content."""
        entry = read_manifest(folder).get("source")
        if not isinstance(entry, dict) or entry.get("sha256") != self.sha256:
            return False
        mine = self.about()
        return entry.get("path") == mine["path"] or entry.get("given") == mine["given"]


def safe_name(text: str) -> str:
    """Return a name for a file or folder that every system takes, the text itself where it can be.

    >>> [safe_name(text) for text in ("od", "..", ".hidden", "a/b:c", "con", "eye. ", "眼底")]
    ['od', 'unnamed', 'hidden', 'a_b_c', 'con_', 'eye', '眼底']
    """
    if _PLAIN.fullmatch(text) and not _RESERVED.match(text):
        return text
    plain = unicodedata.normalize("NFC", _text(text))
    plain = "".join("_" if unicodedata.category(c) in {"Cc", "Cf", "Cs"} else c for c in plain)
    plain = _FORBIDDEN.sub("_", plain).strip(" .").lstrip("-") or "unnamed"
    plain = _RESERVED.sub(r"\1_", plain, count=1) if _RESERVED.match(plain) else plain
    encoded = plain.encode()
    if len(encoded) <= LONGEST:
        return plain
    short = encoded[: LONGEST - 9].decode(errors="ignore").rstrip(" .")
    return f"{short}-{hash_bytes(text)[:8]}"


def common_folder(paths: Sequence[str | Path]) -> Path:
    """Return the innermost folder that holds all the paths, which need not exist.

    >>> common_folder(["scans/p1/od.png", "scans/p2/od.png"]).name
    'scans'
    """
    parents = [os.path.dirname(os.path.abspath(path)) for path in paths]  # noqa: PTH100, PTH120
    try:
        return Path(os.path.commonpath(parents))
    except ValueError:  # no paths, or several drives
        return Path.cwd()


class Folders:
    """Give each image a folder below `home` that is its own, in this call and in later ones.

    The name is the image's path relative to `base`. Where another image has it already, more of
    the image's path is taken, then its suffix, then a part of its hash. Names that differ in case
    only are the same name, as they are on many systems, and no result lies inside another.

    Args:
        home: where results go.
        base: the folder to which names are relative, such as `common_folder` of all images.

    >>> import tempfile
    >>> folders = Folders(Path(tempfile.mkdtemp()), Path("scans"))
    >>> for name in ("scans/p1/od.png", "scans/p2/od.png", "scans/p2/OD.tif"):
    ...     image = Source(name, os.path.abspath(name), hash_bytes(name))
    ...     print(folders.of(image).relative_to(folders.home).as_posix())
    p1/od
    p2/od
    scans/p2/OD
    """

    def __init__(self, home: str | Path, base: str | Path) -> None:
        self.home, self.base = Path(home), Path(os.path.abspath(base))  # noqa: PTH100 - no links
        self._images: dict[str, tuple[str, str]] = {}  # which image has which name in this call
        self._inner: set[str] = set()  # names that have results below them
        self._listed: dict[Path, dict[str, str]] = {}  # what is on the disk, by folded names
        self._above: dict[str, tuple[list[str], int]] = {}  # what `_folders_of` has found

    def of(self, source: Source) -> Path:
        """Return the folder for an image's result; the same one for the same image.

        Raises:
            SSplainError: If a file or folder that is not a result of ours is in the way.
        """
        return self.home / self.name_of(source)

    def name_of(self, source: Source) -> str:
        """Return the name of that folder below `home`, its parts joined by slashes; see `of`."""
        image = (source.path, source.sha256)
        for parts in self._candidates(source):
            name = "/".join(parts)
            key = _fold(name)
            holder = self._images.get(key)
            if holder == image:
                return name
            above = ["/".join(key.split("/")[:i]) for i in range(1, len(parts))]
            nested = key in self._inner or any(one in self._images for one in above)
            if holder is not None or nested or self._taken(parts, source):
                continue
            if _fold(parts[0]) in self._names_in(self.home):  # else there is nothing to look at
                require_free(self.home.joinpath(*parts))
            self._images[key] = image
            self._inner.update(above)
            return name
        raise SSplainError(
            f"There is no free name for {source.given} in {self.home}; give another folder."
        )

    def reserve(self, name: str, source: Source) -> None:
        """Keep a name, relative to `home`, for an image that an earlier call gave it to."""
        key = _fold(name)
        self._images[key] = (source.path, source.sha256)
        parts = key.split("/")
        self._inner.update("/".join(parts[:i]) for i in range(1, len(parts)))

    def _candidates(self, source: Source) -> Iterator[list[str]]:
        """Yield names for an image, the shortest first."""
        parent, name = os.path.split(source.path)
        above, near = self._folders_of(parent)
        folders, stem = above[len(above) - near :], safe_name(_stem(name))
        for count in range(near, len(above) + 1):
            yield [*above[len(above) - count :], stem]
        yield [*folders, safe_name(name)]
        digest = hash_bytes(source.path + source.sha256)
        yield [*folders, safe_name(f"{stem}-{digest[:12]}")]

    def _folders_of(self, parent: str) -> tuple[list[str], int]:
        """Return the folders that lead to an image, as safe names, and how many are below `base`.

        Most images have the same ones: splitting each path anew took a third of a job's planning.
        """
        if parent not in self._above:
            path, base = PurePath(parent), self.base.parts
            parts = path.parts[1:] if path.anchor else path.parts
            near = len(path.parts) - len(base) if path.parts[: len(base)] == base else 0
            self._above[parent] = [safe_name(part) for part in parts], near
        return self._above[parent]

    def _taken(self, parts: list[str], source: Source) -> bool:
        """Say whether the disk has this name for something that is not this image's result."""
        folder = self.home
        for i, part in enumerate(parts):
            there = self._names_in(folder).get(_fold(part))
            if there is None:
                return False
            folder /= there
            last = i == len(parts) - 1
            if there != part and last:
                return True  # differs in case only
            if not last and (is_ours(folder) or not folder.is_dir()):
                return True  # inside another result
        if "source" in read_manifest(folder):
            return not source.is_of(folder)
        # a folder of other results is passed over; what is foreign is for require_free to tell of
        return folder.is_dir() and any(map(is_ours, folder.iterdir()))

    def _names_in(self, folder: Path) -> dict[str, str]:
        """Return the names in a folder, by how they compare; read once."""
        if folder not in self._listed:
            try:
                names = os.listdir(folder)  # noqa: PTH208 - names are wanted, not paths
            except OSError:
                names = []
            self._listed[folder] = {_fold(name): name for name in names}
        return self._listed[folder]


def _stem(name: str) -> str:
    """Return a name without its ending, as `PurePath.stem` does, which takes ten times as long."""
    at = name.rfind(".")
    return name[:at] if 0 < at < len(name) - 1 else name


def _fold(name: str) -> str:
    return unicodedata.normalize("NFC", name.casefold())


def _text(name: str) -> str:
    """Return a name with bytes that are no text shown as such, so that it can be printed."""
    return name.encode("utf-8", "backslashreplace").decode()
