"""Checking settings, with a sentence that says what works, and putting them on record."""

from torch import Tensor

from ssplain.errors import SSplainError


def require(
    name: str,
    value: float,
    *,
    least: float | None = None,
    above: float | None = None,
    whole: bool = False,
) -> None:
    """Complain unless a setting is a number in its range.

    >>> require("lr", 0.1, above=0)
    >>> require("samples", 0.5, least=2, whole=True)
    Traceback (most recent call last):
        ...
    ssplain.errors.SSplainError: samples=0.5 does not work; give a whole number of at least 2.
    """
    kinds = int if whole else (int, float)
    right = isinstance(value, kinds) and not isinstance(value, bool) and value == value  # noqa: PLR0124
    if right and (least is None or value >= least) and (above is None or value > above):
        return
    bound = f"of at least {least}" if least is not None else f"above {above}"
    raise SSplainError(f"{name}={value!r} does not work; give a {'whole ' * whole}number {bound}.")


def describe(setting: object) -> object:
    """Return a setting in a form that JSON can hold.

    >>> describe("nonzero"), describe(abs)
    ('nonzero', 'function abs')
    """
    if isinstance(setting, Tensor):
        return f"tensor {tuple(setting.shape)}"
    if callable(setting):
        return f"function {getattr(setting, '__qualname__', type(setting).__qualname__)}"
    return setting
