import json

import pytest

from ssplain.bench import vessels


def test_cases_are_ratios_that_json_can_write(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vessels, "ROUNDS", 1)
    found = [json.loads(json.dumps(case)) for case in vessels.cases()]
    assert len({case["case"] for case in found}) == 4
    for case in found:
        assert case["ratio_to_thinning"] > 0
        assert case["branches"] > 30
