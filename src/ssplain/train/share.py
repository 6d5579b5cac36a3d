"""A share of few images says little: how far the true one may be from it."""

from collections.abc import Sequence
from math import sqrt

from scipy.stats import binomtest

Range = tuple[float, float]


def share_range(right: int, total: int) -> Range:
    """Return the 95 % interval of a share (Wilson, 1927).

    >>> low, high = share_range(19, 20)
    >>> f"{low:.1%} to {high:.1%}"
    '76.4% to 99.1%'
    """
    found = binomtest(right, total).proportion_ci(method="wilson")
    return float(found.low), float(found.high)


def mean_share_range(right: Sequence[int], totals: Sequence[int]) -> Range:
    r"""Return the 95 % interval of the mean of several shares, such as balanced accuracy.

    From the intervals \((l_i, u_i)\) of the shares \(p_i\) the limits of their mean are
    \(\bar p - \frac1n\sqrt{\sum (p_i - l_i)^2}\) and \(\bar p + \frac1n\sqrt{\sum (u_i - p_i)^2}\)
    (Zou and Donner, Statistics in Medicine 27, 2008); unlike a bootstrap it has a width where all
    are right.

    >>> low, high = mean_share_range([10, 10, 10], [10, 10, 10])
    >>> f"{low:.1%} to {high:.1%}"
    '84.0% to 100.0%'
    """
    shares = [r / n for r, n in zip(right, totals, strict=True)]
    ranges = [share_range(r, n) for r, n in zip(right, totals, strict=True)]
    count, mean = len(shares), sum(shares) / len(shares)
    below = sqrt(sum((p - low) ** 2 for p, (low, _) in zip(shares, ranges, strict=True)))
    above = sqrt(sum((high - p) ** 2 for p, (_, high) in zip(shares, ranges, strict=True)))
    return max(0.0, mean - below / count), min(1.0, mean + above / count)


def said(share: float, limits: Range, total: int) -> str:
    """Return a share with its interval, in words.

    >>> said(0.95, (0.764, 0.991), 20)
    '95.0% of 20 (95 % interval 76.4% to 99.1%)'
    """
    return f"{share:.1%} of {total} (95 % interval {limits[0]:.1%} to {limits[1]:.1%})"
