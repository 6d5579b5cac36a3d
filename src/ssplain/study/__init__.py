"""The paper's figures and tables as declared experiments.

A study is a declaration (`STUDIES`) that one engine runs on a model and images (`Scene`). The
values that it leaves behind decide the paper's claims (`ssplain.claims`).
"""

from ssplain.study.declare import STUDIES, declared
from ssplain.study.engine import run
from ssplain.study.kinds import MapStudy, SanityStudy, StabilityStudy, Study, TimesStudy, Variant
from ssplain.study.reproduce import named, reproduce
from ssplain.study.results import Results, read_results

__all__ = [
    "STUDIES",
    "MapStudy",
    "Results",
    "SanityStudy",
    "StabilityStudy",
    "Study",
    "TimesStudy",
    "Variant",
    "declared",
    "named",
    "read_results",
    "reproduce",
    "run",
]
