"""All claims that numbers can decide, the paper's and then our own, in the ledger's order."""

from ssplain.study.claim import Claim
from ssplain.study.claims_comparisons import FMNIST, MAPS, MNIST, PREDICTED, ROP
from ssplain.study.claims_ours import RANKINGS, STEADINESS
from ssplain.study.claims_settings import (
    ABLATION,
    BUDGETS,
    EXTREMAL_CLAIMS,
    NORMS,
    SANITY,
    START,
    TIMES,
)

CLAIMS: tuple[Claim, ...] = (
    *ROP,
    *SANITY,
    *MNIST,
    *FMNIST,
    *MAPS,
    *ABLATION,
    *BUDGETS,
    *NORMS,
    *EXTREMAL_CLAIMS,
    *START,
    *PREDICTED,
    *TIMES,
    *RANKINGS,
    *STEADINESS,
)
