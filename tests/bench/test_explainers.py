from itertools import islice
from typing import Any

import pytest

from ssplain.bench import explainers
from ssplain.bench.explainers import times
from ssplain.explain.registry import method, names


def test_every_explainer_is_measured_against_ssplain() -> None:
    found = list(islice(times("fmnist", "lenet5-fmnist", 1, repeats=2), 9))
    titles = [method(name).title for name in names() if method(name).family != "control"]
    assert [case["explainer"] for case in found] == titles[:9]
    for case in found:
        assert case["images"] == 1
        assert case["calls"] == 2
        assert case["ms_mean"] > 0
        assert case["ms_sd"] >= 0
        assert case["times_ssplain"] > 0


def test_a_set_is_measured_when_its_model_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which sets, and with how many images; the measuring itself is tested above."""
    asked: list[tuple[Any, ...]] = []

    def times(*given: object) -> list[dict[str, object]]:
        asked.append(given)
        return []

    monkeypatch.setattr(explainers, "_against_captum", list)
    monkeypatch.setattr(explainers, "_extremal_in_batch", dict)
    monkeypatch.setattr(explainers, "times", times)
    monkeypatch.setattr(explainers, "BUNDLED", ("lenet5-mnist", "googlenet-rop"))
    list(explainers.cases())
    list(explainers.cases(images=20))
    assert asked == [
        ("mnist", "lenet5-mnist", 100),
        ("rop", "googlenet-rop", 8),
        ("mnist", "lenet5-mnist", 20),
        ("rop", "googlenet-rop", 8),
    ]
