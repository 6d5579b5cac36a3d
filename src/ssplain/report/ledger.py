"""The ledger as HTML: each claim with its verdict, told by words and signs as well as by colour."""

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from typing import get_args

from ssplain.report.page import fold
from ssplain.report.record import Finding, Verdict

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
_SIGNS = {"holds": "\u2713", "does not hold": "\u2717", "undecided": "?"}
_KINDS = {"holds": "holds", "does not hold": "fails", "undecided": "open"}


def chip(verdict: Verdict) -> str:
    """Return a verdict as a small coloured label.

    >>> chip("does not hold")
    '<span class="chip fails">✗ does not hold</span>'
    """
    return f'<span class="chip {_KINDS[verdict]}">{_SIGNS[verdict]} {verdict}</span>'


def ledger(findings: Sequence[Finding], anchors: Mapping[str, str]) -> str:
    """Return counts, filter buttons and the table of the claims.

    Args:
        findings: in the order to show them.
        anchors: by name of a study, where it is on the page.

    >>> found = Finding(1, "A beats B", "4.4", "A > B", "1 > 0", "holds", "", "mnist", 500)
    >>> "1 hold, 0 do not hold, 0 undecided" in ledger([found], {"mnist": "study-mnist"})
    True
    """
    counts = Counter(finding.verdict for finding in findings)
    rows = "".join(_row(finding, anchors) for finding in findings)
    head = "".join(
        f'<th scope="col">{name}</th>' for name in ("", "verdict", "claim", "measured", "study")
    )
    return (
        f"{_overview(counts)}{_filters(counts)}"
        f'<table class="ledger"><thead><tr>{head}</tr></thead><tbody>\n{rows}</tbody></table>\n'
    )


def claims_of(study: str, findings: Sequence[Finding]) -> str:
    """Return links to the claims that a study speaks to, by verdict; nothing if there are none."""
    groups = []
    for verdict in VERDICTS:
        own = [one for one in findings if (one.study, one.verdict) == (study, verdict)]
        links = ", ".join(
            f'<a href="#claim-{number}" title="{escape(one.claim)}">{number}</a>'
            for one in own
            for number in [escape(str(one.number))]
        )
        groups += [f"<span>{chip(verdict)} {links}</span>"] if own else []
    return f'<p class="claims">Claims: {" ".join(groups)}</p>\n' if groups else ""


def _overview(counts: Mapping[Verdict, int]) -> str:
    total = sum(counts.values())
    shares = "".join(
        f'<i class="{_KINDS[verdict]}" style="flex:{counts[verdict]}"></i>'
        for verdict in VERDICTS
        if counts[verdict]
    )
    hold, fail, undecided = (counts[verdict] for verdict in VERDICTS)
    said = f"Claims checked: {total}; {hold} hold, {fail} do not hold, {undecided} undecided."
    return f'<p><strong>{said}</strong></p><div class="bar" aria-hidden="true">{shares}</div>\n'


def _filters(counts: Mapping[Verdict, int]) -> str:
    """Return one button per verdict; hidden until the script is there to answer them."""
    wanted = [("", "all", sum(counts.values()))]
    wanted += [(verdict, f"{_SIGNS[verdict]} {verdict}", counts[verdict]) for verdict in VERDICTS]
    buttons = "".join(
        f'<button type="button" data-verdict="{verdict}" aria-pressed="{str(not verdict).lower()}">'
        f"{shown} ({count})</button>"
        for verdict, shown, count in wanted
    )
    return f'<div class="filters" role="group" aria-label="Show claims" hidden>{buttons}</div>\n'


def _row(finding: Finding, anchors: Mapping[str, str]) -> str:
    text = {name: escape(str(value)) for name, value in vars(finding).items()}
    study = text["study"]
    if finding.study in anchors:
        study = f'<a href="#{anchors[finding.study]}">{study}</a>'
    why = f"<dt>What to know</dt><dd>{text['why']}</dd>" if finding.why else ""
    # a claim that does not hold is not left at that: why stands open
    more = fold(
        "rule and remarks" if finding.why else "rule",
        f"<dl><dt>Rule</dt><dd>{text['rule']}</dd>{why}</dl>",
        opened=finding.verdict == "does not hold",
    )
    return (
        f'<tr id="claim-{text["number"]}" data-verdict="{finding.verdict}">'
        f'<td class="key">{text["number"]}</td><td class="verdict">{chip(finding.verdict)}</td>'
        f'<td class="said">{text["claim"]} <span class="where">({text["where"]})</span>{more}</td>'
        f'<td class="numbers">{text["measured"]}</td>'
        f"<td class='where'>{study}<br><span>{text['images']} images</span></td></tr>\n"
    )
