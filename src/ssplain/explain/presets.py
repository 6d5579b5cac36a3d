"""The paper's settings for its three data sets (sections 4.1 and H of its supplement)."""

from typing import Literal, TypedDict

from ssplain.errors import SSplainError


class Preset(TypedDict):
    """The settings that the paper states per data set."""

    budget: float
    norm: Literal["l0", "l1"]
    tv_weight: float
    rho: float
    lr: float
    iterations: int
    start: Literal["intensity"]
    support: Literal["nonzero"]


def _paper(budget: float, tv_weight: float, lr: float, iterations: int) -> Preset:
    return Preset(
        budget=budget,
        norm="l0",
        tv_weight=tv_weight,
        rho=0.01,
        lr=lr,
        iterations=iterations,
        start="intensity",
        support="nonzero",
    )


PRESETS: dict[str, Preset] = {
    "rop": _paper(budget=0.50, tv_weight=1e-5, lr=0.01, iterations=50),
    "mnist": _paper(budget=0.25, tv_weight=1e-3, lr=0.1, iterations=20),
    "fmnist": _paper(budget=0.25, tv_weight=1e-4, lr=0.1, iterations=20),
}


def preset(name: str) -> Preset:
    """Return the paper's settings for a data set, to be passed on to `SSplain`.

    >>> preset("rop")["iterations"]
    50
    """
    if name not in PRESETS:
        raise SSplainError(f"There is no preset {name!r}; choose one of: {', '.join(PRESETS)}.")
    return PRESETS[name].copy()
