"""For tests that run pages and scripts, which may add explainers, measures and the like."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from ssplain.data.bundled import DATASETS
from ssplain.explain import METHODS
from ssplain.metrics import MEASURES
from ssplain.models.registered import MODELS
from ssplain.solve import CONSTRAINTS, TERMS

if TYPE_CHECKING:
    from ssplain.register import Register


@pytest.fixture
def registers_as_before() -> Iterator[None]:
    """Take out again what is added: the tests that follow must not meet it."""
    registers: list[Register[Any]] = [METHODS, MEASURES, CONSTRAINTS, TERMS, DATASETS, MODELS]
    before = [set(register) for register in registers]
    yield
    for register, known in zip(registers, before, strict=True):
        for name in set(register) - known:
            register.remove(name)
