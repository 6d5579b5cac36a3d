"""Explainers: one call, one result."""

from ssplain.explain.presets import PRESETS, Preset, preset
from ssplain.explain.result import Explanation
from ssplain.explain.ssplain import SSplain

__all__ = ["PRESETS", "Explanation", "Preset", "SSplain", "preset"]
