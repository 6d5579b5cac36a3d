"""The ledger: what was found about each claim, from the values that the studies have left."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, fields
from pathlib import Path

import torch

from ssplain.claims.catalogue import CLAIMS
from ssplain.claims.claim import Claim
from ssplain.claims.verdicts import MISSING, OPEN, Judged
from ssplain.files import write_whole
from ssplain.report.record import RECORD, Judgement, write_ledger
from ssplain.study.results import VALUES, Results, UnmeasuredError, read_results
from ssplain.study.tables import csv_text

TABLE = "ledger.csv"


def judge(claims: Iterable[Claim], results: Mapping[str, Results]) -> list[Judgement]:
    """Judge the claims whose study has been run; the others are left out.

    A claim keeps its number whatever has been run. One that needs what its study has not measured,
    such as the times on a data set without a model, is listed as "not measured". Where a class has
    a single image, which cannot be drawn again otherwise, intervals are too narrow and nothing is
    decided.

    Args:
        claims: in the order of the ledger.
        results: by study.
    """
    judgements = []
    for number, claim in enumerate(claims, start=1):
        found = results.get(claim.study)
        if found is None:
            continue
        try:
            judged = claim.test.judge(found)
        except UnmeasuredError as error:
            judged = Judged(str(error), MISSING)
        if judged.verdict != MISSING and _too_few(found):
            judged = Judged(f"{judged.measured} Too few images: a class has only one.", OPEN)
        judgements.append(
            Judgement(
                number=number,
                claim=claim.text,
                where=claim.where,
                rule=claim.test.rule,
                measured=judged.measured,
                verdict=judged.verdict,
                why=claim.why,
                study=claim.study,
                images=found.images,
            )
        )
    return judgements


def _too_few(results: Results) -> bool:
    """Whether an explainer was measured on images of which one is alone in its class."""
    return any(
        int(torch.unique(one.labels, return_counts=True)[1].min()) == 1
        for by_title in results.found.values()
        for one in by_title.values()
    )


def update_ledger(home: Path) -> list[Judgement]:
    """Judge all claims by the finished studies of a folder; write ledger.json and ledger.csv."""
    folders = [path.parent for path in sorted(home.glob(f"*/{RECORD}"))]
    results = {f.name: read_results(f, f.name) for f in folders if (f / VALUES).exists()}
    judgements = judge(CLAIMS, results)
    write_ledger(home, judgements)
    columns = [field.name for field in fields(Judgement)]
    write_whole(home / TABLE, csv_text(columns, map(astuple, judgements)).encode())
    return judgements


def tally(judgements: Sequence[Judgement]) -> str:
    """Say how many claims hold, and how many wait for a study.

    >>> tally([]).endswith("left out, their studies have not been run.")
    True
    """
    counts = Counter(judgement.verdict for judgement in judgements)
    parts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
    rest = len(CLAIMS) - len(judgements)
    waiting = f"{rest} are left out, their studies have not been run." if rest else ""
    return (
        f"{len(judgements)} of {len(CLAIMS)} claims looked at: {parts or 'none'}. {waiting}".strip()
    )
