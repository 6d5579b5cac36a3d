"""Vessel trees: tracing, calibre, curvature, and simulated fundus images."""

from ssplain.vessels.curvature import TubularCurvature, curvature, tubular_curvature
from ssplain.vessels.tracing import Branch, VesselTree, trace

__all__ = [
    "Branch",
    "TubularCurvature",
    "VesselTree",
    "curvature",
    "trace",
    "tubular_curvature",
]
