"""A name for code that changes when what it does may have changed."""

import ast
import hashlib
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple


@cache
def revision(*modules: str) -> str:
    """Return a hash of modules' code with all that they import from their own packages or ours.

    Comments, docstrings and layout do not count, so a better explanation does not make old results
    worthless; everything else does. What other packages bring is not looked into; torch goes by
    its version.

    Args:
        modules: their full names, such as "ssplain.rivals.gradient".

    >>> revision("ssplain.prox.l0") == revision("ssplain.prox.l0")
    True
    >>> revision("ssplain.prox.l0") == revision("ssplain.prox.l1")
    False
    """
    if modules[0].partition(".")[0] == "torch":
        return version("torch")
    digest = hashlib.sha256(" ".join(modules).encode())
    found = {name: path for module in modules for name, path in _closure(module).items()}
    for name, path in sorted(found.items()):
        digest.update(f"{name}\n{_read(path).meaning}\n".encode())
    return digest.hexdigest()[:16]


def _closure(module: str) -> dict[str, Path]:
    """Return the source of a module and of all it needs, by module."""
    packages = {module.partition(".")[0], "ssplain"}
    found: dict[str, Path] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        path = _source(name)
        # our own front door shows everything and needs nothing
        if name in found or path is None or name == "ssplain":
            continue
        found[name] = path
        names = _imported(path, name, packages)
        # a package runs before its modules do; ours only pass on names, so what else is in a room,
        # such as its presets, does not count for one explainer in it
        above = name.rpartition(".")[0]
        if above and not above.startswith("ssplain."):
            names.append(above)
        waiting += [other for other in names if other.partition(".")[0] in packages]
    return found


@cache
def _source(name: str) -> Path | None:
    try:
        spec = find_spec(name)
    except (ImportError, ValueError):
        return None
    origin = None if spec is None else spec.origin
    return Path(origin) if origin and origin.endswith(".py") else None


def _imported(path: Path, module: str, packages: set[str]) -> list[str]:
    """Return the modules that a file imports, or imports from."""
    home = module if path.name == "__init__.py" else module.rpartition(".")[0]
    names = []
    for node in _read(path).imports:
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        else:
            parts = home.split(".")
            above = ".".join(parts[: len(parts) - node.level + 1]) if node.level else ""
            base = ".".join(filter(None, (above, node.module)))
            names.append(base)
            source = _source(base) if base.partition(".")[0] in packages else None
            if source is not None and source.name == "__init__.py":
                # what is imported from a package may be a module of its own
                names += [f"{base}.{alias.name}" for alias in node.names]
    return names


class _Read(NamedTuple):
    """A file's import statements, and its syntax without its docstrings."""

    imports: list[ast.Import | ast.ImportFrom]
    meaning: str


@cache
def _read(path: Path) -> _Read:
    tree = ast.parse(path.read_bytes())
    imports: list[ast.Import | ast.ImportFrom] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            imports.append(node)
        body = getattr(node, "body", None)
        if not isinstance(body, list) or not body:
            continue
        first = body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            node.body = body[1:]  # type: ignore[attr-defined]
    return _Read(imports, ast.dump(tree))
