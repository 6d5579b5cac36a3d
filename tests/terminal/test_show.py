"""Tables on narrow terminals: names give way, numbers never."""

import pytest
from rich.console import Console

from ssplain.terminal.show import results_table

NAMES = ("patients/0001/left-eye-of-the-second-visit", "患者一/左眼的照片/第二次检查的结果")
NUMBERS = ("0.987", "25.0%", "0.654", "0.321")


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("name", NAMES)
def test_numbers_are_never_cut(width: int, name: str) -> None:
    table = results_table(("image", "prediction"), ("p whole", "kept", "p only mask", "p without"))
    table.add_row(name, "3 a class of a very long name indeed", *NUMBERS)
    console = Console(width=width, record=True, file=None, quiet=False, force_terminal=False)
    with console.capture() as captured:
        console.print(table)
    text = captured.get()
    for number in NUMBERS:
        assert number in text
    for header in ("p whole", "kept", "p only mask", "p without"):
        assert header in text
    assert "…" not in text
    # the name is all there, folded
    column = "".join(line.split("  ")[0].strip() for line in text.splitlines()[1:])
    assert name in column
