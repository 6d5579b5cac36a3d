"""Explainers: SSplain, and the one registry of all explainers."""

from ssplain.explain.compare import Compared, compare
from ssplain.explain.neighbours import captum_method, for_quantus
from ssplain.explain.presets import PRESETS, Preset, preset
from ssplain.explain.registry import METHODS, Method, make, method, names
from ssplain.explain.result import Explanation
from ssplain.explain.segments import Worth, find_segments, worth
from ssplain.explain.ssplain import SSplain
from ssplain.explain.stability import Stability, measure_stability
from ssplain.question.protocol import Explainer, over_channels

__all__ = [
    "METHODS",
    "PRESETS",
    "Compared",
    "Explainer",
    "Explanation",
    "Method",
    "Preset",
    "SSplain",
    "Stability",
    "Worth",
    "captum_method",
    "compare",
    "find_segments",
    "for_quantus",
    "make",
    "measure_stability",
    "method",
    "names",
    "over_channels",
    "preset",
    "worth",
]
