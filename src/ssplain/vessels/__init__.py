"""Vessel trees: tracing, calibre, curvature."""

from ssplain.vessels.curvature import TubularCurvature
from ssplain.vessels.tracing import Branch, VesselTree, curvature, trace

__all__ = ["Branch", "TubularCurvature", "VesselTree", "curvature", "trace"]
