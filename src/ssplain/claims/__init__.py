"""The claims of the paper and our own, and the ledger that judges them by what the studies left."""

from ssplain.claims.catalogue import CLAIMS
from ssplain.claims.claim import Claim
from ssplain.claims.ledger import judge, tally, update_ledger

__all__ = ["CLAIMS", "Claim", "judge", "tally", "update_ledger"]
