from pathlib import Path
from typing import Any

import pytest

import ssplain.explain
from ssplain.explain import Explainer, make, preset
from tests.cli.command import run


def short(dataset: str) -> dict[str, Any]:
    """Return the paper's settings with as many iterations as a page needs to be drawn."""
    return {**preset(dataset), "iterations": 2}


def short_ranking(name: str, model: Any, dataset: str) -> Explainer:  # noqa: ANN401 - as `make`
    return make(name, model, dataset, iterations=2)


def test_demo_writes_a_page_and_says_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its own iterations the demo runs in the wheel's test, which takes minutes."""
    monkeypatch.setattr(ssplain.explain, "preset", short)
    monkeypatch.setattr(ssplain.explain, "make", short_ranking)
    done = run("demo", "--out", tmp_path / "demo")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "demo" / "index.html").read_text()
    assert str(tmp_path / "demo" / "index.html") in done.stdout
    # ten classes of two data sets with five pictures each, three classes with one more
    assert page.count("data:image/png;base64,") == 2 * 10 * 5 + 3 * 6
    assert page.index("planted disease") < page.index("Ankle boot")
    for dataset in ("rop", "mnist", "fmnist"):
        assert (tmp_path / "demo" / "images" / f"{dataset}-0.png").is_file()
