"""The gallery's scripts run, as the site runs them."""

import runpy
import warnings
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

from tests.registers import registers_as_before  # noqa: F401 - a fixture

mpl.use("Agg")
SCRIPTS = sorted((Path(__file__).parents[1] / "examples").glob("plot_*.py"))


@pytest.mark.usefixtures("registers_as_before")
@pytest.mark.parametrize("script", SCRIPTS, ids=[script.stem for script in SCRIPTS])
def test_script_runs(script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        left = runpy.run_path(str(script), run_name="__main__")
    assert left["__doc__"].splitlines()[1].strip("=") == ""  # the heading that the gallery takes
    plt.close("all")
