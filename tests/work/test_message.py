"""Nothing is pickled by us: tasks travel by name and settings, results as text."""

import ast
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import ssplain
from ssplain.errors import SSplainError
from ssplain.work.explaining import Explaining
from ssplain.work.message import Batch, Outcome, Worked
from ssplain.work.task import Item, describe, revive
from ssplain.work.worker import code_of, perform
from tests.jobs.poison import Poison, write_files

HOME = Path(ssplain.__file__).parent


def test_no_file_of_ours_imports_pickle() -> None:
    for path in HOME.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            names = [alias.name for alias in getattr(node, "names", []) if hasattr(alias, "name")]
            module = getattr(node, "module", None) or ""
            forbidden = {"pickle", "cloudpickle", "dill", "marshal", "shelve"}
            if isinstance(node, ast.Import | ast.ImportFrom):
                assert not forbidden & {*names, module.partition(".")[0]}, path


def test_a_scheduler_that_looks_at_a_call_needs_no_torch() -> None:
    code = "import sys, ssplain.work.worker as w; w.perform; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("name", ["eye.png", "Auge π.png", "bytes \udcff.png", 'quote ".png'])
def test_what_travels_comes_back_as_it_was(name: str) -> None:
    item = Item(7, f"/{name}", name, "ab", 2, "3", "p1/eye")
    task = Explaining("lenet5-mnist", budget=0.1, mean=(0.5, 0.4), std=(0.2,), fill="mean")
    batch = Batch(task, (item, Item(8, "/b.png")), "/out", "code", 16)
    assert Batch.read(batch.written()) == batch
    assert hash(Batch.read(batch.written()).task) == hash(task)
    numbers = {"probabilities": [0.25, 0.75], "resized": True, "probability": 1e-9}
    worked = Worked((Outcome(item, None, numbers, 10, 0.5), Outcome(item, f"/{name} is bad.")), 4)
    assert Worked.read(worked.written()) == worked


def test_a_worker_works_and_complains_in_text(tmp_path: Path) -> None:
    files = write_files(tmp_path / "in", a="good", b="odd")
    items = tuple(Item(i, str(path), where=path.stem) for i, path in enumerate(files.iterdir()))
    batch = Batch(Poison(), items, str(tmp_path / "out"), code_of(Poison()))
    found = {one.item.where: one for one in Worked.read(perform(batch.written())).outcomes}
    numbers = found["a"].numbers
    assert (numbers["size"], numbers["together"]) == (6, 1)
    assert (tmp_path / "out" / "a" / "a.txt").read_bytes() == b"done"
    assert "It is odd" in str(found["b"].error)
    stopped = Batch(Poison(), items, str(files / "a.png"), code_of(Poison()))
    with pytest.raises(SSplainError, match="cannot be written"):
        Worked.read(perform(stopped.written()))


def test_only_registered_tasks_are_made() -> None:
    @dataclass(frozen=True)
    class Stranger(Poison):
        name = "stranger"

    with pytest.raises(SSplainError, match="no task 'stranger'"):
        describe(Stranger())
    evil: dict[str, Any] = {"task": "os:system", "fields": {"command": "true"}}
    with pytest.raises(SSplainError, match="no task 'os:system'"):
        revive(evil)
    with pytest.raises(SSplainError, match="does not know the job's task"):
        revive({"task": "explain", "fields": {"models": "lenet5-mnist"}})
