"""All claims that numbers can decide, the paper's and then our own, in the ledger's order."""

from ssplain.claims.claim import Claim
from ssplain.claims.comparisons import FMNIST, MAPS, MNIST, PREDICTED, ROP
from ssplain.claims.ours import RANKINGS, STEADINESS
from ssplain.claims.settings import (
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
