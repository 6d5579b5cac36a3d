"""Progress on the terminal: one bar for every command that can take a while."""

from collections.abc import Iterator
from contextlib import contextmanager

from ssplain.progress import Progress


@contextmanager
def bar(what: str) -> Iterator[Progress]:
    """Show a bar with the remaining time on a terminal; stay quiet in a pipe.

    Args:
        what: shown until the work tells more.
    """
    from rich import progress as rich
    from rich.console import Console

    console = Console(stderr=True)
    columns = (
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.TaskProgressColumn(),
        rich.TimeRemainingColumn(),
    )
    with rich.Progress(*columns, console=console, disable=not console.is_terminal) as shown:
        task = shown.add_task(what, total=None)

        def show(done: float, total: float, words: str = "") -> None:
            shown.update(task, completed=done, total=total, description=words or what)

        yield show
