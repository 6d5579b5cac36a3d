import ast
import sys
from pathlib import Path

import pytest

import ssplain
from ssplain.run import revision as module
from ssplain.run.revision import revision

FILES = {
    "__init__.py": "",
    "method.py": 'import teapot.water\nfrom .cup import size\n\ndef f():\n  """f."""\n  return 1\n',
    "water.py": "heat = 100\n",
    "cup.py": "from . import saucer\nsize = 3\n",
    "saucer.py": "flat = True\n",
    "sugar.py": "lumps = 2\n",
}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "teapot"
    home.mkdir()
    for name, text in FILES.items():
        (home / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "teapot", raising=False)
    return home


def now() -> str:
    revision.cache_clear()
    module._read.cache_clear()
    module._source.cache_clear()
    return revision("teapot.method")


@pytest.mark.parametrize("name", ["method.py", "water.py", "cup.py", "saucer.py", "__init__.py"])
def test_a_change_anywhere_in_what_is_used_is_another_revision(package: Path, name: str) -> None:
    before = now()
    assert now() == before
    (package / name).write_text(FILES[name] + "more = 1\n")
    assert now() != before


def test_words_and_strangers_do_not_count(package: Path) -> None:
    before = now()
    (package / "sugar.py").write_text("lumps = 3\n")
    (package / "cup.py").write_text('"""Say more."""\n# and why\n\n' + FILES["cup.py"])
    assert now() == before


def test_our_explainers_depend_on_what_they_are_made_of() -> None:
    names = set(module._closure("ssplain.rivals.gradient"))
    assert {"ssplain.rivals.gradient", "ssplain.question.protocol", "ssplain.ask.door"} <= names
    assert not any(name.startswith(("ssplain.metrics", "ssplain.cli")) for name in names)
    ours = set(module._closure("ssplain.explain.ssplain"))
    assert {"ssplain.prox.l0", "ssplain.solve.admm"} <= ours
    measured = set(module._closure("ssplain.metrics.evaluation"))
    assert {"ssplain.metrics.curves", "ssplain.vessels.tracing"} <= measured


def test_a_changed_preset_does_not_touch_the_maps_of_other_settings() -> None:
    for name in ("ssplain.explain.ssplain", "ssplain.rivals.gradient"):
        assert "ssplain.explain.presets" not in module._closure(name)


def test_our_packages_only_pass_on_names() -> None:
    """What a revision relies on when it leaves them out."""
    home = Path(ssplain.__file__).parent
    for path in home.glob("*/**/__init__.py"):
        for node in ast.parse(path.read_text()).body:
            names = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
            assert names or isinstance(node, ast.Import | ast.ImportFrom | ast.Expr), path
