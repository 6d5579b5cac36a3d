"""Puts one small fault at a time into the code and asks whether the tests notice: `make mutants`.

A random sample of faults over the rooms that hold the mathematics and the verdicts is tried, each
in a process of its own that imports the changed module in place of the real one; no file is
changed. First the tests of the module are run, then those of its room and of what is built on it.
Results are added to a file
line by line, so a stopped run goes on, and what survives can be looked at.
"""

import argparse
import ast
import copy
import importlib.abc
import importlib.util
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

HOME = Path(__file__).resolve().parents[1]
ROOMS = ("prox", "solve", "question", "explain", "metrics", "study", "claims")
# modules whose tests do not bear their name
TESTS = {
    "prox": ["prox"],
    "solve": ["solve", "explain/test_textbook.py"],
    "question/checks": ["explain/test_bad_input.py"],
    "question/inputs": ["question/test_inputs.py", "explain/test_ssplain.py"],
    "question/protocol": ["explain/test_registry.py", "explain/test_bad_input.py"],
    "explain/presets": ["explain/test_registry.py"],
    "question/targets": ["question/test_targets.py", "explain/test_bad_input.py"],
    "explain/starts": ["explain/test_ssplain.py", "explain/test_objectives.py"],
    "metrics/measure": ["metrics/test_measures.py", "metrics/test_evaluation.py"],
    "claims/claim": ["claims/test_catalogue.py"],
    "claims/catalogue": ["claims/test_catalogue.py", "claims/test_ledger.py"],
    "claims/comparisons": ["claims/test_catalogue.py"],
    "claims/ours": ["claims/test_catalogue.py"],
    "claims/settings": ["claims/test_catalogue.py"],
    "study/kinds": ["study/test_declare.py"],
    "study/style": ["study/test_pictures.py"],
    "study/work": ["study/test_engine.py"],
    "study/exhibits": ["study/test_engine.py"],
}
# what is built on a room and tested elsewhere
ABOVE = {
    "prox": ["explain/test_stable.py"],
    "explain": ["test_requests.py"],
    "metrics": ["test_requests.py"],
    "study": ["claims"],
}
COMPARE = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
ARITHMETIC = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}


class Sites(ast.NodeVisitor):
    """Gathers the places where a fault can be put; texts, types and messages are no such places."""

    def __init__(self) -> None:
        self.found: list[ast.AST] = []

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr | ast.Import | ast.ImportFrom):
            return
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return  # a docstring
        if isinstance(node, ast.Subscript) and _is_type(node):
            return
        if mutations(node):
            self.found.append(node)
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "bases", "type_params"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    self.visit(child)


def _is_type(node: ast.Subscript) -> bool:
    name = node.value
    return isinstance(name, ast.Name) and (name.id[:1].isupper() or name.id in ("tuple", "dict"))


def mutations(node: ast.AST) -> list[dict[str, Any]]:  # noqa: C901, PLR0911 - one line per fault
    """Return the faults that can be put at a place, as new values of the node's fields."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARE:
        return [{"ops": [COMPARE[type(node.ops[0])]()]}]
    if isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in ARITHMETIC:
        return [{"op": ARITHMETIC[type(node.op)]()}]
    if isinstance(node, ast.BoolOp):
        return [{"op": ast.Or() if isinstance(node.op, ast.And) else ast.And()}]
    if isinstance(node, ast.IfExp):
        return [{"body": node.orelse, "orelse": node.body}]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub | ast.Invert):
        return [{"op": ast.UAdd()}] if isinstance(node.op, ast.USub) else []
    if isinstance(node, ast.Constant):
        value = node.value
        if isinstance(value, bool):
            return [{"value": not value}]
        if isinstance(value, int):
            return [{"value": value + 1}]
        if isinstance(value, float):
            return [{"value": value * 2 if value else 1.0}]
        if isinstance(value, str) and value.isidentifier():  # a name, not a sentence
            return [{"value": f"{value}_"}]
    return []


def sample(count: int, seed: int) -> Iterator[tuple[str, int]]:
    """Yield modules and the number of a place in each, drawn at random without repetition."""
    places = []
    for room in ROOMS:
        for path in sorted((HOME / "src/ssplain" / room).glob("*.py")):
            if path.name == "__init__.py":
                continue
            sites = Sites()
            sites.visit(ast.parse(path.read_text()))
            places += [(f"{room}/{path.stem}", at) for at in range(len(sites.found))]
    yield from random.Random(seed).sample(places, min(count, len(places)))  # noqa: S311


def mutate(module: str, at: int) -> tuple[ast.Module, str]:
    """Return the syntax of a module with a fault, and the fault in words."""
    tree = ast.parse((HOME / f"src/ssplain/{module}.py").read_text())
    sites = Sites()
    sites.visit(tree)
    node = sites.found[at]
    before = ast.unparse(node)
    for name, value in mutations(node)[0].items():
        setattr(node, name, copy.deepcopy(value))
    ast.fix_missing_locations(tree)
    line = getattr(node, "lineno", 0)
    return tree, f"src/ssplain/{module}.py:{line}: {before} -> {ast.unparse(node)}"


class Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives out one module with a fault in it, and leaves all others to the usual way."""

    def __init__(self, name: str, path: Path, tree: ast.Module) -> None:
        self.name, self.path, self.tree = name, path, tree

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        if name != self.name:
            return None
        return importlib.util.spec_from_file_location(name, self.path, loader=self)

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self.tree, self.path, "exec"), module.__dict__)  # noqa: S102


