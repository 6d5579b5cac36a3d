import re

import pytest

from ssplain import metrics
from ssplain.errors import SSplainError


@pytest.mark.parametrize("name", metrics.METRICS)
def test_every_measure_names_a_function_that_exists(name: str) -> None:
    found = metrics.describe(name)
    assert found.name == name
    assert found.reference
    function = re.match(r"\w+", found.call)
    assert function is not None
    assert callable(getattr(metrics, function.group()))


def test_unknown_measures_are_named() -> None:
    with pytest.raises(SSplainError, match="no measure 'accuracy'"):
        metrics.describe("accuracy")
