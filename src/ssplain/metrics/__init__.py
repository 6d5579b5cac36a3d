"""Scoring maps: what a map says, checked against the model, the image and the known truth.

Every measure is a function of tensors; `METRICS` says of each what it is about and which way is
better.
"""

from ssplain.metrics.agreement import hog_correlation, spearman, ssim
from ssplain.metrics.areas import Comparison, Interval, area, balanced_mean, compare, interval
from ssplain.metrics.components import connected, largest_component
from ssplain.metrics.curves import Curve, Curves, insertion_deletion
from ssplain.metrics.evaluation import Evaluation, evaluate
from ssplain.metrics.kept import Kept, kept_and_removed
from ssplain.metrics.localisation import Localisation, localise
from ssplain.metrics.order import FINE_POINTS, PAPER_POINTS, Order, rank_pixels, steps
from ssplain.metrics.registry import METRICS, Metric, describe
from ssplain.metrics.sanity import Sanity, sanity_check
from ssplain.metrics.similarity import Against, VesselSimilarity, vessel_similarity
from ssplain.metrics.sparsity import gini, kappa, roughness
from ssplain.metrics.stability import max_sensitivity, seed_agreement

__all__ = [
    "FINE_POINTS",
    "METRICS",
    "PAPER_POINTS",
    "Against",
    "Comparison",
    "Curve",
    "Curves",
    "Evaluation",
    "Interval",
    "Kept",
    "Localisation",
    "Metric",
    "Order",
    "Sanity",
    "VesselSimilarity",
    "area",
    "balanced_mean",
    "compare",
    "connected",
    "describe",
    "evaluate",
    "gini",
    "hog_correlation",
    "insertion_deletion",
    "interval",
    "kappa",
    "kept_and_removed",
    "largest_component",
    "localise",
    "max_sensitivity",
    "rank_pixels",
    "roughness",
    "sanity_check",
    "seed_agreement",
    "spearman",
    "ssim",
    "steps",
    "vessel_similarity",
]
