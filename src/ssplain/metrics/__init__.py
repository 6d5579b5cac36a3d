"""Scoring maps: what a map says, checked against the model, the image and the known truth.

Every measure has one record in `MEASURES`; `evaluate` takes them all, image by image, and means,
intervals and paired differences are derived from its `Evaluation`.
"""

from ssplain.metrics.agreement import hog_correlation, spearman, ssim
from ssplain.metrics.components import connected, largest_component
from ssplain.metrics.curves import Curve, Curves, insertion_deletion
from ssplain.metrics.evaluation import Evaluation, evaluate
from ssplain.metrics.intervals import Comparison, Interval, area, balanced_mean, interval, paired
from ssplain.metrics.localisation import Localisation, localise
from ssplain.metrics.measure import Material, Measure
from ssplain.metrics.measures import MEASURES
from ssplain.metrics.order import FINE_POINTS, PAPER_POINTS, Order, rank_pixels, steps
from ssplain.metrics.sanity import Sanity, sanity_check
from ssplain.metrics.similarity import Against, VesselSimilarity, vessel_similarity
from ssplain.metrics.sparsity import gini, kappa, roughness
from ssplain.metrics.stability import max_sensitivity, seed_agreement
from ssplain.metrics.sufficiency import Kept, kept_and_removed

__all__ = [
    "FINE_POINTS",
    "MEASURES",
    "PAPER_POINTS",
    "Against",
    "Comparison",
    "Curve",
    "Curves",
    "Evaluation",
    "Interval",
    "Kept",
    "Localisation",
    "Material",
    "Measure",
    "Order",
    "Sanity",
    "VesselSimilarity",
    "area",
    "balanced_mean",
    "connected",
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
    "paired",
    "rank_pixels",
    "roughness",
    "sanity_check",
    "seed_agreement",
    "spearman",
    "ssim",
    "steps",
    "vessel_similarity",
]
