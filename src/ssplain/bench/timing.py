"""Timing two things in turn, so that a busy machine disturbs both alike."""

import statistics
import time
from collections.abc import Callable

import torch


def seconds(work: Callable[[], object]) -> float:
    """Return how long one call takes.

    >>> seconds(lambda: None) < 1
    True
    """
    started = time.perf_counter()
    work()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter() - started


def in_turn(
    first: Callable[[], object], second: Callable[[], object], repeats: int
) -> tuple[float, float, float]:
    """Time two pieces of work alternately, after one call of each to warm up.

    Returns:
        The median time of each, and the median of the ratios first / second of neighbouring runs.

    >>> len(in_turn(lambda: None, lambda: None, 3))
    3
    """
    first(), second()
    pairs = [(seconds(first), seconds(second)) for _ in range(repeats)]
    ratio = statistics.median(a / b for a, b in pairs)
    return statistics.median(a for a, _ in pairs), statistics.median(b for _, b in pairs), ratio
