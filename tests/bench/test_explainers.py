from itertools import islice

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
