"""Targets as a user types them."""

import pytest

from ssplain.errors import SSplainError
from ssplain.question.targets import named_target


@pytest.mark.parametrize(
    ("text", "meant"),
    [(None, None), ("posterior", "posterior"), ("7", 7), ("-1", -1), ("fox", 1)],
)
def test_a_target_is_a_number_a_name_or_a_word(text: str | None, meant: int | str | None) -> None:
    assert named_target(text, ("emu", "fox")) == meant


@pytest.mark.parametrize("text", ["²", "--5", "1.0", "", "Fox"])
def test_what_is_no_class_is_told_in_a_sentence(text: str) -> None:
    with pytest.raises(SSplainError, match=r"There is no class .* one of emu, fox, a number"):
        named_target(text, ("emu", "fox"))
    with pytest.raises(SSplainError, match="names of this model's classes are not known"):
        named_target(text)
