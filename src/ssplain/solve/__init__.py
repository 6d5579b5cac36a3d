"""Batched ADMM for any list of objective terms and any list of constraints.

    minimise   sum_t w_t f_t(M)   subject to   M in C_1, ..., M in C_p

Knows objectives and constraints, not networks: a `Term` gives a value and a gradient, a
`Constraint` gives a projection.
"""

from ssplain.solve.admm import ADMM, Solution
from ssplain.solve.history import History
from ssplain.solve.problem import CONSTRAINTS, TERMS, Constraint, Term, TotalVariation
from ssplain.solve.queries import ByQueries
from ssplain.solve.sets import Box, ConstantOn, L0Ball, L1Ball

__all__ = [
    "ADMM",
    "CONSTRAINTS",
    "TERMS",
    "Box",
    "ByQueries",
    "ConstantOn",
    "Constraint",
    "History",
    "L0Ball",
    "L1Ball",
    "Solution",
    "Term",
    "TotalVariation",
]
