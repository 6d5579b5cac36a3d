"""The paper's figures and tables as declared experiments, and the ledger of its claims.

A study is a declaration (`STUDIES`) that one engine runs on a model and images (`Scene`); the
claims of the paper are judged by the values that the studies leave behind.
"""

from ssplain.study.claim import Claim
from ssplain.study.claims import CLAIMS
from ssplain.study.declare import STUDIES, declared
from ssplain.study.engine import run
from ssplain.study.kinds import MapStudy, SanityStudy, StabilityStudy, Study, TimesStudy, Variant
from ssplain.study.ledger import judge, tally, update_ledger
from ssplain.study.reproduce import named, reproduce
from ssplain.study.results import Results, read_results

__all__ = [
    "CLAIMS",
    "STUDIES",
    "Claim",
    "MapStudy",
    "Results",
    "SanityStudy",
    "StabilityStudy",
    "Study",
    "TimesStudy",
    "Variant",
    "declared",
    "judge",
    "named",
    "read_results",
    "reproduce",
    "run",
    "tally",
    "update_ledger",
]
