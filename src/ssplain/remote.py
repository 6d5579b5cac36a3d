"""What travels to a Dask cluster: a sealed call, which only the worker opens.

A Dask scheduler opens what it is given, and would load PyTorch to do so; sealed, a call is bytes to
it. These bytes go between processes of one job; no file is ever read in this way.
"""

import pickle
from collections.abc import Callable
from typing import Any


def seal(call: Callable[[], Any]) -> bytes:
    """Return a call as bytes.

    >>> from functools import partial
    >>> unseal(perform(seal(partial(pow, 2, 3))))
    8
    """
    return pickle.dumps(call)


def perform(sealed: bytes) -> bytes:
    """Perform a sealed call, in a worker, and return its result sealed."""
    return pickle.dumps(pickle.loads(sealed)())  # noqa: S301 - made by `seal` of the same job


def unseal(sealed: bytes) -> Any:  # noqa: ANN401 - whatever the call returned
    """Return what a sealed call has returned."""
    return pickle.loads(sealed)  # noqa: S301 - made by `perform` of the same job
