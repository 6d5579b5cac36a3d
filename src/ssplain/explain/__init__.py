"""Explainers: SSplain, its competitors and controls, behind one call and one registry."""

from ssplain.explain.presets import PRESETS, Preset, preset
from ssplain.explain.registry import METHODS, Method, make, method, names
from ssplain.explain.result import Explanation
from ssplain.explain.ssplain import SSplain

__all__ = [
    "METHODS",
    "PRESETS",
    "Explanation",
    "Method",
    "Preset",
    "SSplain",
    "make",
    "method",
    "names",
    "preset",
]
