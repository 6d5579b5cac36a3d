"""Scoring maps: what a map says, checked against the model, the image and the known truth.

Every measure is a function of tensors; `METRICS` says of each what it is about and which way is
better.
"""

from ssplain.metrics.areas import Comparison, Interval, area, balanced_mean, compare, interval
from ssplain.metrics.connected import connected, largest_component
from ssplain.metrics.curves import Curve, Curves, insertion_deletion
from ssplain.metrics.kept import Kept, kept_and_removed
from ssplain.metrics.order import FINE_POINTS, PAPER_POINTS, Order, rank_pixels, steps
from ssplain.metrics.sparsity import gini, kappa, roughness

__all__ = [
    "FINE_POINTS",
    "PAPER_POINTS",
    "Comparison",
    "Curve",
    "Curves",
    "Interval",
    "Kept",
    "Order",
    "area",
    "balanced_mean",
    "compare",
    "connected",
    "gini",
    "insertion_deletion",
    "interval",
    "kappa",
    "kept_and_removed",
    "largest_component",
    "rank_pixels",
    "roughness",
    "steps",
]
