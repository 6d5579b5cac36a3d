"""Names of the user's in pictures: of any length and script, and nothing else is lost by them."""

from functools import cache

from matplotlib import rcParams
from matplotlib.font_manager import FontProperties, findfont, get_font


def label(text: str, otherwise: str, longest: int = 24) -> str:
    """Return a name as a picture can show it.

    A long one loses its middle, since beginnings and ends tell names apart. One that the font has
    no letters for, such as a Chinese one, is replaced: boxes tell nothing.

    Args:
        text: the name.
        otherwise: what to write instead of one that cannot be drawn.
        longest: how many letters there is room for.

    >>> label("a" * 30 + "-left", "image 1", 12)
    'aaaaaaa…left'
    >>> label("眼底照片", "image 1")
    'image 1'
    """
    plain = " ".join(text.split())
    if not plain or any(not _has(letter) for letter in plain):
        return otherwise
    if len(plain) > longest:
        tail = (longest - 1) * 2 // 5
        plain = f"{plain[: longest - 1 - tail]}…{plain[len(plain) - tail :]}"
    return plain.replace("$", r"\$")  # a formula, to matplotlib


def _has(letter: str) -> bool:
    return ord(letter) in _letters(tuple(rcParams["font.family"]))


@cache
def _letters(family: tuple[str, ...]) -> frozenset[int]:
    font = get_font(findfont(FontProperties(family=list(family))))
    return frozenset(font.get_charmap())
