"""Scoring maps: what a map says, checked against the model."""

from ssplain.metrics.kept import Kept, kept_and_removed

__all__ = ["Kept", "kept_and_removed"]
