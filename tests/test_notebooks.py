"""The notebooks: whole, with outputs that fit a page, and still running as they are written."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
IDS = [path.stem for path in NOTEBOOKS]


def _read(path: Path) -> nbformat.NotebookNode:
    found: nbformat.NotebookNode = nbformat.read(path, 4)  # type: ignore[no-untyped-call]
    return found


def test_there_are_two() -> None:
    assert IDS == ["own-classifier", "simulated-eye"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=IDS)
def test_outputs_are_there(path: Path) -> None:
    cells = [cell for cell in _read(path).cells if cell.cell_type == "code"]
    outputs = [output for cell in cells for output in cell.outputs]
    assert all(cell.execution_count for cell in cells)
    assert not any(output.output_type == "error" for output in outputs)
    assert not any(output.get("name") == "stderr" for output in outputs)
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert path.stat().st_size < 300_000


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=IDS)
def test_it_runs(path: Path) -> None:
    NotebookClient(_read(path), timeout=600, kernel_name="python3").execute()
