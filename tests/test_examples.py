"""The gallery's scripts run, as the site runs them."""

import runpy
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

from ssplain.explain import METHODS
from ssplain.metrics import MEASURES
from ssplain.solve import CONSTRAINTS, TERMS

if TYPE_CHECKING:
    from ssplain.register import Register

mpl.use("Agg")
SCRIPTS = sorted((Path(__file__).parents[1] / "examples").glob("plot_*.py"))


@pytest.fixture(autouse=True)
def registers_as_before() -> Iterator[None]:
    """What a script adds must not be met by the tests after it."""
    registers: list[Register[Any]] = [METHODS, MEASURES, CONSTRAINTS, TERMS]
    before = [set(register) for register in registers]
    yield
    for register, known in zip(registers, before, strict=True):
        for name in set(register) - known:
            register.remove(name)


@pytest.mark.parametrize("script", SCRIPTS, ids=[script.stem for script in SCRIPTS])
def test_script_runs(script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        left = runpy.run_path(str(script), run_name="__main__")
    assert left["__doc__"].splitlines()[1].strip("=") == ""  # the heading that the gallery takes
    plt.close("all")
