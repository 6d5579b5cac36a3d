"""How long work tells where it stands: one call, from the solver to the terminal."""

from typing import Protocol


class Progress(Protocol):
    """Whoever wants to know. It is called often and must return soon; it may raise to stop."""

    def __call__(self, done: float, total: float, what: str = "", /) -> None:
        """Take notice of what is done of the whole, and in words what is being done."""
        ...


def portion(
    progress: Progress | None, start: float, size: float, total: float, what: str = ""
) -> Progress | None:
    """Return what tells the whole's progress when a portion of it tells its own.

    Args:
        progress: of the whole; None if nobody listens.
        start: what is done of the whole before the portion begins.
        size: of the portion.
        total: of the whole.
        what: words for the portion; its own words go before these.

    >>> half = portion(lambda done, total, what="": print(done, total, what), 5, 5, 10, "maps")
    >>> half(1, 2)
    7.5 10 maps
    """
    if progress is None:
        return None
    told = progress

    def tell(done: float, of: float, words: str = "") -> None:
        told(start + size * done / max(of, 1e-12), total, words or what)

    return tell
