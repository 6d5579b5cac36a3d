"""All claims of the paper that numbers can decide, in the order of the ledger."""

from ssplain.study.claim import Claim
from ssplain.study.claims_comparisons import FMNIST, MAPS, MNIST, PREDICTED, ROP
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
)
