import re
from html import escape
from pathlib import Path

import pytest

from ssplain.errors import SSplainError
from ssplain.pages.ledger import claims_of, ledger
from ssplain.report.record import read_ledger, write_ledger
from tests.pages.folder import HOSTILE, judgement

THREE = [
    judgement(1),
    judgement(2, verdict="does not hold", why="Because of the background."),
    judgement(3, verdict="undecided", study="rop"),
    judgement(4),
]


def test_every_claim_is_told_with_its_verdict_in_words() -> None:
    html = ledger(THREE, {"mnist": "study-mnist"})
    assert "Claims checked: 4; 2 hold, 1 do not hold, 1 undecided." in html
    rows = re.findall(r'<tr id="claim-(\d)" data-verdict="([^"]*)">(.*?)</tr>', html, re.DOTALL)
    assert [(int(n), v) for n, v, _ in rows] == [(one.number, one.verdict) for one in THREE]
    for (_, verdict, row), one in zip(rows, THREE, strict=True):
        assert f"{verdict}</span>" in row
        for text in (one.claim, one.where, one.rule, one.measured, one.why):
            assert escape(text) in row
    # what does not hold is open, the rest folded
    assert ["<details open>" in row for *_, row in rows] == [False, True, False, False]


def test_a_filter_says_how_many_it_shows() -> None:
    buttons = re.findall(r'data-verdict="([^"]*)" aria-pressed="(\w+)">([^<]*)<', ledger(THREE, {}))
    assert [(v, p) for v, p, _ in buttons] == [
        ("", "true"),
        ("holds", "false"),
        ("does not hold", "false"),
        ("undecided", "false"),
    ]
    assert [int(text.split("(")[1].rstrip(")")) for *_, text in buttons] == [4, 2, 1, 1]


def test_a_claim_links_to_its_study_if_that_is_there() -> None:
    html = ledger(THREE, {"mnist": "study-mnist"})
    assert html.count('href="#study-mnist"') == 3
    assert '<td class="where">rop<br>' in html


def test_a_study_links_to_its_claims() -> None:
    html = claims_of("mnist", THREE)
    assert re.findall(r"#claim-(\d)", html) == ["1", "4", "2"]
    assert "undecided" not in html
    assert claims_of("fmnist", THREE) == ""


def test_what_was_not_measured_is_spoken_of_where_it_occurs() -> None:
    html = ledger([*THREE, judgement(5, verdict="not measured")], {})
    assert "Claims checked: 5; 2 hold, 1 do not hold, 1 undecided, 1 not measured." in html
    assert "not measured" not in ledger(THREE, {})


def test_text_is_never_markup() -> None:
    names = ("claim", "where", "rule", "measured", "why", "study")
    html = ledger([judgement(1, **dict.fromkeys(names, HOSTILE))], {})
    html += claims_of(HOSTILE, [judgement(claim=HOSTILE, study=HOSTILE)])
    assert "<script" not in html
    assert "<img" not in html


def test_a_verdict_must_be_known(tmp_path: Path) -> None:
    write_ledger(tmp_path, [judgement(verdict="maybe")])
    with pytest.raises(SSplainError, match=r"ledger\.json is broken"):
        read_ledger(tmp_path)
