"""A figure to draw on."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def empty_figure(width: float, height: float) -> "Figure":
    """Return a figure of so many inches, whose parts make room for each other.

    >>> empty_figure(4, 3).get_size_inches().tolist()
    [4.0, 3.0]
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 - half a second, which pictures can save

    return Figure(figsize=(width, height), layout="constrained")
