"""The ledger as HTML: each claim with its verdict, told by words and signs as well as by colour."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import get_args

from markupsafe import Markup

from ssplain.pages.page import render
from ssplain.report.record import Judgement, Verdict

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
_LOOKS = {
    "signs": dict(zip(VERDICTS, "\u2713\u2717?\u2013", strict=True)),
    "kinds": dict(zip(VERDICTS, ("holds", "fails", "open", "open"), strict=True)),
}
_SAID = dict(zip(VERDICTS, ("hold", "do not hold", "undecided", "not measured"), strict=True))


def ledger(judgements: Sequence[Judgement], anchors: Mapping[str, str]) -> Markup:
    """Return counts, filter buttons and the table of the claims.

    Args:
        judgements: in the order to show them.
        anchors: by name of a study, where it is on the page.

    >>> found = Judgement(1, "A beats B", "4.4", "A > B", "1 > 0", "holds", "", "mnist", 500)
    >>> "1 hold, 0 do not hold, 0 undecided." in ledger([found], {"mnist": "study-mnist"})
    True
    """
    every = Counter(judgement.verdict for judgement in judgements)
    # what was not measured is an exception, and only spoken of where it occurs
    counts = {v: every[v] for v in VERDICTS if every[v] or v != "not measured"}
    said = ", ".join(f"{count} {_SAID[verdict]}" for verdict, count in counts.items())
    return render(
        "ledger.html", judgements=judgements, anchors=anchors, counts=counts, said=said, **_LOOKS
    )


def claims_of(study: str, judgements: Sequence[Judgement]) -> Markup:
    """Return links to the claims that a study speaks to, by verdict; nothing if there are none."""
    own = [one for one in judgements if one.study == study]
    groups = {v: [one for one in own if one.verdict == v] for v in VERDICTS}
    return render("claims.html", groups={v: ones for v, ones in groups.items() if ones}, **_LOOKS)