def tests_of(module: str) -> list[list[str]]:
    """Return the tests of a module, then those of its room and of what is built on it."""
    room, name = module.split("/")
    own = TESTS.get(module) or TESTS.get(room) or [f"{room}/test_{name}.py"]
    paths = [HOME / "tests" / one for one in own]
    first = [str(path) for path in paths if path.exists()]
    wider = [str(HOME / "tests" / one) for one in (room, *ABOVE.get(room, ()))]
    return [first, wider]


def attempt(module: str, tree: ast.Module, tests: list[str]) -> int:
    """Run tests with a changed module, in this process; return pytest's exit code."""
    import pytest  # noqa: PLC0415 - in the child only

    path = HOME / f"src/ssplain/{module}.py"
    name = f"ssplain.{module.replace('/', '.')}"
    sys.meta_path.insert(0, Changed(name, path, tree))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(1, 2)
    options = ["-x", "-q", "-p", "no:cacheprovider", "-o", "addopts=--import-mode=importlib"]
    return int(pytest.main([*options, "-m", "not slow", "--rootdir", str(HOME), *tests]))


def survives(module: str, tree: ast.Module, tests: list[str], limit: float) -> str:
    """Say what becomes of a fault: killed, survived or timeout."""
    child = os.fork()
    if child == 0:
        os.setsid()
        try:
            os._exit(attempt(module, tree, tests))
        except BaseException:  # noqa: BLE001 - a fault may break anything
            os._exit(1)
    end = time.monotonic() + limit
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return "survived" if os.waitstatus_to_exitcode(status) in (0, 5) else "killed"
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "timeout"


def preload() -> None:
    """Import what is slow to import, and nothing of ours, so that each child starts at once."""
    for name in (
        "captum.attr",
        "matplotlib.figure",
        "networkx",
        "pytest",
        "safetensors.torch",
        "scipy.ndimage",
        "scipy.sparse.csgraph",
        "scipy.stats",
        "skimage.feature",
        "skimage.metrics",
        "sklearn.linear_model",
        "torch",
    ):
        importlib.import_module(name)


def main() -> None:
    """Try the sample, adding to what is known, and print the survivors."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--count", type=int, default=300)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--limit", type=float, default=240.0, help="seconds for one run of tests")
    options.add_argument("--part", default="0/1", help="of several that run side by side")
    options.add_argument("--out", type=Path, default=HOME / "out/mutants.jsonl")
    given = options.parse_args()
    given.out.parent.mkdir(parents=True, exist_ok=True)
    lines = given.out.read_text().splitlines() if given.out.exists() else []
    known = {(one["module"], one["at"]): one for one in map(json.loads, lines)}
    mine, parts = map(int, given.part.split("/"))
    chosen = list(sample(given.count, given.seed))
    preload()
    unchanged = ast.parse((HOME / "src/ssplain/prox/l1.py").read_text())
    if survives("prox/l1", unchanged, tests_of("prox/l1")[0], given.limit) != "survived":
        sys.exit("The tests fail without any fault; mend them first.")
    for number, (module, at) in enumerate(chosen):
        if number % parts != mine or (module, at) in known:
            continue
        tree, fault = mutate(module, at)
        for tests in tests_of(module):
            fate = survives(module, tree, tests, given.limit) if tests else "survived"
            if fate != "survived":
                break
        one = {"module": module, "at": at, "fault": fault, "fate": fate, "tests": tests}
        with given.out.open("a") as file:
            file.write(json.dumps(one) + "\n")
        known[module, at] = one
        print(f"{fate}: {fault}", flush=True)  # noqa: T201
    done = [known[place] for place in chosen if place in known]
    fates = Counter(one["fate"] for one in done)
    dead = fates["killed"] + fates["timeout"]
    print(f"{dead} of {len(done)} noticed ({dead / max(1, len(done)):.1%}); {dict(fates)}")  # noqa: T201


if __name__ == "__main__":
    main()
