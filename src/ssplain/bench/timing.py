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


def in_turn(*works: Callable[[], object], repeats: int) -> list[list[float]]:
    """Time pieces of work alternately, after one call of each to warm up.

    Returns:
        For each piece its times, so that those at the same place were measured close together.

    >>> [len(times) for times in in_turn(lambda: None, lambda: None, repeats=3)]
    [3, 3]
    """
    for work in works:
        work()
    rounds = [[seconds(work) for work in works] for _ in range(repeats)]
    return [list(times) for times in zip(*rounds, strict=True)]


def ratio(first: list[float], second: list[float]) -> float:
    """Return the median ratio of times that were measured close together.

    >>> ratio([2.0, 9.0, 4.0], [1.0, 3.0, 2.0])
    2.0
    """
    return statistics.median(a / b for a, b in zip(first, second, strict=True))
