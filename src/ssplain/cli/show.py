"""What commands print: tables on the terminal."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from ssplain.explain import Explanation


def table(
    rows: Sequence[tuple[str, Explanation, Sequence[float]]], classes: Sequence[str] | None
) -> None:
    """Print one line per image: opinion, target, what the mask keeps, and what that does."""
    shown = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("image", "prediction", "target"):
        shown.add_column(column, no_wrap=True)
    for column in ("p whole", "kept", "p only mask", "p without"):
        shown.add_column(column, justify="right", no_wrap=True)
    for name, result, (only, without) in rows:
        target = int(result.target[0])
        shown.add_row(
            name,
            _name(int(result.prediction[0]), classes),
            _name(target, classes),
            f"{float(result.probabilities[0, target]):.3f}",
            f"{float(result.kept_share[0]):.1%}",
            f"{only:.3f}",
            f"{without:.3f}",
        )
    # in a pipe there is no width to fit into; on a terminal, rich asks for it
    console = Console()
    if not console.is_terminal:
        console = Console(width=200)
    console.print(shown)


def _name(index: int, classes: Sequence[str] | None) -> str:
    if classes is None or classes[index] == str(index):
        return str(index)
    return f"{index} {classes[index]}"
